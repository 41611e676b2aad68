// Attention whose scores never reach memory: softmax(q kᵀ * scale + bias) v, one tile of keys after another, with the
// greatest score and the sum of weights so far (Milakov and Gimelshein, "Online normalizer calculation for softmax",
// 2018). In single precision, on the ordinary cores.
#include <cuda_fp16.h>
#include <math.h>

namespace deuteron {
namespace {

// Elements from one batch, row, head to the next; channels follow each other.
struct Strides {
  int64_t batch, row, head;
};

template <typename T>
struct AttentionArguments {
  const T *q, *k, *v, *bias;
  T* out;
  Strides q_strides, k_strides, v_strides, out_strides;
  // (batch, head, row, column), 0 along what it is broadcast.
  int64_t bias_batch, bias_head, bias_row, bias_column;
  // Where the sequences begin, one more than there are of them; null: all batches are of `rows` and `keys`.
  const int32_t *starts_q, *starts_k;
  int rows, keys, channels, value_channels;
  float scale;
  bool causal;
  // The mask's diagonal ends in the lower right corner, not begins in the upper left.
  bool bottom_right;
};

constexpr int kWarps = 4;
constexpr int kRowsOfWarp = 4;
constexpr int kRowsOfBlock = kWarps * kRowsOfWarp;
constexpr int kKeysOfTile = 32;

inline size_t AttentionShared(int channels, int value_channels) {
  return sizeof(float) *
         (kRowsOfBlock * channels + kKeysOfTile * (channels + 1) + static_cast<size_t>(kKeysOfTile) * value_channels);
}

__device__ inline float WarpMax(float value) {
  for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
  return value;
}
__device__ inline float WarpSum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}

// A block computes kRowsOfBlock rows of one head; each lane of a warp scores one key of a tile, then sums up
// kChannels of the 32 * kChannels channels of values.
template <typename T, int kChannels>
__global__ void __launch_bounds__(32 * kWarps) AttentionKernel(AttentionArguments<T> a) {
  extern __shared__ float shared[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int head = blockIdx.y, batch = blockIdx.z;
  int rows = a.rows, keys = a.keys;
  int64_t first_q = 0, first_k = 0;
  if (a.starts_q != nullptr) {
    first_q = a.starts_q[batch];
    first_k = a.starts_k[batch];
    rows = a.starts_q[batch + 1] - static_cast<int>(first_q);
    keys = a.starts_k[batch + 1] - static_cast<int>(first_k);
  }
  const int first_row = blockIdx.x * kRowsOfBlock;
  if (first_row >= rows) return;
  const int64_t sequence = a.starts_q != nullptr ? 0 : batch;
  const T* q = a.q + sequence * a.q_strides.batch + first_q * a.q_strides.row + head * a.q_strides.head;
  const T* k = a.k + sequence * a.k_strides.batch + first_k * a.k_strides.row + head * a.k_strides.head;
  const T* v = a.v + sequence * a.v_strides.batch + first_k * a.v_strides.row + head * a.v_strides.head;
  T* out = a.out + sequence * a.out_strides.batch + first_q * a.out_strides.row + head * a.out_strides.head;
  const T* bias = a.bias == nullptr ? nullptr : a.bias + batch * a.bias_batch + head * a.bias_head;

  float* q_tile = shared;
  // One float more a row: lanes that read the same channel of different keys meet no bank twice.
  float* k_tile = q_tile + kRowsOfBlock * a.channels;
  float* v_tile = k_tile + kKeysOfTile * (a.channels + 1);
  for (int i = threadIdx.x; i < kRowsOfBlock * a.channels; i += blockDim.x) {
    const int row = i / a.channels, channel = i % a.channels;
    q_tile[i] = first_row + row < rows ? static_cast<float>(q[(first_row + row) * a.q_strides.row + channel]) : 0.0f;
  }

  float greatest[kRowsOfWarp], total[kRowsOfWarp], sums[kRowsOfWarp][kChannels];
#pragma unroll
  for (int r = 0; r < kRowsOfWarp; ++r) {
    greatest[r] = -INFINITY;
    total[r] = 0;
#pragma unroll
    for (int c = 0; c < kChannels; ++c) sums[r][c] = 0;
  }

  // Column j of row i is seen if j <= i + diagonal.
  const int diagonal = a.bottom_right ? keys - rows : 0;
  const int last_row = min(first_row + kRowsOfBlock, rows) - 1;
  const int seen = a.causal ? min(keys, last_row + diagonal + 1) : keys;
  for (int first_key = 0; first_key < seen; first_key += kKeysOfTile) {
    __syncthreads();
    for (int i = threadIdx.x; i < kKeysOfTile * a.channels; i += blockDim.x) {
      const int key = i / a.channels, channel = i % a.channels;
      k_tile[key * (a.channels + 1) + channel] =
          first_key + key < keys ? static_cast<float>(k[(first_key + key) * a.k_strides.row + channel]) : 0.0f;
    }
    for (int i = threadIdx.x; i < kKeysOfTile * a.value_channels; i += blockDim.x) {
      const int key = i / a.value_channels, channel = i % a.value_channels;
      v_tile[i] = first_key + key < keys ? static_cast<float>(v[(first_key + key) * a.v_strides.row + channel]) : 0.0f;
    }
    __syncthreads();

    float weights[kRowsOfWarp] = {};
    for (int channel = 0; channel < a.channels; ++channel) {
      const float key = k_tile[lane * (a.channels + 1) + channel];
#pragma unroll
      for (int r = 0; r < kRowsOfWarp; ++r) {
        weights[r] += q_tile[(warp * kRowsOfWarp + r) * a.channels + channel] * key;
      }
    }
    const int column = first_key + lane;
#pragma unroll
    for (int r = 0; r < kRowsOfWarp; ++r) {
      const int row = first_row + warp * kRowsOfWarp + r;
      float score = weights[r] * a.scale;
      const bool counts = row < rows && column < keys && (!a.causal || column <= row + diagonal);
      if (counts && bias != nullptr) {
        score += static_cast<float>(bias[row * a.bias_row + column * a.bias_column]);
      }
      if (!counts) score = -INFINITY;
      const float before = greatest[r];
      greatest[r] = fmaxf(before, WarpMax(score));
      // Nothing seen so far: nothing to scale, and no weight.
      const bool empty = greatest[r] == -INFINITY;
      const float factor = empty ? 1.0f : expf(before - greatest[r]);
      weights[r] = empty ? 0.0f : expf(score - greatest[r]);
      total[r] = total[r] * factor + WarpSum(weights[r]);
#pragma unroll
      for (int c = 0; c < kChannels; ++c) sums[r][c] *= factor;
    }
    for (int key = 0; key < kKeysOfTile; ++key) {
      float weight[kRowsOfWarp];
#pragma unroll
      for (int r = 0; r < kRowsOfWarp; ++r) weight[r] = __shfl_sync(0xffffffffu, weights[r], key);
#pragma unroll
      for (int c = 0; c < kChannels; ++c) {
        const int channel = lane + 32 * c;
        if (channel >= a.value_channels) continue;
        const float value = v_tile[key * a.value_channels + channel];
#pragma unroll
        for (int r = 0; r < kRowsOfWarp; ++r) sums[r][c] += weight[r] * value;
      }
    }
  }

#pragma unroll
  for (int r = 0; r < kRowsOfWarp; ++r) {
    const int row = first_row + warp * kRowsOfWarp + r;
    if (row >= rows) continue;
#pragma unroll
    for (int c = 0; c < kChannels; ++c) {
      const int channel = lane + 32 * c;
      if (channel < a.value_channels) out[row * a.out_strides.row + channel] = static_cast<T>(sums[r][c] / total[r]);
    }
  }
}

template <typename T, int kChannels>
void LaunchAttention(Call& call, const AttentionArguments<T>& arguments, int heads, int batches) {
  const size_t bytes = AttentionShared(arguments.channels, arguments.value_channels);
  Check(cudaFuncSetAttribute(AttentionKernel<T, kChannels>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(bytes)),
        "cudaFuncSetAttribute");
  const dim3 grid((arguments.rows + kRowsOfBlock - 1) / kRowsOfBlock, heads, batches);
  AttentionKernel<T, kChannels><<<grid, 32 * kWarps, bytes, call.stream()>>>(arguments);
  Check(cudaGetLastError(), "the launch of attention");
}

template <typename T>
void RunAttention(Call& call, const AttentionArguments<T>& arguments, int heads, int batches) {
  if (arguments.rows == 0 || heads == 0 || batches == 0) return;
  if (heads > 65535 || batches > 65535) throw Failure{"more than 65535 heads or batches"};
  switch ((arguments.value_channels + 31) / 32) {
    case 1:
      return LaunchAttention<T, 1>(call, arguments, heads, batches);
    case 2:
      return LaunchAttention<T, 2>(call, arguments, heads, batches);
    case 3:
    case 4:
      return LaunchAttention<T, 4>(call, arguments, heads, batches);
    default:
      return LaunchAttention<T, 8>(call, arguments, heads, batches);
  }
}

// (batch, row, head, channel), each as its strides; `width` elements from one row to the next.
inline Strides StridesOf(const View& view, int64_t width) { return {view.dim(1) * width, width, view.dim(3)}; }

struct AttentionMask {
  float scale;
  bool causal, bottom_right;
};

// Everything but where queries, keys and values are.
template <typename T>
AttentionArguments<T> ArgumentsFor(const AttentionMask& mask, const View& q, const View& k, const View& v,
                                   const View* bias, const View& out) {
  if (q.dim(2) != k.dim(2) || k.dim(2) != v.dim(2)) throw Failure{"the numbers of heads differ"};
  if (q.dim(3) != k.dim(3) || k.dim(1) != v.dim(1)) throw Failure{"queries, keys and values do not fit"};
  AttentionArguments<T> a = {};
  a.q = q.as<T>();
  a.k = k.as<T>();
  a.v = v.as<T>();
  a.out = out.as<T>();
  a.rows = Int(q.dim(1));
  a.keys = Int(k.dim(1));
  a.channels = Int(q.dim(3));
  a.value_channels = Int(v.dim(3));
  a.out_strides = StridesOf(out, out.dim(2) * out.dim(3));
  a.scale = mask.scale;
  a.causal = mask.causal;
  a.bottom_right = mask.bottom_right;
  if (bias != nullptr) {
    const int64_t wanted[] = {q.dim(0), q.dim(2), q.dim(1), k.dim(1)};
    int64_t* strides[] = {&a.bias_batch, &a.bias_head, &a.bias_row, &a.bias_column};
    int64_t step = 1;
    for (int i = 3; i >= 0; --i) {
      if (bias->dim(i) != 1 && bias->dim(i) != wanted[i]) throw Failure{"the bias is of shape " + Describe(*bias)};
      *strides[i] = bias->dim(i) == 1 ? 0 : step;
      step *= bias->dim(i);
    }
    a.bias = bias->as<T>();
  }
  return a;
}

template <typename T>
View Attention(Call& call, const AttentionMask& mask, const View& q, const View& k, const View& v, const View* bias,
               int result) {
  const View out = call.Place(result, {q.dim(0), q.dim(1), q.dim(2), v.dim(3)}, sizeof(T));
  if (out.numel() == 0) return out;
  if (q.dim(0) != k.dim(0) || k.dim(0) != v.dim(0)) throw Failure{"the batches differ"};
  AttentionArguments<T> a = ArgumentsFor<T>(mask, q, k, v, bias, out);
  a.q_strides = StridesOf(q, q.dim(2) * q.dim(3));
  a.k_strides = StridesOf(k, k.dim(2) * k.dim(3));
  a.v_strides = StridesOf(v, v.dim(2) * v.dim(3));
  RunAttention(call, a, Int(q.dim(2)), Int(q.dim(0)));
  return out;
}

// Queries, keys and values lie behind each other in the rows of one tensor (batch, row, …).
template <typename T>
View StackedAttention(Call& call, const AttentionMask& mask, const View& stacked, int64_t heads, int64_t channels,
                      int64_t value_channels, const View* bias, int result) {
  const int64_t batch = stacked.dim(0), rows = stacked.dim(1), width = stacked.dim(2);
  if (width < heads * (2 * channels + value_channels)) throw Failure{"rows are too short"};
  const View out = call.Place(result, {batch, rows, heads, value_channels}, sizeof(T));
  if (out.numel() == 0) return out;
  const View q{stacked.data, {batch, rows, heads, channels}, sizeof(T)};
  const View k{stacked.as<T>() + heads * channels, {batch, rows, heads, channels}, sizeof(T)};
  const View v{stacked.as<T>() + 2 * heads * channels, {batch, rows, heads, value_channels}, sizeof(T)};
  AttentionArguments<T> a = ArgumentsFor<T>(mask, q, k, v, bias, out);
  a.q_strides = StridesOf(q, width);
  a.k_strides = StridesOf(k, width);
  a.v_strides = StridesOf(v, width);
  RunAttention(call, a, Int(heads), Int(batch));
  return out;
}

// Sequences of several lengths behind each other in (1, rows, head, channel).
template <typename T>
View AttentionOfSequences(Call& call, const AttentionMask& mask, const View& q, const View& k, const View& v,
                          const View& starts_q, const View& starts_k, int result) {
  const View out = call.Place(result, {q.dim(0), q.dim(1), q.dim(2), v.dim(3)}, sizeof(T));
  if (out.numel() == 0) return out;
  if (q.dim(0) != 1 || k.dim(0) != 1) throw Failure{"sequences in more than one batch"};
  if (starts_q.numel() != starts_k.numel()) throw Failure{"queries and keys are of different numbers of sequences"};
  AttentionArguments<T> a = ArgumentsFor<T>(mask, q, k, v, nullptr, out);
  a.q_strides = StridesOf(q, q.dim(2) * q.dim(3));
  a.k_strides = StridesOf(k, k.dim(2) * k.dim(3));
  a.v_strides = StridesOf(v, v.dim(2) * v.dim(3));
  a.starts_q = starts_q.as<int32_t>();
  a.starts_k = starts_k.as<int32_t>();
  // Blocks behind the end of a sequence have nothing to do.
  RunAttention(call, a, Int(q.dim(2)), Int(starts_q.numel() - 1));
  return out;
}

}  // namespace
}  // namespace deuteron
