// Norms of rows, in single precision; a block computes a row.
#include <cuda_fp16.h>

namespace deuteron {
namespace {

constexpr int kThreadsOfNorm = 256;

// The sum over all threads of the block, for all of them.
__device__ inline float BlockSum(float value) {
  __shared__ float partial[kThreadsOfNorm / 32];
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  __syncthreads();
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < kThreadsOfNorm / 32; ++i) sum += partial[i];
  return sum;
}

template <typename T>
__global__ void LayerNormKernel(const T* x, const T* scale, const T* shift, T* out, int64_t columns, float epsilon) {
  const T* row = x + blockIdx.x * columns;
  float sum = 0;
  for (int64_t i = threadIdx.x; i < columns; i += kThreadsOfNorm) sum += static_cast<float>(row[i]);
  const float mean = BlockSum(sum) / static_cast<float>(columns);
  sum = 0;
  for (int64_t i = threadIdx.x; i < columns; i += kThreadsOfNorm) {
    const float difference = static_cast<float>(row[i]) - mean;
    sum += difference * difference;
  }
  const float factor = rsqrtf(BlockSum(sum) / static_cast<float>(columns) + epsilon);
  for (int64_t i = threadIdx.x; i < columns; i += kThreadsOfNorm) {
    out[blockIdx.x * columns + i] = static_cast<T>((static_cast<float>(row[i]) - mean) * factor *
                                                       static_cast<float>(scale[i]) +
                                                   static_cast<float>(shift[i]));
  }
}

template <typename T>
__global__ void RMSNormKernel(const T* x, const T* scale, T* out, int64_t columns, float epsilon) {
  const T* row = x + blockIdx.x * columns;
  float sum = 0;
  for (int64_t i = threadIdx.x; i < columns; i += kThreadsOfNorm) {
    const float value = static_cast<float>(row[i]);
    sum += value * value;
  }
  const float factor = rsqrtf(BlockSum(sum) / static_cast<float>(columns) + epsilon);
  for (int64_t i = threadIdx.x; i < columns; i += kThreadsOfNorm) {
    out[blockIdx.x * columns + i] =
        static_cast<T>(static_cast<float>(row[i]) * factor * static_cast<float>(scale[i]));
  }
}

// `shift` null: RMS norm.
template <typename T>
View Norm(Call& call, const View& x, const View& scale, const View* shift, float epsilon, int result) {
  const View out = call.Place(result, x.shape, sizeof(T));
  const int64_t columns = x.dim(-1);
  if (scale.numel() != columns || (shift != nullptr && shift->numel() != columns))
    throw Failure{"scale or shift are not one value a column"};
  if (out.numel() == 0) return out;
  const int rows = Int(x.numel() / columns);
  if (shift != nullptr) {
    LayerNormKernel<T><<<rows, kThreadsOfNorm, 0, call.stream()>>>(x.as<T>(), scale.as<T>(), shift->as<T>(),
                                                                   out.as<T>(), columns, epsilon);
  } else {
    RMSNormKernel<T><<<rows, kThreadsOfNorm, 0, call.stream()>>>(x.as<T>(), scale.as<T>(), out.as<T>(), columns,
                                                                 epsilon);
  }
  Check(cudaGetLastError(), "the launch of a norm");
  return out;
}

}  // namespace
}  // namespace deuteron
