/// \file
/// The functions of the CUDA runtime and of cuBLASLt that the run sides call, on the processor: device memory is
/// memory, and cublasLtMatmul is three loops over column-major matrices as NVIDIA's manual defines it. So that what is
/// put to the library (operands exchanged, leading dimensions, strides of batches, epilogues, scales) can be checked
/// against the interpreter on a machine without a device. Only what the run sides use of each function is there.
#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

namespace {

/// Attributes of a descriptor by number.
struct Attributes {
  std::map<int, std::vector<char>> values;
  template <typename T>
  T Get(int attribute, T otherwise) const {
    const auto it = values.find(attribute);
    T value = otherwise;
    if (it != values.end()) std::memcpy(&value, it->second.data(), std::min(sizeof(T), it->second.size()));
    return value;
  }
  cublasStatus_t Set(int attribute, const void* data, size_t size) {
    const auto* bytes = static_cast<const char*>(data);
    values[attribute].assign(bytes, bytes + size);
    return CUBLAS_STATUS_SUCCESS;
  }
};

struct Operation : Attributes {
  cublasComputeType_t compute;
  cudaDataType_t scale;
};
struct Layout : Attributes {
  cudaDataType_t type;
  uint64_t rows, columns;
  int64_t ld;
  int64_t batch() const { return Get<int32_t>(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 1); }
  int64_t stride() const { return Get<int64_t>(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 0); }
};

template <typename T, typename Handle>
const T& As(Handle handle) {
  return *reinterpret_cast<const T*>(handle);
}

double Float8(uint8_t bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  const double value = exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  return bits & 128 ? -value : value;
}

double Load(const void* data, int64_t at, cudaDataType_t type) {
  switch (type) {
    case CUDA_R_32F:
      return static_cast<const float*>(data)[at];
    case CUDA_R_16F:
      return static_cast<double>(static_cast<const _Float16*>(data)[at]);
    case CUDA_R_8I:
      return static_cast<const int8_t*>(data)[at];
    case CUDA_R_32I:
      return static_cast<const int32_t*>(data)[at];
    case CUDA_R_8F_E4M3:
      return Float8(static_cast<const uint8_t*>(data)[at]);
    default:
      std::abort();
  }
}

void Store(void* data, int64_t at, cudaDataType_t type, double value) {
  switch (type) {
    case CUDA_R_32F:
      static_cast<float*>(data)[at] = static_cast<float>(value);
      return;
    case CUDA_R_16F:
      static_cast<_Float16*>(data)[at] = static_cast<_Float16>(value);
      return;
    case CUDA_R_8I:
      static_cast<int8_t*>(data)[at] = static_cast<int8_t>(value);
      return;
    case CUDA_R_32I:
      static_cast<int32_t*>(data)[at] = static_cast<int32_t>(value);
      return;
    default:
      std::abort();
  }
}

/// Integers and 8-bit floats are multiplied along k of both operands only.
bool IsSupported(const Operation& operation, const Layout& a) {
  const bool bytes = a.type == CUDA_R_8I || a.type == CUDA_R_8F_E4M3;
  const bool transposed = operation.Get<int32_t>(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_N) == CUBLAS_OP_T;
  return !bytes || (transposed && a.rows % 4 == 0 && a.columns % 4 == 0);
}

double Activated(double value, uint32_t epilogue) {
  if (epilogue == CUBLASLT_EPILOGUE_RELU_BIAS) return std::fmax(value, 0);
  if (epilogue != CUBLASLT_EPILOGUE_GELU_BIAS) return value;
  return value / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (value + 0.044715 * value * value * value)));
}

}  // namespace

extern "C" {

size_t cublasLtGetVersion() { return 130000; }
cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorName(cudaError_t) { return "an error"; }
const char* cudaGetErrorString(cudaError_t) { return "an error"; }
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) { return *pool = nullptr, cudaSuccess; }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMalloc(void** data, size_t bytes) { return *data = std::malloc(bytes), cudaSuccess; }
cudaError_t cudaFree(void* data) { return std::free(data), cudaSuccess; }
cudaError_t cudaMallocAsync(void** data, size_t bytes, cudaStream_t) { return cudaMalloc(data, bytes); }
cudaError_t cudaFreeAsync(void* data, cudaStream_t) { return cudaFree(data); }
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  return std::memcpy(to, from, bytes), cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }

const char* cublasLtGetStatusName(cublasStatus_t) { return "a status"; }
const char* cublasLtGetStatusString(cublasStatus_t) { return "a status"; }
cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) { return *handle = nullptr, CUBLAS_STATUS_SUCCESS; }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute, cudaDataType_t scale) {
  *desc = reinterpret_cast<cublasLtMatmulDesc_t>(new Operation{{}, compute, scale});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  return delete reinterpret_cast<Operation*>(desc), CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                                              const void* data, size_t size) {
  return reinterpret_cast<Operation*>(desc)->Set(attribute, data, size);
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType_t type, uint64_t rows,
                                          uint64_t columns, int64_t ld) {
  if (ld < static_cast<int64_t>(rows)) return CUBLAS_STATUS_INVALID_VALUE;
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(new Layout{{}, type, rows, columns, ld});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return delete reinterpret_cast<Layout*>(layout), CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* data,
                                                size_t size) {
  return reinterpret_cast<Layout*>(layout)->Set(attribute, data, size);
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = reinterpret_cast<cublasLtMatmulPreference_t>(new Attributes);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return delete reinterpret_cast<Attributes*>(preference), CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* data,
                                                    size_t size) {
  return reinterpret_cast<Attributes*>(preference)->Set(attribute, data, size);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int,
                                              cublasLtMatmulHeuristicResult_t results[], int* count) {
  *count = 0;
  if (!IsSupported(As<Operation>(desc), As<Layout>(a))) return CUBLAS_STATUS_NOT_SUPPORTED;
  results[0].state = CUBLAS_STATUS_SUCCESS;
  results[0].workspaceSize = 64;
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void*, const void*, cublasLtMatrixLayout_t, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t*, void* workspace,
                              size_t bytes, cudaStream_t) {
  const auto& operation = As<Operation>(desc);
  const auto &la = As<Layout>(a_layout), &lb = As<Layout>(b_layout), &ld = As<Layout>(d_layout);
  const bool turned = operation.Get<int32_t>(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_N) == CUBLAS_OP_T;
  const int64_t m = static_cast<int64_t>(turned ? la.columns : la.rows), n = static_cast<int64_t>(lb.columns),
                k = static_cast<int64_t>(turned ? la.rows : la.columns);
  if (!IsSupported(operation, la) || workspace == nullptr || bytes < 64) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (static_cast<int64_t>(lb.rows) != k || static_cast<int64_t>(ld.rows) != m || static_cast<int64_t>(ld.columns) != n)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (la.batch() != ld.batch() || lb.batch() != ld.batch()) return CUBLAS_STATUS_INVALID_VALUE;
  double factor =
      operation.scale == CUDA_R_32I ? *static_cast<const int32_t*>(alpha) : *static_cast<const float*>(alpha);
  for (const auto scale : {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER}) {
    if (const auto* value = operation.Get<const float*>(scale, nullptr)) factor *= *value;
  }
  const auto epilogue = operation.Get<uint32_t>(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DEFAULT);
  const auto* bias = operation.Get<const void*>(CUBLASLT_MATMUL_DESC_BIAS_POINTER, nullptr);
  const auto bias_type =
      static_cast<cudaDataType_t>(operation.Get<int32_t>(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, ld.type));
  for (int64_t batch = 0; batch < ld.batch(); ++batch) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < m; ++i) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l) {
          sum += Load(a, batch * la.stride() + (turned ? i * la.ld + l : l * la.ld + i), la.type) *
                 Load(b, batch * lb.stride() + j * lb.ld + l, lb.type);
        }
        double value = sum * factor;
        if (bias != nullptr) value += Load(bias, i, bias_type);
        Store(d, batch * ld.stride() + j * ld.ld + i, ld.type, Activated(value, epilogue));
      }
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixTransformDescCreate(cublasLtMatrixTransformDesc_t* desc, cudaDataType_t) {
  *desc = reinterpret_cast<cublasLtMatrixTransformDesc_t>(new Attributes);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixTransformDescDestroy(cublasLtMatrixTransformDesc_t desc) {
  return delete reinterpret_cast<Attributes*>(desc), CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixTransformDescSetAttribute(cublasLtMatrixTransformDesc_t desc,
                                                       cublasLtMatrixTransformDescAttributes_t attribute,
                                                       const void* data, size_t size) {
  return reinterpret_cast<Attributes*>(desc)->Set(attribute, data, size);
}
cublasStatus_t cublasLtMatrixTransform(cublasLtHandle_t, cublasLtMatrixTransformDesc_t desc, const void*, const void* a,
                                       cublasLtMatrixLayout_t a_layout, const void*, const void*,
                                       cublasLtMatrixLayout_t, void* c, cublasLtMatrixLayout_t c_layout, cudaStream_t) {
  const auto &from = As<Layout>(a_layout), &to = As<Layout>(c_layout);
  if (As<Attributes>(desc).Get<int32_t>(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, CUBLAS_OP_N) != CUBLAS_OP_T ||
      from.rows != to.columns || from.columns != to.rows)
    return CUBLAS_STATUS_INVALID_VALUE;
  for (int64_t batch = 0; batch < to.batch(); ++batch) {
    for (int64_t j = 0; j < static_cast<int64_t>(to.columns); ++j) {
      for (int64_t i = 0; i < static_cast<int64_t>(to.rows); ++i) {
        Store(c, batch * to.stride() + j * to.ld + i, to.type,
              Load(a, batch * from.stride() + i * from.ld + j, from.type));
      }
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
