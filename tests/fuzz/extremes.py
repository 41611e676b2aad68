"""Extreme integers in every integer attribute and operand of every operator that the onnx package has cases of.

    python tests/fuzz/extremes.py [PATTERN] [--floats | --lengths] [--ours] [--versions newest|earlier|all] [--cases N] [--seconds S] [--binary PATH] [--keep DIR]

Of each attribute, and each operand of integers (as a constant, then as an input of the run), N cases (2) are run with each of the integers of
mutate_model.py in the place of its first, of its last and of every element, by the newest version of the operator and by each earlier one (versions.py) that
has another signature. What is found is judged and kept as mutations.py's; of what is computed by us alone the first of each kind is named. With --floats it is
attributes and short operands of floats, of FLOATS: what others make of infinities and the like is not asked. With --lengths each axis of each input of the
run, and all axes of one length at once, are of the length 0, 1, one less and one more, known to the model or told by the run, and each input is of one axis
less and one more; with operands of integers that the run has, and with the same as constants.
With --ours it is the cases of tests/onnx/op_cases.py that are changed, contributed operators among them.
"""

import argparse
import collections
import itertools
import pathlib
import re
import sys
import tempfile
import time

import numpy as np
import onnx
from attack import BINARY, ROOT, Attack
from mutate_model import EXTREMES
from onnx import AttributeProto, numpy_helper
from versions import earlier

sys.path.insert(0, str(ROOT / "tests" / "onnx"))
import node_cases  # noqa: E402
import op_cases  # noqa: E402


FLOATS = (0.0, -1.0, 0.5, 1e-38, 1e9, 1e30, -1e30, float("inf"), float("nan"))
# Of an operand of floats that says how, not what.
SHORT = 8
# In the place of every element.
ALL = "all"


def read(folder):
    """A case's model and inputs, or None where one is no tensor of numbers."""
    model = onnx.load(folder / "model.onnx")
    initialised = {tensor.name for tensor in model.graph.initializer}
    infos = [info for info in model.graph.input if info.name not in initialised]
    if any(info.type.WhichOneof("value") != "tensor_type" for info in infos):
        return None
    inputs = [node_cases.load(folder / "test_data_set_0" / f"input_{index}.pb", "tensor_type") for index in range(len(infos))]
    return (model, inputs) if all(array.dtype.kind in "fiub" for array in inputs) else None


def packaged(pattern):
    """Names of the onnx package's cases, with model and inputs."""
    for folder in sorted(path for path in node_cases.CASES.iterdir() if re.search(pattern, path.name)):
        # Operators written out by others have been tried by themselves.
        case = None if folder.name.endswith("_expanded") or "_expanded_" in folder.name else read(folder)
        if case is not None:
            yield folder.name, case


def ours(pattern):
    """The same of ours."""
    for index, one in enumerate(op_cases.all_cases()):
        name = f"{one.op.replace(' ', '_')}_{index}"
        if not re.search(pattern, name):
            continue
        model, feed = op_cases.build(one)
        inputs = [np.asarray(array) for array in feed.values()]
        if model.graph.node and all(array.dtype.kind in "fiub" for array in inputs):
            yield name, (model, inputs)


def with_attribute(model, node_index, name, place, value):
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    attribute = next(a for a in changed.graph.node[node_index].attribute if a.name == name)
    if attribute.type == AttributeProto.INT:
        attribute.i = value
    elif attribute.type == AttributeProto.FLOAT:
        attribute.f = value
    else:
        values = attribute.floats if attribute.type == AttributeProto.FLOATS else attribute.ints
        for index in range(len(values)) if place == ALL else [place]:
            values[index] = value
    return changed


def with_element(array, place, value):
    now = array.copy()
    now.reshape(-1)[slice(None) if place == ALL else place] = value
    return now


def as_constant(model, index, array):
    """The input is an initializer."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    info = changed.graph.input[index]
    changed.graph.initializer.append(numpy_helper.from_array(array, info.name))
    changed.graph.input.remove(info)
    # Before, an initializer had to be an input as well.
    changed.ir_version = max(changed.ir_version, 4)
    return changed


def with_constants(model, inputs):
    """Short operands of integers, which say how, are known to the model; None where there are none. At least one input stays."""
    kept = [array for array in inputs if array.dtype.kind not in "iu" or array.size > SHORT]
    if not kept or len(kept) == len(inputs):
        return None
    for index in reversed(range(len(inputs))):
        if inputs[index].dtype.kind in "iu" and inputs[index].size <= SHORT:
            model = as_constant(model, index, inputs[index])
    return model, kept


def attribute_slots(model, inputs, lengths, values):
    """Attributes that can be changed: `lengths` gives how many numbers of the kind an attribute has, by its type."""
    for node_index, node in enumerate(model.graph.node):
        for attribute in node.attribute:
            count = lengths(attribute).get(attribute.type, 0)
            if count:
                def change(place, value, node_index=node_index, name=attribute.name):
                    return with_attribute(model, node_index, name, place, value), inputs

                yield (node.op_type, attribute.name), count, values, change


def float_slots(model, inputs):
    """What can be changed: a key that cases of one operator share, and from place and value to model and inputs."""
    yield from attribute_slots(
        model, inputs, lambda attribute: {AttributeProto.FLOAT: 1, AttributeProto.FLOATS: len(attribute.floats)}, FLOATS
    )
    names = [info.name for info in model.graph.input]
    for node in model.graph.node:
        for index, name in enumerate(node.input):
            array = inputs[names.index(name)] if name in names and names.index(name) < len(inputs) else np.zeros(0)
            if array.dtype.kind == "f" and 0 < array.size <= SHORT:
                def change(place, value, which=names.index(name), array=array):
                    return as_constant(model, which, with_element(array, place, value)), [a for i, a in enumerate(inputs) if i != which]

                yield (node.op_type, f"operand {index}"), array.size, FLOATS, change


def with_length(model, inputs, axes, length, open_sizes):
    """Inputs, and what the model says of them, whose `axes`, (input, axis), are of another length: elements are left out, or repeated. Of `open_sizes`,
    each dimension is a symbol of its own."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    now = list(inputs)
    for index, axis in axes:
        now[index] = np.take(now[index], np.arange(length) % now[index].shape[axis], axis=axis)
    for index, array in enumerate(now):
        for axis, dimension in enumerate(list(changed.graph.input[index].type.tensor_type.shape.dim)[:array.ndim]):
            if open_sizes:
                dimension.dim_param = f"n{index}_{axis}"
            else:
                dimension.dim_value = array.shape[axis]
    # What results become is not known before.
    for info in changed.graph.output:
        for dimension in info.type.tensor_type.shape.dim:
            dimension.Clear()
    del changed.graph.value_info[:]
    return changed, now


def with_rank(model, inputs, index, more):
    """The same with an axis more in front of one input, or one less."""
    array = inputs[index][None] if more > 0 else inputs[index][0]
    changed, now = with_length(model, [*inputs[:index], array, *inputs[index + 1:]], [], 0, False)
    dimensions = changed.graph.input[index].type.tensor_type.shape
    dimensions.ClearField("dim")
    for extent in array.shape:
        dimensions.dim.add(dim_value=extent)
    for info in changed.graph.output:
        if info.type.HasField("tensor_type"):
            info.type.tensor_type.ClearField("shape")
    return changed, now


def length_slots(model, inputs):
    """The same of lengths."""
    op = model.graph.node[0].op_type
    axes = [(index, axis) for index, array in enumerate(inputs) for axis in range(array.ndim) if array.size > 0]
    groups = {f"axis {axis} of operand {index}": [(index, axis)] for index, axis in axes}
    for length in sorted({inputs[index].shape[axis] for index, axis in axes}):
        groups[f"axes of {length}"] = [(index, axis) for index, axis in axes if inputs[index].shape[axis] == length]
    for (name, group), open_sizes in itertools.product(groups.items(), (False, True)):
        def change(place, value, group=group, open_sizes=open_sizes):
            return with_length(model, inputs, group, value, open_sizes)

        length = inputs[group[0][0]].shape[group[0][1]]
        yield (op, f"{name}, {'of the run' if open_sizes else 'constant'}"), 1, sorted({0, 1, length - 1, length + 1} - {length}), change
    for index, array in enumerate(inputs):
        def change_rank(place, value, index=index):
            return with_rank(model, inputs, index, value)

        yield (op, f"rank of operand {index}"), 1, [1, -1] if array.size > 0 and array.ndim > 0 else [1], change_rank


def slots(model, inputs):
    """The same of integers."""
    yield from attribute_slots(
        model, inputs, lambda attribute: {AttributeProto.INT: 1, AttributeProto.INTS: len(attribute.ints)}, EXTREMES
    )
    names = [info.name for info in model.graph.input]
    for node in model.graph.node:
        for index, name in enumerate(node.input):
            if name not in names or names.index(name) >= len(inputs):
                continue
            which = names.index(name)
            array = inputs[which]
            if array.dtype.kind not in "iu" or array.size == 0:
                continue
            bounds = np.iinfo(array.dtype)
            values = sorted({min(max(value, bounds.min), bounds.max) for value in EXTREMES})
            for constant in (True, False):
                def change(place, value, which=which, array=array, constant=constant):
                    now = with_element(array, place, value)
                    if constant:
                        return as_constant(model, which, now), [a for i, a in enumerate(inputs) if i != which]
                    return model, [now if i == which else a for i, a in enumerate(inputs)]

                yield (node.op_type, f"operand {index}, {'constant' if constant else 'of the run'}"), array.size, values, change


def places(size):
    return {1: [0], 2: [0, 1, ALL]}.get(size, [0, size - 1, ALL])


def forms(case, which, constants=False):
    """What a case's operator is called where it is counted, with model and inputs: by the newest version, and by earlier ones."""
    if which != "earlier":
        yield "", *case
        known = with_constants(*case) if constants else None
        if known is not None:
            yield ", integers constant", *known
    if which != "newest":
        for opset, model, inputs in earlier(*case):
            yield f", version {opset}", model, inputs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pattern", nargs="?", default="", help="of the names of cases")
    parser.add_argument("--floats", action="store_true", help="instead of integers; signals, hangs and internal errors alone are faults")
    parser.add_argument("--lengths", action="store_true", help="instead of integers")
    parser.add_argument("--ours", action="store_true", help="changes the cases of tests/onnx/op_cases.py")
    parser.add_argument("--versions", choices=("newest", "earlier", "all"), default="all", help="of operators")
    parser.add_argument("--cases", type=int, default=2, help="for each attribute and operand of an operator")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="after which no further case is begun")
    parser.add_argument("--checked", action="store_true", help="compares every access with its buffer, and no result with others'")
    parser.add_argument("--binary", type=pathlib.Path, default=BINARY)
    parser.add_argument("--keep", type=pathlib.Path, default=ROOT / "build" / "fuzz" / "findings", help="folder for what is found")
    arguments = parser.parse_args()
    seen = collections.Counter()
    find = float_slots if arguments.floats else length_slots if arguments.lengths else slots
    with tempfile.TemporaryDirectory(dir="/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None) as scratch:
        attack = Attack("extremes", arguments.binary, scratch, arguments.keep, compares=not (arguments.floats or arguments.checked), checked=arguments.checked)
        end = time.monotonic() + arguments.seconds
        for name, case in (ours if arguments.ours else packaged)(arguments.pattern):
            if time.monotonic() > end:
                print(f"{name} and those after it have not been tried")
                break
            for version, *form in forms(case, arguments.versions, constants=arguments.lengths):
                found = [slot for slot in find(*form) if seen[(*slot[0], version)] < arguments.cases]
                # An earlier version may not take the case as it is.
                if not found or version and attack.judge(form[0].SerializeToString(), form[1]).kind not in ("right", "computed", "alone"):
                    continue
                for key, size, values, change in found:
                    seen[(*key, version)] += 1
                    for place, value in itertools.product(places(size), values):
                        model, inputs = change(place, value)
                        label = f"{name.removeprefix('test_')}-{key[1]}-{place}-{value}{version}".replace(" ", "_")
                        what = f"{name}{version}: {key[0]}, {key[1]}, {'every element' if place == ALL else f'element {place}'} is {value}"
                        attack.count(label, what, model.SerializeToString(), inputs, ", ".join(key) + version)
        attack.close()
        print(f"{len({key[:2] for key in seen})} attributes and operands of {len({key[0] for key in seen})} operators")
        faults = attack.report()
    sys.exit(5 if faults else 0)


if __name__ == "__main__":
    main()
