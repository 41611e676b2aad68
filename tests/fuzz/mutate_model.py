"""Random changes to an ONNX model: most leave it one that is read, and is wrong somewhere."""

import onnx
from onnx import AttributeProto, TensorProto, helper

EXTREMES = (0, 1, -1, 2, 3, -2, 7, 255, 1 << 16, 2**31 - 1, 2**31, -(2**31), 2**40, 2**61 + 1, 2**63 - 1, -(2**63))
NAMES = ("axis", "axes", "keepdims", "perm", "pads", "strides", "dilations", "group", "kernel_shape", "to", "mode", "alpha", "epsilon", "blocksize", "ceil_mode")
WORDS = ("", "SAME_UPPER", "VALID", "nearest", "cubic", "reflect", "NOTSET", "bidirectional", "x" * 300, "\x00")
OPERATORS = sorted({schema.name for schema in onnx.defs.get_all_schemas() if schema.domain == ""})


def all_nodes(graph):
    found = list(graph.node)
    for node in found:  # grows as it goes
        for attribute in node.attribute:
            for inner in [attribute.g, *attribute.graphs]:
                found.extend(inner.node)
    return found


class Mutator:
    def __init__(self, rng):
        self.rng = rng
        self.changes = [self.attribute] * 5 + [self.operand] * 4 + [self.constant] * 5 + [self.node] * 2 + [self.operator] * 2 + [self.declared] * 2 + [
            self.new_attribute, self.version, self.result, self.graph_output]

    def change(self, model):
        """A model's bytes, changed, and what was done."""
        changed = onnx.ModelProto()
        changed.CopyFrom(model)
        done = []
        while len(done) < 1 + (self.rng.random() < 0.3):
            try:
                said = self.pick(self.changes)(changed)
            except (ValueError, TypeError):
                said = None  # onnx cannot read what the first change has left
            if said:
                done.append(said)
        data = bytearray(changed.SerializeToString())
        if self.rng.random() < 0.05:
            place = int(self.rng.integers(len(data)))
            data[place] ^= 1 << int(self.rng.integers(8))
            done.append(f"bit of byte {place}")
        return bytes(data), ", ".join(done)

    def pick(self, options):
        return options[int(self.rng.integers(len(options)))]

    def integer(self, value=0):
        return self.pick(EXTREMES) if self.rng.random() < 0.6 else max(-(2**63), min(2**63 - 1, value + self.pick((-1, 1))))

    def integers(self, values):
        """One element is another, is gone, or there is one more."""
        kind = self.pick("change change change drop add".split()) if values else "add"
        if kind == "add":
            values.insert(int(self.rng.integers(len(values) + 1)), self.integer())
        else:
            place = int(self.rng.integers(len(values)))
            if kind == "drop":
                del values[place]
            else:
                values[place] = self.integer(values[place])
        return kind

    def attribute(self, model):
        nodes = [node for node in all_nodes(model.graph) if node.attribute]
        if not nodes:
            return None
        node = self.pick(nodes)
        attribute = self.pick(node.attribute)
        where = f"{node.op_type}.{attribute.name}"
        if self.rng.random() < 0.1:
            node.attribute.remove(attribute)
            return f"{where} is left out"
        if attribute.type == AttributeProto.INT:
            attribute.i = self.integer(attribute.i)
            return f"{where} = {attribute.i}"
        if attribute.type == AttributeProto.INTS:
            values = list(attribute.ints)
            self.integers(values)
            del attribute.ints[:]
            attribute.ints.extend(values)
            return f"{where} = {values}"
        if attribute.type == AttributeProto.FLOAT:
            attribute.f = self.pick((0.0, -1.0, 1e30, -1e-30, float("inf"), float("nan")))
            return f"{where} = {attribute.f}"
        if attribute.type == AttributeProto.STRING:
            attribute.s = self.pick(WORDS).encode()
            return f"{where} = {attribute.s[:20]}"
        if attribute.type == AttributeProto.TENSOR:
            return f"{where}: {self.tensor(attribute.t)}"
        attribute.type = self.pick((AttributeProto.INT, AttributeProto.FLOAT, AttributeProto.STRING, AttributeProto.INTS))
        return f"{where} is of type {attribute.type}"

    def new_attribute(self, model):
        node = self.pick(all_nodes(model.graph))
        name = self.pick(NAMES)
        if any(attribute.name == name for attribute in node.attribute):
            return None
        value = self.pick((self.integer(), [self.integer() for _ in range(int(self.rng.integers(1, 5)))], 0.5, "nearest"))
        node.attribute.append(helper.make_attribute(name, value))
        return f"{node.op_type}.{name} = {value}"

    def operand(self, model):
        nodes = [node for node in all_nodes(model.graph) if node.input]
        if not nodes:
            return None
        node = self.pick(nodes)
        place = int(self.rng.integers(len(node.input)))
        kind = self.pick("other other other none drop add own".split())
        names = [name for other in model.graph.node for name in [*other.input, *other.output]]
        if kind == "drop":
            del node.input[place]
        elif kind == "add":
            node.input.append(self.pick(names))
        else:
            node.input[place] = {"other": self.pick(names), "none": "", "own": node.output[0] if node.output else ""}[kind]
        return f"operand {place} of {node.op_type}: {kind}"

    def operator(self, model):
        node = self.pick(all_nodes(model.graph))
        old, node.op_type = node.op_type, self.pick(OPERATORS if self.rng.random() < 0.5 else [n.op_type for n in model.graph.node])
        return f"{old} becomes {node.op_type}"

    def node(self, model):
        place, other = (int(self.rng.integers(len(model.graph.node))) for _ in range(2))
        kind = self.pick(("drop", "twice", "swap"))
        op = model.graph.node[place].op_type
        if kind == "drop":
            del model.graph.node[place]
            if not model.graph.node:
                return None
        elif kind == "twice":
            model.graph.node.append(model.graph.node[place])
        else:
            copy = onnx.NodeProto()
            copy.CopyFrom(model.graph.node[place])
            model.graph.node[place].CopyFrom(model.graph.node[other])
            model.graph.node[other].CopyFrom(copy)
        return f"node {place} ({op}): {kind}"

    def constant(self, model):
        if not model.graph.initializer:
            return None
        tensors = list(model.graph.initializer)
        # Those that say how matter more than weights.
        steering = [tensor for tensor in tensors if tensor.data_type == TensorProto.INT64]
        tensor = self.pick(steering if steering and self.rng.random() < 0.7 else tensors)
        return f"constant {tensor.name}: {self.tensor(tensor)}"

    def tensor(self, tensor):
        if tensor.data_type in (TensorProto.INT64, TensorProto.INT32) and self.rng.random() < 0.75:
            values = onnx.numpy_helper.to_array(tensor).reshape(-1).tolist()
            kind = self.integers(values)
            if tensor.data_type == TensorProto.INT32:
                values = [max(-(2**31), min(2**31 - 1, value)) for value in values]
            dims = list(tensor.dims) if kind == "change" else [len(values)]
            tensor.CopyFrom(helper.make_tensor(tensor.name, tensor.data_type, dims, values))
            return f"values {values[:8]}"
        kind = self.pick(("dims", "dtype", "bytes"))
        if kind == "dims":
            dims = list(tensor.dims)
            self.integers(dims)
            del tensor.dims[:]
            tensor.dims.extend(dims)
            return f"dims {dims}"
        if kind == "dtype":
            tensor.data_type = int(self.rng.integers(0, 26))
            return f"dtype {tensor.data_type}"
        tensor.raw_data = tensor.raw_data[: int(self.rng.integers(len(tensor.raw_data) + 1))] if self.rng.random() < 0.7 else tensor.raw_data + b"\xff" * 4
        return f"{len(tensor.raw_data)} bytes"

    def declared(self, model):
        values = [*model.graph.input, *model.graph.output, *model.graph.value_info]
        value = self.pick(values)
        tensor = value.type.tensor_type
        dims = list(tensor.shape.dim)
        if self.rng.random() < 0.3 or not dims:
            tensor.elem_type = int(self.rng.integers(0, 26))
            return f"{value.name} is of dtype {tensor.elem_type}"
        dim = self.pick(dims)
        if self.rng.random() < 0.3:
            dim.dim_param = self.pick(("n", "", "batch", "3", "-1", "n*2"))
        else:
            dim.dim_value = self.integer(dim.dim_value)
        return f"{value.name} has a dimension {dim.dim_param or dim.dim_value}"

    def version(self, model):
        opset = self.pick(model.opset_import)
        opset.version = self.pick((0, 1, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 19, 20, 21, 22, 23, 24, 99, -1, 2**62))
        return f"version {opset.version} of {opset.domain or 'onnx'}"

    def result(self, model):
        node = self.pick([node for node in all_nodes(model.graph) if node.output])
        names = [name for other in model.graph.node for name in other.output]
        node.output[int(self.rng.integers(len(node.output)))] = self.pick([*names, "", "fresh"])
        return f"a result of {node.op_type} has another name"

    def graph_output(self, model):
        names = [name for node in model.graph.node for name in node.output] + [value.name for value in model.graph.input]
        self.pick(model.graph.output).name = self.pick([*names, "", "none"])
        return "a result of the graph is another value"
