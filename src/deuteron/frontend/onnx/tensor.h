/// \file
/// Tensor data of ONNX models as host tensors.
#pragma once

#include <string>
#include <unordered_map>

#include "deuteron/frontend/onnx/model.h"
#include "deuteron/ir/dtype.h"
#include "deuteron/ir/object.h"

namespace deuteron::onnx {

/// "float32", "float8_e4m3fn", … as numpy and ml_dtypes name ONNX's element types, for messages.
std::string ElementTypeName(int64_t element_type);

/// The dtype of an element type. `where` names the value in messages. A ModelError for a number that ONNX
/// does not define, an UnsupportedError for strings and complex numbers.
DataType ToDataType(int64_t element_type, const std::string& where);

/// Makes tensors of the tensors of one model; maps its external files, each once.
class TensorDecoder {
 public:
  explicit TensorDecoder(std::shared_ptr<const ModelProto> model) : model_(std::move(model)) {}

  /// The tensor, over the mapped file where its data lies there aligned to 64 bytes, else a copy. A
  /// ModelError if a dimension is negative, if the data is shorter or longer than the shape, or if external data is
  /// missing or lies outside of the model's folder (also through a link); an UnsupportedError if it is larger than the
  /// limits allow.
  Tensor Decode(const TensorProto& tensor, const std::string& where);

 private:
  Tensor DecodeRaw(const std::vector<int64_t>& shape, DataType dtype, std::string_view bytes,
                   const std::shared_ptr<const MappedFile>& file, const std::string& where);
  std::string_view ExternalBytes(const TensorProto& tensor, int64_t size, const std::string& where,
                                 std::shared_ptr<const MappedFile>* file);
  std::shared_ptr<const MappedFile> OpenExternal(const std::string& location, const std::string& where);

  std::shared_ptr<const ModelProto> model_;
  std::unordered_map<std::string, std::shared_ptr<const MappedFile>> external_files_;
};

}  // namespace deuteron::onnx
