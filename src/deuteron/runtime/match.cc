/// \file
/// Values against types, with errors that say which dimension of which input is wrong.
#include "deuteron/runtime/vm.h"
#include "deuteron/support/error.h"

namespace deuteron::runtime {
namespace {

class Matcher {
 public:
  Matcher(const Program& program, Frame* frame, bool is_input)
      : program_(program), frame_(frame), is_input_(is_input) {}

  void Match(const TypeSpec& type, const Any& value, const std::string& what) {
    switch (type.kind) {
      case TypeSpec::kAny:
        return;
      case TypeSpec::kTensor: {
        const auto tensor = value.as<Tensor>();
        if (!tensor.has_value() || !tensor->defined()) Fail(what, "a tensor", Name(value));
        return MatchTensor(type, *tensor->GetDLTensorPtr(), what);
      }
      case TypeSpec::kShape: {
        const auto shape = value.as<tvm::ffi::Shape>();
        if (!shape.has_value()) Fail(what, "a shape", Name(value));
        return MatchDims(type, {shape->data(), shape->size()}, what);
      }
      case TypeSpec::kTuple: {
        const auto fields = value.as<tvm::ffi::Array<Any>>();
        if (!fields.has_value() || fields->size() != type.fields.size()) {
          Fail(what, "a tuple of " + std::to_string(type.fields.size()), Name(value));
        }
        for (size_t i = 0; i < type.fields.size(); ++i) {
          Match(program_.types[type.fields[i]], (*fields)[i], what + "[" + std::to_string(i) + "]");
        }
        return;
      }
      case TypeSpec::kScalar:
        if (value.as<int64_t>().has_value() || value.as<double>().has_value() || value.as<Tensor>().has_value()) return;
        Fail(what, "a scalar", Name(value));
    }
  }

 private:
  [[noreturn]] void Fail(const std::string& what, const std::string& expected, const std::string& got) const {
    if (is_input_) DEUTERON_THROW(UsageError) << what << ": expected " << expected << ", got " << got;
    DEUTERON_THROW(ModelError) << what << ": expected " << expected << ", got " << got;
  }

  static std::string Name(const Any& value) {
    const auto tensor = value.as<Tensor>();
    if (tensor.has_value() && tensor->defined()) return DescribeTensor(*tensor->GetDLTensorPtr());
    return value.GetTypeKey();
  }

  void MatchTensor(const TypeSpec& type, const DLTensor& tensor, const std::string& what) {
    const bool any_dtype = type.dtype.code == kDLOpaqueHandle && type.dtype.bits == 0;
    if (!any_dtype && !SameDType(type.dtype, tensor.dtype)) {
      Fail(what, "dtype " + DTypeName(type.dtype), DescribeTensor(tensor));
    }
    if (tensor.device.device_type != kDLCPU && tensor.device.device_type != kDLCUDAHost) {
      Fail(what, "a tensor on the CPU", "one on device type " + std::to_string(tensor.device.device_type));
    }
    MatchDims(type, {tensor.shape, static_cast<size_t>(tensor.ndim)}, what);
  }

  static bool SameDType(DLDataType a, DLDataType b) {
    return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
  }

  void MatchDims(const TypeSpec& type, std::span<const int64_t> actual, const std::string& what) {
    if (type.ndim >= 0 && static_cast<size_t>(type.ndim) != actual.size()) {
      Fail(what, "rank " + std::to_string(type.ndim), Describe(actual));
    }
    if (!type.has_dims) return;
    for (size_t i = 0; i < actual.size(); ++i) {
      const DimSpec& dim = type.dims[i];
      if (dim.kind == DimSpec::kBind) {
        // Whatever is computed from a dimension trusts that it is none below 0; those of a shape are values of the run.
        if (actual[i] < 0) {
          DEUTERON_THROW(UsageError) << what << ", dimension " << i << ": expected 0 or more, got " << actual[i]
                                     << " (of " << Describe(actual) << ")";
        }
        frame_->cells[dim.cell] = actual[i];
      }
      if (dim.kind != DimSpec::kCheck || frame_->cells[dim.cell] == actual[i]) continue;
      const std::string expected = std::to_string(frame_->cells[dim.cell]);
      const std::string& text = program_.strings[dim.text];
      Fail(what + ", dimension " + std::to_string(i), text == expected ? expected : text + " = " + expected,
           std::to_string(actual[i]) + " (of " + Describe(actual) + ")" +
               (is_input_ ? "" : "; give inputs of sizes that agree"));
    }
  }

  static std::string Describe(std::span<const int64_t> dims) {
    std::string text = "(";
    for (size_t i = 0; i < dims.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(dims[i]);
    return text + ")";
  }

  const Program& program_;
  Frame* frame_;
  bool is_input_;
};

}  // namespace

void MatchValue(const Program& program, const TypeSpec& type, const Any& value, Frame* frame, const std::string& what,
                bool is_input) {
  Matcher(program, frame, is_input).Match(type, value, what);
}

}  // namespace deuteron::runtime
