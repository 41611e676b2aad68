"""What ONNX says of the operands, results and attributes of its own operators: the rows of signatures.def.

    python tests/onnx/signatures.py [--write]

Without --write, whether the file is what the onnx package says of the operator sets that are imported; the exit status is 5 where it is not.
"""

import argparse
import collections
import pathlib
import sys

import onnx

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILE = ROOT / "src" / "deuteron" / "frontend" / "onnx" / "signatures.def"
FIRST_OPSET, LAST_OPSET = 7, 25
"""The first whose dtypes are asked for: before it, files are laxer than its text."""
MANY = 2**31 - 1
Schema = onnx.defs.OpSchema
HEAD = """// Operands, results and attributes of ONNX's own operators: rows of one stand in ascending order of the operator set from which they hold,
// DEUTERON_SIGNATURE(name, since, required, most operands, most results, operands, results, attributes); -1: as many as one likes.
//
// Required: r an operand that is, o one that may be left out, and behind the colon so for results. Operands, two characters each, of all operator sets from 7 on: those of one
// letter are of one dtype (-: of any), and i is one of integers, l of int64, n of int32 or int64, f of floats, b of booleans, r of any numbers (*: in some version there are
// others); the last stands for all further ones. Results: the operand (0 to 9) whose dtype each has, b: it is of booleans, l: of int64, ?: that depends on more.
// Attributes with a ! have no default (that operands may be written over, files do not say).
//
// Written by tests/onnx/signatures.py.

"""


def kind(schema, operand):
    """Of the dtypes that an operand may have; "" where it may be no tensor."""
    types = next((constraint.allowed_type_strs for constraint in schema.type_constraints if constraint.type_param_str == operand.type_str), [operand.type_str])
    if not all(t.startswith("tensor(") for t in types):
        return ""
    names = {t[len("tensor(") : -1] for t in types}
    for letter, allowed in (("b", {"bool"}), ("l", {"int64"}), ("n", {"int32", "int64"}), ("i", {n for n in names if "int" in n}), ("f", {n for n in names if "float" in n or n == "double"})):
        if names <= allowed:
            return letter
    return "*" if names & {"bool", "string"} else "r"


def operands(schemas):
    """Two characters for each; no more than all versions that have them agree on."""
    count = max(len(schema.inputs) for schema in schemas)
    having = [[schema for schema in schemas if index < len(schema.inputs)] for index in range(count)]
    kinds = []
    for index, some in enumerate(having):
        found = {kind(schema, schema.inputs[index]) for schema in some}
        kinds.append(found.pop() if len(found) == 1 and "" not in found else "r" if found <= set("lnifr") else "*")
    letters = ["-"] * count
    for index in range(count):
        same = [other for other in range(count) if all(schema.inputs[other].type_str == schema.inputs[index].type_str for schema in having[max(index, other)])]
        variadic = all(len(schema.inputs) > index and schema.inputs[index].option == Schema.FormalParameterOption.Variadic and schema.inputs[index].is_homogeneous
                       for schema in having[index])
        if letters[index] == "-" and (len(same) > 1 or variadic) and all("(" not in s.inputs[index].type_str for s in having[index]):
            for other in same:
                letters[other] = chr(ord("a") + index)
    return "".join(letter + kind for letter, kind in zip(letters, kinds))


def results(schemas):
    """A character for each, as far as all versions that have it agree."""
    text = ""
    for index in range(max(len(schema.outputs) for schema in schemas)):
        having = [schema for schema in schemas if index < len(schema.outputs)]
        found = set()
        for schema in having:
            dtype = schema.outputs[index].type_str
            same = [i for i, operand in enumerate(schema.inputs[:10]) if operand.type_str == dtype and operand.option == Schema.FormalParameterOption.Single]
            fixed = kind(schema, schema.outputs[index])
            found.add(str(same[0]) if same and fixed else fixed if fixed in ("b", "l") else "?")
        text += found.pop() if len(found) == 1 else "?"
    return text


def rows():
    versions = collections.defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= LAST_OPSET:
            versions[schema.name].append(schema)
    for name, schemas in sorted(versions.items()):
        first = max((schema.since_version for schema in schemas if schema.since_version <= FIRST_OPSET), default=0)
        current = [schema for schema in schemas if schema.since_version >= first]
        kinds, dtypes = operands(current), results(current)
        last = ""
        for schema in sorted(schemas, key=lambda schema: schema.since_version):
            required = "".join("r" if operand.option == Schema.FormalParameterOption.Single else "o" for operand in schema.inputs)
            required += ":" + "".join("r" if result.option == Schema.FormalParameterOption.Single else "o" for result in schema.outputs)
            inputs, outputs = (-1 if number == MANY else number for number in (schema.max_input, schema.max_output))
            attributes = " ".join(name + "!" * (attribute.required and name != "consumed_inputs") for name, attribute in sorted(schema.attributes.items()))
            row = f'"{required}", {inputs}, {outputs}, "{kinds}", "{dtypes}", "{attributes}")\n'
            if row != last:
                yield f"DEUTERON_SIGNATURE({name}, {schema.since_version}, {row}"
            last = row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    text = HEAD + "".join(rows())
    if parser.parse_args().write:
        FILE.write_text(text)
    elif FILE.read_text() != text:
        print(f"{FILE} is not what the onnx package {onnx.__version__} says: tests/onnx/signatures.py --write")
        sys.exit(5)


if __name__ == "__main__":
    main()
