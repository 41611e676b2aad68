"""The fewest nodes and the smallest extents of a network that still fail."""

import copy

import numpy as np
import onnx
from graph import element_type, session
from onnx import helper, numpy_helper


class Shrinker:
    """`fails(model, inputs, expected, bounds)` says whether a network fails as the first did."""

    def __init__(self, network, fails):
        self.model, self.inputs, self.errors, self.fails = copy.deepcopy(network.model), network.inputs, network.errors, fails
        self.tries = 0

    def attempt(self, model, inputs):
        """Takes the smaller network if it fails as well."""
        self.tries += 1
        if self.tries > 250:
            return False
        try:
            model = cleaned(model)
            names = [value.name for value in model.graph.input]
            ran = session(model)
            inputs = [{name: world[name] for name in names} for world in inputs]
            expected = [ran.run(None, world) for world in inputs]
        except Exception:  # noqa: BLE001: no network any more
            return False
        bounds = [[self.errors.get(value.name, [0.0])[min(w, len(self.errors.get(value.name, [0.0])) - 1)] for value in model.graph.output] for w in range(len(inputs))]
        if not self.fails(model, inputs, [[np.asarray(a) for a in outputs] for outputs in expected], bounds):
            return False
        self.model, self.inputs, self.expected, self.bounds = model, inputs, expected, bounds
        return True

    def run(self):
        if not self.attempt(self.model, self.inputs):
            return None
        self.fewer_outputs()
        for world in range(len(self.inputs)):
            if len(self.inputs) > 1 and self.attempt(self.model, [self.inputs[min(world, len(self.inputs) - 1)]]):
                break
        self.fewer_nodes()
        self.fixed_extents()
        self.smaller_extents()
        self.fewer_nodes()
        self.fewer_attributes()
        return self

    def fewer_outputs(self):
        """One, and of the values the first that is wrong."""
        for node in list(self.model.graph.node):
            for name in node.output:
                if name:
                    model = copy.deepcopy(self.model)
                    del model.graph.output[:]
                    model.graph.output.append(onnx.ValueInfoProto(name=name))
                    if self.attempt(model, self.inputs):
                        return
        for value in list(self.model.graph.output):
            if len(self.model.graph.output) > 1:
                model = copy.deepcopy(self.model)
                del model.graph.output[:]
                model.graph.output.extend(o for o in self.model.graph.output if o.name != value.name)
                self.attempt(model, self.inputs)

    def fewer_nodes(self):
        """Values become inputs, so that what computes them goes."""
        for name in [name for node in reversed(self.model.graph.node) for name in node.output if name]:
            if name in {value.name for value in self.model.graph.output} or name not in {n for node in self.model.graph.node for n in node.output}:
                continue
            model = copy.deepcopy(self.model)
            probe = copy.deepcopy(self.model)
            probe.graph.output.append(onnx.ValueInfoProto(name=name))
            try:
                arrays = [np.asarray(session(probe).run([name], world)[0]) for world in self.inputs]
            except Exception:  # noqa: BLE001
                continue
            for node in model.graph.node:
                for index, output in enumerate(node.output):
                    if output == name:
                        node.output[index] = f"{name}_unused" if any(o and o != name for o in node.output) else ""
            kept = [node for node in model.graph.node if any(node.output)]
            del model.graph.node[:]
            model.graph.node.extend(kept)
            dims = [array.shape[axis] if len({a.shape[axis] for a in arrays}) == 1 else f"{name}_{axis}" for array in arrays[:1] for axis in range(array.ndim)]
            model.graph.input.append(helper.make_tensor_value_info(name, element_type(arrays[0].dtype), dims))
            self.attempt(model, [{**world, name: array} for world, array in zip(self.inputs, arrays)])

    def fixed_extents(self):
        model = copy.deepcopy(self.model)
        for value in model.graph.input:
            for dim, extent in zip(value.type.tensor_type.shape.dim, self.inputs[0][value.name].shape):
                dim.dim_value = extent
        if len(self.inputs) == 1:
            self.attempt(model, self.inputs)

    def smaller_extents(self):
        extents = sorted({e for world in self.inputs for a in world.values() for e in np.shape(a)} |
                         {e for c in self.model.graph.initializer for e in c.dims}, reverse=True)
        for extent in extents:
            for less in dict.fromkeys((1, 2, 3, extent // 4, extent // 2, extent - 1)):
                if 0 < less < extent and self.attempt(*self.resized(extent, less)):
                    break

    def resized(self, extent, less):
        model = copy.deepcopy(self.model)
        cut = lambda a: a[tuple(slice(0, less) if e == extent else slice(None) for e in a.shape)].copy()  # noqa: E731
        for value in model.graph.input:
            for dim in value.type.tensor_type.shape.dim:
                if dim.dim_value == extent:
                    dim.dim_value = less
        for constant in model.graph.initializer:
            array = numpy_helper.to_array(constant)
            array = np.where(array == extent, less, array).astype(array.dtype) if array.dtype == np.int64 and array.size < 8 else array
            constant.CopyFrom(numpy_helper.from_array(np.asarray(cut(array)), constant.name))
        return model, [{name: cut(np.asarray(a)) for name, a in world.items()} for world in self.inputs]

    def fewer_attributes(self):
        for at, node in enumerate(self.model.graph.node):
            for attribute in list(node.attribute):
                model = copy.deepcopy(self.model)
                of = model.graph.node[at].attribute
                kept = [a for a in of if a.name != attribute.name]
                del of[:]
                of.extend(kept)
                self.attempt(model, self.inputs)


def names_used(graph):
    """Names that nodes read, those of subgraphs included."""
    used = set()
    for node in graph.node:
        used |= set(node.input)
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                used |= names_used(attribute.g) | {value.name for value in attribute.g.output}
    return used


def cleaned(model):
    """Without nodes, constants and inputs that nothing needs."""
    model = copy.deepcopy(model)
    graph = model.graph
    while True:
        needed = names_used(graph) | {value.name for value in graph.output}
        kept = [node for node in graph.node if needed & set(node.output)]
        if len(kept) == len(graph.node):
            break
        del graph.node[:]
        graph.node.extend(kept)
    for field in (graph.initializer, graph.input):
        kept = [value for value in field if value.name in needed]
        del field[:]
        field.extend(kept)
    return model
