/// \file
/// An ONNX model as its file states it: the messages of onnx.proto, as far as import needs them. Nothing is
/// checked beyond the wire format. Strings and tensor data are views into the mapped file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "deuteron/support/mapped_file.h"

namespace deuteron::onnx {

/// Element types of TensorProto.
enum class ElementType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUInt8 = 2,
  kInt8 = 3,
  kUInt16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBFloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUInt4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUInt2 = 25,
  kInt2 = 26,
};

struct TensorProto {
  std::string_view name;
  std::vector<int64_t> dims;
  int32_t data_type = 0;
  bool has_raw = false;
  std::string_view raw;
  bool is_external = false;
  /// location, offset, length, checksum
  std::vector<std::pair<std::string_view, std::string_view>> external;
  /// The whole message, from which typed data is decoded when needed.
  std::string_view message;
};

struct GraphProto;

/// Values of AttributeProto.type.
enum class AttributeType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
  kSparseTensors = 12,
  kTypeProto = 13,
  kTypeProtos = 14,
};

struct AttributeProto {
  std::string_view name;
  /// In a function: the attribute of the caller whose value this one takes.
  std::string_view ref_attr_name;
  AttributeType type = AttributeType::kUndefined;
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  std::shared_ptr<TensorProto> t;
  std::shared_ptr<GraphProto> g;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
};

struct NodeProto {
  std::string_view name;
  std::string_view op_type;
  std::string_view domain;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<AttributeProto> attributes;
};

/// A dimension: a number, a name, or neither.
struct DimProto {
  std::optional<int64_t> value;
  std::string_view param;
};

struct ValueInfoProto {
  enum class Holder : uint8_t { kSequence, kOptional };
  std::string_view name;
  /// What holds the value that the rest describes, from the outside: none for a tensor.
  std::vector<Holder> holders;
  /// False: no tensor (a map, …) or no type at all, as `kind` says.
  bool is_tensor = false;
  std::string_view kind = "value without a type";
  int32_t elem_type = 0;
  bool has_shape = false;
  std::vector<DimProto> dims;
};

struct GraphProto {
  std::string_view name;
  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initializers;
  std::vector<std::string_view> sparse_initializers;
  std::vector<ValueInfoProto> inputs;
  std::vector<ValueInfoProto> outputs;
  std::vector<ValueInfoProto> value_infos;
};

struct OpsetImport {
  std::string_view domain;
  int64_t version = 0;
};

/// A function of the model's own, called as an operator.
struct FunctionProto {
  std::string_view name;
  std::string_view domain;
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<AttributeProto> attribute_defaults;
  std::vector<NodeProto> nodes;
  std::vector<OpsetImport> opsets;
};

struct ModelProto {
  int64_t ir_version = 0;
  std::string_view producer_name;
  std::string_view producer_version;
  std::vector<OpsetImport> opsets;
  GraphProto graph;
  std::vector<FunctionProto> functions;
  /// Keeps the views alive.
  std::shared_ptr<const MappedFile> file;
};

/// Reads the wire format. A ModelError if the file is no ONNX model, or malformed at any depth.
std::shared_ptr<const ModelProto> ReadModel(std::shared_ptr<const MappedFile> file);

/// The domain of ONNX's own operators, spelled "" or "ai.onnx".
inline bool IsOnnxDomain(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

}  // namespace deuteron::onnx
