#include "deuteron/backend/cublas/product.h"

#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "deuteron/backend/cublas/product_shape.h"
#include "deuteron/support/error.h"

namespace deuteron::backend::cublas {
namespace {

using cuda::TensorInfo;

void Check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  DEUTERON_THROW(UnsupportedError) << what << " failed: " << cublasLtGetStatusName(status) << " ("
                                   << cublasLtGetStatusString(status) << ")";
}

cudaDataType_t TypeOf(const std::string& dtype) {
  static const std::map<std::string, cudaDataType_t> kTypes = {
      {"float32", CUDA_R_32F}, {"float16", CUDA_R_16F}, {"bfloat16", CUDA_R_16BF},
      {"int8", CUDA_R_8I},     {"int32", CUDA_R_32I},   {"float8_e4m3fn", CUDA_R_8F_E4M3}};
  const auto it = kTypes.find(dtype);
  if (it == kTypes.end()) DEUTERON_THROW(UnsupportedError) << "cuBLASLt has no dtype " << dtype;
  return it->second;
}

/// The library's state for the current device, kept for the life of the process.
cublasLtHandle_t HandleFor(int device) {
  static std::mutex mutex;
  static auto* handles = new std::map<int, cublasLtHandle_t>;
  const std::lock_guard lock(mutex);
  const auto it = handles->find(device);
  if (it != handles->end()) return it->second;
  cublasLtHandle_t handle = nullptr;
  Check(cublasLtCreate(&handle), "cublasLtCreate");
  return handles->emplace(device, handle).first->second;
}

/// Most scratch memory that an algorithm may ask for: what the library's guide advises for its largest devices.
constexpr size_t kMostWorkspace = size_t{32} << 20;

/// The objects of the library, each freed by its own function.
template <typename T, cublasStatus_t (*Destroy)(T)>
class Handle {
 public:
  Handle() = default;
  ~Handle() {
    if (value_ != nullptr) (void)Destroy(value_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  T* out() { return &value_; }
  T get() const { return value_; }

 private:
  T value_ = nullptr;
};
using Operation = Handle<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Layout = Handle<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Handle<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;
using Transform = Handle<cublasLtMatrixTransformDesc_t, cublasLtMatrixTransformDescDestroy>;

template <typename T>
void Set(const Operation& operation, cublasLtMatmulDescAttributes_t attribute, const T& value) {
  Check(cublasLtMatmulDescSetAttribute(operation.get(), attribute, &value, sizeof(value)),
        "cublasLtMatmulDescSetAttribute");
}
template <typename T>
void Set(const Preference& preference, cublasLtMatmulPreferenceAttributes_t attribute, const T& value) {
  Check(cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof(value)),
        "cublasLtMatmulPreferenceSetAttribute");
}

/// A column-major matrix, as the library sees it; `stride` elements from one of a batch to the next.
void Make(Layout* layout, cudaDataType_t type, int64_t rows, int64_t columns, int64_t batch, int64_t stride) {
  Check(cublasLtMatrixLayoutCreate(layout->out(), type, static_cast<uint64_t>(rows), static_cast<uint64_t>(columns),
                                   rows),
        "cublasLtMatrixLayoutCreate");
  if (batch == 1) return;
  const auto count = static_cast<int32_t>(batch);
  Check(cublasLtMatrixLayoutSetAttribute(layout->get(), CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count)),
        "cublasLtMatrixLayoutSetAttribute");
  Check(cublasLtMatrixLayoutSetAttribute(layout->get(), CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                         sizeof(stride)),
        "cublasLtMatrixLayoutSetAttribute");
}

/// Whole 2ⁿ bytes that an address is a multiple of, at most the 256 that the library assumes.
uint32_t AlignmentOf(const void* data) {
  constexpr uintptr_t kMost = 256;
  return static_cast<uint32_t>(uintptr_t{1} << std::countr_zero(reinterpret_cast<uintptr_t>(data) | kMost));
}

/// Row-major (m, k) by (k, n), seen by the library, which thinks in columns, as the transposed product: its A is our
/// right operand, its B our left one, its D, (n, m) by columns, our result by rows. Its bias runs along the rows of D,
/// which are our columns.
class Product : public cuda::Kernel {
 public:
  Product(const JsonNode& node, std::span<const TensorInfo> inputs, ProductShape shape)
      : what_(DescribeKernel(node, inputs)),
        shape_(std::move(shape)),
        in_(TypeOf(inputs[0].dtype)),
        out_(TypeOf(node.dtypes[0])),
        in_bytes_(static_cast<int64_t>(cuda::BytesOf(inputs[0].dtype, 1))),
        out_bytes_(static_cast<int64_t>(cuda::BytesOf(node.dtypes[0], 1))),
        transposed_(node.attrs.at("transposed").get<bool>()),
        bias_(node.attrs.at("bias").get<bool>()),
        activation_(node.attrs.at("activation").get<std::string>()),
        alpha_(node.attrs.at("alpha").get<float>()),
        scales_(node.attrs.at("scales").get<bool>()) {
    if (bias_) bias_bytes_ = cuda::BytesOf(inputs[2].dtype, shape_.n);
    if (bias_) bias_type_ = TypeOf(inputs[2].dtype);
    if (scales_) scale_dtypes_ = {inputs[inputs.size() - 2].dtype, inputs[inputs.size() - 1].dtype};
  }

  const std::vector<int64_t>& shape() const override { return shape_.shape; }

  void Run(cuda::Call* call, std::span<const void* const> inputs, void* output) const override {
    try {
      Compute(call, inputs, output);
    } catch (const tvm::ffi::Error& error) {
      throw tvm::ffi::Error(error.kind(), what_ + ": " + error.message(), error.backtrace());
    }
  }

 private:
  bool IsInteger() const { return in_ == CUDA_R_8I; }
  bool IsFloat8() const { return in_ == CUDA_R_8F_E4M3; }

  struct Algorithm {
    cublasLtMatmulHeuristicResult_t found{};
    /// The right operand has to be transposed before.
    bool transposes = false;
  };

  /// Descriptions of one call of the library.
  struct Problem {
    Operation operation;
    Layout a, b, c, d;
  };

  /// `transposed`: the right operand lies as (n, k).
  void Describe(Problem* problem, bool transposed, const void* bias, const float* scale_a, const float* scale_b) const {
    const cublasComputeType_t compute = IsInteger() ? CUBLAS_COMPUTE_32I : CUBLAS_COMPUTE_32F;
    Check(cublasLtMatmulDescCreate(problem->operation.out(), compute, IsInteger() ? CUDA_R_32I : CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    Set(problem->operation, CUBLASLT_MATMUL_DESC_TRANSA, transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    Set(problem->operation, CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N);
    if (bias_) {
      const cublasLtEpilogue_t epilogue = activation_ == "relu"   ? CUBLASLT_EPILOGUE_RELU_BIAS
                                          : activation_ == "gelu" ? CUBLASLT_EPILOGUE_GELU_BIAS
                                                                  : CUBLASLT_EPILOGUE_BIAS;
      Set(problem->operation, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
      Set(problem->operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
      Set(problem->operation, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, static_cast<int32_t>(bias_type_));
    }
    if (scale_a != nullptr) {
      // The library's A is the right operand.
      Set(problem->operation, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, static_cast<const void*>(scale_b));
      Set(problem->operation, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, static_cast<const void*>(scale_a));
    }
    const ProductShape& s = shape_;
    Make(&problem->a, in_, transposed ? s.k : s.n, transposed ? s.n : s.k, s.batch, s.rhs_stride);
    Make(&problem->b, in_, s.k, s.m, s.batch, s.lhs_stride);
    // C is not read, but has to be of a type that goes with D: no 8-bit float.
    Make(&problem->c, out_ == CUDA_R_8F_E4M3 ? CUDA_R_16F : out_, s.n, s.m, s.batch, s.out_stride);
    Make(&problem->d, out_, s.n, s.m, s.batch, s.out_stride);
  }

  using Alignments = std::array<uint32_t, 3>;

  std::optional<cublasLtMatmulHeuristicResult_t> Ask(cublasLtHandle_t handle, const Problem& problem,
                                                     const Alignments& alignments) const {
    Preference preference;
    Check(cublasLtMatmulPreferenceCreate(preference.out()), "cublasLtMatmulPreferenceCreate");
    Set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMostWorkspace);
    Set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignments[0]);
    Set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignments[1]);
    Set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignments[2]);
    Set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignments[2]);
    cublasLtMatmulHeuristicResult_t result{};
    int count = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handle, problem.operation.get(), problem.a.get(), problem.b.get(),
                                       problem.c.get(), problem.d.get(), preference.get(), 1, &result, &count);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return std::nullopt;
    Check(status, "cublasLtMatmulAlgoGetHeuristic");
    if (count == 0 || result.state != CUBLAS_STATUS_SUCCESS) return std::nullopt;
    return result;
  }

  /// The algorithm for a device and alignments; asked for once.
  Algorithm Choose(cublasLtHandle_t handle, int device, const Alignments& alignments, const void* bias,
                   const float* scale_a, const float* scale_b) const {
    const std::lock_guard lock(mutex_);
    const auto key = std::make_pair(device, alignments);
    if (const auto it = algorithms_.find(key); it != algorithms_.end()) return it->second;
    Algorithm algorithm;
    Problem problem;
    Describe(&problem, transposed_, bias, scale_a, scale_b);
    auto found = Ask(handle, problem, alignments);
    if (!found && !transposed_ && IsInteger()) {
      // Tensor cores read integers along k on both sides.
      Problem turned;
      Describe(&turned, true, bias, scale_a, scale_b);
      found = Ask(handle, turned, {256, alignments[1], alignments[2]});
      algorithm.transposes = true;
    }
    if (!found) {
      DEUTERON_THROW(UnsupportedError) << "cuBLASLt has no algorithm for it on this device (m = " << shape_.m
                                       << ", n = " << shape_.n << ", k = " << shape_.k << ", batch " << shape_.batch
                                       << "); compile with --backend none";
    }
    algorithm.found = *found;
    return algorithms_.emplace(key, algorithm).first->second;
  }

  /// The right operand's matrices transposed, in scratch memory.
  const void* Transposed(cuda::Call* call, cublasLtHandle_t handle, const void* rhs) const {
    const ProductShape& s = shape_;
    const int64_t count = s.rhs_stride == 0 ? 1 : s.batch;
    void* copy = call->Scratch(static_cast<size_t>(count * s.k * s.n * in_bytes_));
    Transform transform;
    Check(cublasLtMatrixTransformDescCreate(transform.out(), CUDA_R_32F), "cublasLtMatrixTransformDescCreate");
    const cublasOperation_t turn = CUBLAS_OP_T;
    Check(cublasLtMatrixTransformDescSetAttribute(transform.get(), CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, &turn,
                                                  sizeof(turn)),
          "cublasLtMatrixTransformDescSetAttribute");
    Layout from, to;
    Make(&from, in_, s.n, s.k, count, s.k * s.n);
    Make(&to, in_, s.k, s.n, count, s.k * s.n);
    const float one = 1, zero = 0;
    Check(cublasLtMatrixTransform(handle, transform.get(), &one, rhs, from.get(), &zero, nullptr, nullptr, copy,
                                  to.get(), call->stream()),
          "cublasLtMatrixTransform");
    return copy;
  }

  /// The number that a tensor of one element holds on the device.
  static float ReadScalar(cuda::Call* call, const void* data, const std::string& dtype) {
    uint32_t bits = 0;
    cuda::Check(cudaMemcpyAsync(&bits, data, cuda::BytesOf(dtype, 1), cudaMemcpyDeviceToHost, call->stream()),
                "cudaMemcpyAsync to the host");
    cuda::Check(cudaStreamSynchronize(call->stream()), "cudaStreamSynchronize");
    if (dtype == "bfloat16") return std::bit_cast<float>(bits << 16);
    if (dtype == "float32") return std::bit_cast<float>(bits);
    _Float16 half;
    std::memcpy(&half, &bits, sizeof(half));
    return static_cast<float>(half);
  }

  void Compute(cuda::Call* call, std::span<const void* const> inputs, void* output) const {
    const cublasLtHandle_t handle = HandleFor(call->device());
    if (shape_.k == 0) DEUTERON_THROW(UnsupportedError) << "a product over an inner dimension of 0";
    const void* bias = bias_ ? Aligned(call, inputs[2]) : nullptr;
    float alpha = alpha_;
    const float *scale_a = nullptr, *scale_b = nullptr;
    if (scales_) {
      const void *first = inputs[inputs.size() - 2], *second = inputs[inputs.size() - 1];
      if (IsFloat8() && scale_dtypes_[0] == "float32" && scale_dtypes_[1] == "float32") {
        scale_a = static_cast<const float*>(first);
        scale_b = static_cast<const float*>(second);
      } else {
        alpha *= ReadScalar(call, first, scale_dtypes_[0]) * ReadScalar(call, second, scale_dtypes_[1]);
      }
    }
    const auto* lhs = static_cast<const char*>(inputs[0]);
    const auto* rhs = static_cast<const char*>(inputs[1]);
    for (const ProductShape::Start& start : shape_.starts) {
      Multiply(call, handle, lhs + start.lhs * in_bytes_, rhs + start.rhs * in_bytes_,
               static_cast<char*>(output) + start.out * out_bytes_, bias, alpha, scale_a, scale_b);
    }
  }

  void Multiply(cuda::Call* call, cublasLtHandle_t handle, const void* lhs, const void* rhs, void* out,
                const void* bias, float alpha, const float* scale_a, const float* scale_b) const {
    const Alignments alignments = {AlignmentOf(rhs), AlignmentOf(lhs), AlignmentOf(out)};
    const Algorithm algorithm = Choose(handle, call->device(), alignments, bias, scale_a, scale_b);
    if (algorithm.transposes) rhs = Transposed(call, handle, rhs);
    Problem problem;
    Describe(&problem, transposed_ || algorithm.transposes, bias, scale_a, scale_b);
    const size_t bytes = algorithm.found.workspaceSize;
    void* workspace = bytes == 0 ? nullptr : call->Scratch(bytes);
    // alpha and beta are of the type of the scale.
    const float zero = 0;
    const int32_t integer_one = 1, integer_zero = 0;
    const void* factor = IsInteger() ? static_cast<const void*>(&integer_one) : &alpha;
    const void* nothing = IsInteger() ? static_cast<const void*>(&integer_zero) : &zero;
    Check(cublasLtMatmul(handle, problem.operation.get(), factor, rhs, problem.a.get(), lhs, problem.b.get(), nothing,
                         out, problem.c.get(), out, problem.d.get(), &algorithm.found.algo, workspace, bytes,
                         call->stream()),
          "cublasLtMatmul");
  }

  /// Epilogues read the bias in words of 16 bytes.
  const void* Aligned(cuda::Call* call, const void* bias) const {
    if (AlignmentOf(bias) >= 16) return bias;
    void* copy = call->Scratch(bias_bytes_);
    cuda::Check(cudaMemcpyAsync(copy, bias, bias_bytes_, cudaMemcpyDeviceToDevice, call->stream()),
                "cudaMemcpyAsync on the device");
    return copy;
  }

  std::string what_;
  ProductShape shape_;
  cudaDataType_t in_, out_;
  int64_t in_bytes_, out_bytes_;
  bool transposed_;
  bool bias_;
  std::string activation_;
  float alpha_;
  bool scales_;
  size_t bias_bytes_ = 0;
  cudaDataType_t bias_type_ = CUDA_R_32F;
  std::array<std::string, 2> scale_dtypes_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<int, Alignments>, Algorithm> algorithms_;
};

}  // namespace

std::unique_ptr<cuda::Kernel> MakeProduct(const JsonNode& node, std::span<const TensorInfo> inputs) {
  std::string problem;
  auto shape = ShapeOfProduct(inputs[0].shape, inputs[1].shape, node.attrs.at("transposed").get<bool>(), &problem);
  if (!shape) DEUTERON_THROW(ModelError) << DescribeKernel(node, inputs) << ": " << problem;
  return std::make_unique<Product>(node, inputs, *std::move(shape));
}

}  // namespace deuteron::backend::cublas
