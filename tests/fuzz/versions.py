"""A case of one operator by the earlier versions of that operator: an operand that was an attribute becomes one again."""

import onnx
from onnx import helper

DOMAINS = {"": "", "ai.onnx": "", "ai.onnx.ml": "ai.onnx.ml"}
# Attributes that are called otherwise than the operands which they became.
NAMES = {"constant_value": ("value",), "pads": ("pads", "paddings"), "data": (), "input": (), "X": (), "x": ()}


def attribute_of(schema, name):
    """The attribute of a schema that an operand was, or None."""
    known = {attribute.lower(): attribute for attribute in schema.attributes}
    return next((known[said.lower()] for said in NAMES.get(name, (name,)) if said.lower() in known), None)


def value_for(kind, array):
    """An operand's value as an attribute of a type, or None."""
    types = onnx.defs.OpSchema.AttrType
    flat = array.reshape(-1).tolist()
    if kind in (types.INTS, types.FLOATS):
        return [(int if kind == types.INTS else float)(element) for element in flat]
    if kind in (types.INT, types.FLOAT) and len(flat) == 1:
        return (int if kind == types.INT else float)(flat[0])
    return None


def signature(schema):
    """What tells versions apart that differ by more than the types which they take."""
    attributes = sorted((name, str(attribute.type), attribute.required, str(attribute.default_value)) for name, attribute in schema.attributes.items())
    return attributes, [(one.name, str(one.option)) for one in schema.inputs], len(schema.outputs), " ".join(schema.doc.split())


def by_schema(model, inputs, schema, new, opset):
    """The case by operator set `opset`, whose version of the operator is `schema`; the model names version `new`. None where it cannot be."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    node = changed.graph.node[0]
    for entry in changed.opset_import:
        if DOMAINS.get(entry.domain) == schema.domain:
            entry.version = opset
    for attribute in [attribute for attribute in node.attribute if attribute.name not in schema.attributes]:
        node.attribute.remove(attribute)
    names = [info.name for info in changed.graph.input]
    kept = dict(zip(names, inputs))
    for index in reversed(range(len(node.input))):
        formal = new.inputs[min(index, len(new.inputs) - 1)].name
        was = attribute_of(schema, formal)
        is_operand = index < schema.max_input and (was is None or formal in [one.name for one in schema.inputs])
        name = node.input[index]
        if is_operand:
            continue
        value = value_for(schema.attributes[was].type, kept[name]) if was and name in kept else None
        if value is not None and value != []:
            node.attribute.append(helper.make_attribute(was, value))
        del node.input[index]
        if name in kept and name not in node.input:
            del kept[name]
            changed.graph.input.remove(next(info for info in changed.graph.input if info.name == name))
    if len(node.output) > schema.max_output:
        del node.output[schema.max_output:]
        del changed.graph.output[schema.max_output:]
    if any(name not in schema.attributes for name in (attribute.name for attribute in node.attribute)):
        return None
    try:
        onnx.checker.check_model(changed)
    except Exception:  # noqa: BLE001: what this version does not have
        return None
    return changed, list(kept.values())


def earlier(model, inputs):
    """(operator set, model, inputs) for each earlier version of the operator, if the case has one node; the last operator set that has that version."""
    if len(model.graph.node) != 1 or DOMAINS.get(model.graph.node[0].domain) is None:
        return
    node = model.graph.node[0]
    domain = DOMAINS[node.domain]
    now = max((entry.version for entry in model.opset_import if DOMAINS.get(entry.domain) == domain), default=0)
    schemas = sorted((schema for schema in onnx.defs.get_all_schemas_with_history() if schema.name == node.op_type and schema.domain == domain),
                     key=lambda schema: schema.since_version)
    held = [schema for schema in schemas if schema.since_version <= now]
    for schema, after in zip(held[:-1], held[1:]):
        found = None if schema.deprecated or signature(schema) == signature(after) else by_schema(model, inputs, schema, held[-1], after.since_version - 1)
        if found:
            yield after.since_version - 1, *found
