/// The wire format of onnx.proto, field numbers as published there. Every field is matched together with its
/// wire type, so that a field of the wrong type is skipped as an unknown one; protozero's exceptions (cut
/// off, overlong numbers) become ModelErrors.
#include <cstring>
#include <protozero/pbf_reader.hpp>

#include "deuteron/frontend/onnx/graph_check.h"
#include "deuteron/frontend/onnx/model.h"
#include "deuteron/support/error.h"
#include "deuteron/support/limits.h"

namespace deuteron::onnx {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

constexpr uint32_t Varint(uint32_t field) { return protozero::tag_and_type(field, pbf_wire_type::varint); }
constexpr uint32_t Bytes(uint32_t field) { return protozero::tag_and_type(field, pbf_wire_type::length_delimited); }
constexpr uint32_t Fixed32(uint32_t field) { return protozero::tag_and_type(field, pbf_wire_type::fixed32); }

std::string_view View(pbf_reader& reader) {
  const protozero::data_view view = reader.get_view();
  return {view.data(), view.size()};
}

pbf_reader Message(std::string_view bytes) { return pbf_reader{bytes.data(), bytes.size()}; }

template <typename Range, typename T>
void Append(const Range& range, std::vector<T>* values) {
  for (const auto value : range) values->push_back(static_cast<T>(value));
}

TensorProto ReadTensor(std::string_view bytes) {
  TensorProto tensor;
  tensor.message = bytes;
  pbf_reader reader = Message(bytes);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Varint(1):
        tensor.dims.push_back(reader.get_int64());
        break;
      case Bytes(1):
        Append(reader.get_packed_int64(), &tensor.dims);
        break;
      case Varint(2):
        tensor.data_type = reader.get_int32();
        break;
      case Bytes(8):
        tensor.name = View(reader);
        break;
      case Bytes(9):
        tensor.has_raw = true;
        tensor.raw = View(reader);
        break;
      case Bytes(13): {
        pbf_reader entry = reader.get_message();
        std::string_view key;
        std::string_view value;
        while (entry.next()) {
          switch (entry.tag_and_type()) {
            case Bytes(1):
              key = View(entry);
              break;
            case Bytes(2):
              value = View(entry);
              break;
            default:
              entry.skip();
          }
        }
        tensor.external.emplace_back(key, value);
        break;
      }
      case Varint(14):
        tensor.is_external = reader.get_int32() == 1;
        break;
      default:
        reader.skip();
    }
  }
  return tensor;
}

DimProto ReadDim(pbf_reader reader) {
  DimProto dim;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Varint(1):
        dim.value = reader.get_int64();
        break;
      case Bytes(2):
        dim.param = View(reader);
        break;
      default:
        reader.skip();
    }
  }
  return dim;
}

void ReadTensorType(pbf_reader reader, ValueInfoProto* info) {
  info->is_tensor = true;
  info->kind = "tensor";
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Varint(1):
        info->elem_type = reader.get_int32();
        break;
      case Bytes(2): {
        info->has_shape = true;
        pbf_reader shape = reader.get_message();
        while (shape.next()) {
          if (shape.tag_and_type() == Bytes(1)) {
            info->dims.push_back(ReadDim(shape.get_message()));
          } else {
            shape.skip();
          }
        }
        break;
      }
      default:
        reader.skip();
    }
  }
}

/// A type; of sequences and optionals, the element that they hold in the end.
void ReadType(pbf_reader type, int depth, ValueInfoProto* info) {
  CheckLimit(&Limits::nesting, depth, "types that hold each other");
  const auto read_element = [&](ValueInfoProto::Holder holder) {
    info->holders.push_back(holder);
    pbf_reader held = type.get_message();
    while (held.next()) {
      if (held.tag_and_type() == Bytes(1)) {
        ReadType(held.get_message(), depth + 1, info);
      } else {
        held.skip();
      }
    }
  };
  while (type.next()) {
    switch (type.tag_and_type()) {
      case Bytes(1):
        ReadTensorType(type.get_message(), info);
        break;
      case Bytes(4):
        read_element(ValueInfoProto::Holder::kSequence);
        break;
      case Bytes(5):
        info->kind = "map";
        type.skip();
        break;
      case Bytes(8):
        info->kind = "sparse tensor";
        type.skip();
        break;
      case Bytes(9):
        read_element(ValueInfoProto::Holder::kOptional);
        break;
      default:
        type.skip();
    }
  }
}

ValueInfoProto ReadValueInfo(pbf_reader reader) {
  ValueInfoProto info;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Bytes(1):
        info.name = View(reader);
        break;
      case Bytes(2):
        ReadType(reader.get_message(), 0, &info);
        break;
      default:
        reader.skip();
    }
  }
  return info;
}

/// Nodes read so far, of all graphs.
struct NodeCount {
  int64_t count = 0;
};

GraphProto ReadGraph(pbf_reader reader, int depth, NodeCount* nodes);

/// Models of IR version 1 lack attribute types.
AttributeType GuessType(const AttributeProto& attribute, bool has_f, bool has_i, bool has_s) {
  if (has_f) return AttributeType::kFloat;
  if (has_i) return AttributeType::kInt;
  if (has_s) return AttributeType::kString;
  if (attribute.t) return AttributeType::kTensor;
  if (attribute.g) return AttributeType::kGraph;
  if (!attribute.floats.empty()) return AttributeType::kFloats;
  if (!attribute.ints.empty()) return AttributeType::kInts;
  if (!attribute.strings.empty()) return AttributeType::kStrings;
  return AttributeType::kUndefined;
}

/// `node`: what has it.
AttributeProto ReadAttribute(pbf_reader reader, int depth, const NodeProto& node, NodeCount* nodes) {
  AttributeProto attribute;
  bool has_f = false;
  bool has_i = false;
  bool has_s = false;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Bytes(1):
        attribute.name = View(reader);
        break;
      case Fixed32(2):
        attribute.f = reader.get_float();
        has_f = true;
        break;
      case Varint(3):
        attribute.i = reader.get_int64();
        has_i = true;
        break;
      case Bytes(4):
        attribute.s = View(reader);
        has_s = true;
        break;
      case Bytes(5):
        attribute.t = std::make_shared<TensorProto>(ReadTensor(View(reader)));
        break;
      case Bytes(6):
        if (depth >= CurrentLimits().nesting)
          CheckLimit(&Limits::nesting, depth + 1, NodeLabel(node) + " holds a graph");
        attribute.g = std::make_shared<GraphProto>(ReadGraph(reader.get_message(), depth + 1, nodes));
        break;
      case Fixed32(7):
        attribute.floats.push_back(reader.get_float());
        break;
      case Bytes(7):
        Append(reader.get_packed_float(), &attribute.floats);
        break;
      case Varint(8):
        attribute.ints.push_back(reader.get_int64());
        break;
      case Bytes(8):
        Append(reader.get_packed_int64(), &attribute.ints);
        break;
      case Bytes(9):
        attribute.strings.push_back(View(reader));
        break;
      case Varint(20):
        attribute.type = static_cast<AttributeType>(reader.get_int32());
        break;
      case Bytes(21):
        attribute.ref_attr_name = View(reader);
        break;
      default:
        reader.skip();
    }
  }
  const AttributeType held = GuessType(attribute, has_f, has_i, has_s);
  if (attribute.type == AttributeType::kUndefined) attribute.type = held;
  if (held != AttributeType::kUndefined && held != attribute.type) {
    DEUTERON_THROW(ModelError) << NodeLabel(node) << ": attribute '" << attribute.name
                               << "' holds a value of another type than it says";
  }
  return attribute;
}

NodeProto ReadNode(pbf_reader reader, int depth, NodeCount* nodes) {
  NodeProto node;
  CheckLimit(&Limits::nodes, static_cast<double>(++nodes->count), "the graphs of the model");
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Bytes(1):
        node.inputs.push_back(View(reader));
        break;
      case Bytes(2):
        node.outputs.push_back(View(reader));
        break;
      case Bytes(3):
        node.name = View(reader);
        break;
      case Bytes(4):
        node.op_type = View(reader);
        break;
      case Bytes(5):
        node.attributes.push_back(ReadAttribute(reader.get_message(), depth, node, nodes));
        break;
      case Bytes(7):
        node.domain = View(reader);
        break;
      default:
        reader.skip();
    }
  }
  return node;
}

/// A sparse initialiser is named by its values.
std::string_view SparseName(pbf_reader reader) {
  std::string_view name;
  while (reader.next()) {
    if (reader.tag_and_type() == Bytes(1)) {
      name = ReadTensor(View(reader)).name;
    } else {
      reader.skip();
    }
  }
  return name;
}

GraphProto ReadGraph(pbf_reader reader, int depth, NodeCount* nodes) {
  GraphProto graph;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Bytes(1):
        graph.nodes.push_back(ReadNode(reader.get_message(), depth, nodes));
        break;
      case Bytes(2):
        graph.name = View(reader);
        break;
      case Bytes(5):
        graph.initializers.push_back(ReadTensor(View(reader)));
        break;
      case Bytes(11):
        graph.inputs.push_back(ReadValueInfo(reader.get_message()));
        break;
      case Bytes(12):
        graph.outputs.push_back(ReadValueInfo(reader.get_message()));
        break;
      case Bytes(13):
        graph.value_infos.push_back(ReadValueInfo(reader.get_message()));
        break;
      case Bytes(15):
        graph.sparse_initializers.push_back(SparseName(reader.get_message()));
        break;
      default:
        reader.skip();
    }
  }
  return graph;
}

OpsetImport ReadOpset(pbf_reader reader) {
  OpsetImport opset;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Bytes(1):
        opset.domain = View(reader);
        break;
      case Varint(2):
        opset.version = reader.get_int64();
        break;
      default:
        reader.skip();
    }
  }
  return opset;
}

FunctionProto ReadFunction(pbf_reader reader, NodeCount* nodes) {
  FunctionProto function;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Bytes(1):
        function.name = View(reader);
        break;
      case Bytes(4):
        function.inputs.push_back(View(reader));
        break;
      case Bytes(5):
        function.outputs.push_back(View(reader));
        break;
      case Bytes(7):
        function.nodes.push_back(ReadNode(reader.get_message(), 0, nodes));
        break;
      case Bytes(9):
        function.opsets.push_back(ReadOpset(reader.get_message()));
        break;
      case Bytes(10):
        function.domain = View(reader);
        break;
      case Bytes(11):
        function.attribute_defaults.push_back(ReadAttribute(reader.get_message(), 0, NodeProto(), nodes));
        break;
      case Bytes(13):
        function.overload = View(reader);
        break;
      default:
        reader.skip();
    }
  }
  return function;
}

void ReadFields(pbf_reader reader, ModelProto* model, bool* has_graph) {
  NodeCount nodes;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Varint(1):
        model->ir_version = reader.get_int64();
        break;
      case Bytes(2):
        model->producer_name = View(reader);
        break;
      case Bytes(3):
        model->producer_version = View(reader);
        break;
      case Bytes(7):
        model->graph = ReadGraph(reader.get_message(), 0, &nodes);
        *has_graph = true;
        break;
      case Bytes(8):
        model->opsets.push_back(ReadOpset(reader.get_message()));
        break;
      case Bytes(25):
        model->functions.push_back(ReadFunction(reader.get_message(), &nodes));
        break;
      default:
        reader.skip();
    }
  }
}

}  // namespace

std::shared_ptr<const ModelProto> ReadModel(std::shared_ptr<const MappedFile> file) {
  auto model = std::make_shared<ModelProto>();
  model->file = std::move(file);
  const std::string& path = model->file->path();
  const std::string_view bytes = model->file->bytes();
  if (bytes.empty()) DEUTERON_THROW(ModelError) << "'" << path << "' is not an ONNX model: the file is empty";
  CheckLimit(&Limits::model_bytes, static_cast<double>(bytes.size()), "'" + path + "'");
  bool has_graph = false;
  try {
    ReadFields(Message(bytes), model.get(), &has_graph);
  } catch (const protozero::exception& error) {
    const bool is_short = dynamic_cast<const protozero::end_of_buffer_exception*>(&error) != nullptr;
    DEUTERON_THROW(ModelError) << "'" << path << "' is not an ONNX model, or it is truncated or damaged: "
                               << (is_short ? "it ends within a field" : "a field of it is none of ONNX's")
                               << "; copy or export it again";
  }
  if (!has_graph || model->ir_version <= 0) {
    DEUTERON_THROW(ModelError) << "'" << path << "' is not an ONNX model, or it is truncated: it holds no "
                               << (has_graph ? "ir_version" : "graph");
  }
  if (model->opsets.empty() && model->ir_version >= 3) {
    DEUTERON_THROW(ModelError) << "'" << path << "' is not an ONNX model, or it is truncated: it imports no "
                               << "operator set (opset_import)";
  }
  return model;
}

}  // namespace deuteron::onnx
