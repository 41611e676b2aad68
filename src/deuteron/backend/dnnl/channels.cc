#include "deuteron/backend/dnnl/channels.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "deuteron/backend/dnnl/plan.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace deuteron::backend::dnnl {
namespace {

/// Elements of a side of a block that goes through registers.
constexpr int64_t kBlock = 8;
/// A thread transposes so many elements at least.
constexpr int64_t kGrain = 1 << 13;

/// Columns [begin, end) of a matrix become rows.
struct Stripe {
  const float* from;
  float* to;
  int64_t rows, columns;

  void Plain(int64_t first_row, int64_t begin, int64_t end) const {
    for (int64_t column = begin; column < end; ++column) {
      for (int64_t row = first_row; row < rows; ++row) to[column * rows + row] = from[row * columns + column];
    }
  }

#if defined(__x86_64__)
  __attribute__((target("avx"))) static void Block(const float* from, int64_t from_stride, float* to,
                                                   int64_t to_stride) {
    __m256 a[kBlock], b[kBlock];
    for (int64_t i = 0; i < kBlock; ++i) a[i] = _mm256_loadu_ps(from + i * from_stride);
    for (int64_t i = 0; i < kBlock; i += 2) {
      b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
      b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
    }
    for (int64_t i = 0; i < kBlock; i += 4) {
      a[i] = _mm256_shuffle_ps(b[i], b[i + 2], 0x44);
      a[i + 1] = _mm256_shuffle_ps(b[i], b[i + 2], 0xee);
      a[i + 2] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0x44);
      a[i + 3] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0xee);
    }
    for (int64_t i = 0; i < kBlock / 2; ++i) {
      _mm256_storeu_ps(to + i * to_stride, _mm256_permute2f128_ps(a[i], a[i + 4], 0x20));
      _mm256_storeu_ps(to + (i + 4) * to_stride, _mm256_permute2f128_ps(a[i], a[i + 4], 0x31));
    }
  }

  /// A column of blocks at a time: their results follow each other in eight rows.
  __attribute__((target("avx"))) void Blocks(int64_t begin, int64_t end) const {
    const int64_t whole_rows = rows / kBlock * kBlock;
    int64_t column = begin;
    for (; column + kBlock <= end; column += kBlock) {
      for (int64_t row = 0; row < whole_rows; row += kBlock) {
        Block(from + row * columns + column, columns, to + column * rows + row, rows);
      }
      Plain(whole_rows, column, column + kBlock);
    }
    Plain(0, column, end);
  }
#endif

  void Run(int64_t begin, int64_t end) const {
#if defined(__x86_64__)
    static const bool has_avx = (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx) == dnnl_cpu_isa_avx;
    if (has_avx) return Blocks(begin, end);
#endif
    Plain(0, begin, end);
  }
};

/// Whether a tensor of float32 lies dense in this order of its axes, outermost first.
bool LiesAs(const memory::desc& desc, const std::vector<int>& order) {
  const memory::dims dims = desc.get_dims(), strides = desc.get_strides();
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const auto axis = static_cast<size_t>(order[i]);
    if (dims[axis] != 1 && strides[axis] != stride) return false;
    stride *= dims[axis];
  }
  return true;
}

}  // namespace

void Transposition::Run(const float* from, float* to, const DeuteronHost* host) const {
  // Pieces are columns of the matrices one after the other, in blocks.
  struct Work {
    const Transposition* self;
    const float* from;
    float* to;
    int64_t blocks;
  } work{this, from, to, (columns + kBlock - 1) / kBlock};
  const auto body = [](void* closure, int64_t begin, int64_t end) {
    const auto& [self, from, to, blocks] = *static_cast<const Work*>(closure);
    while (begin < end) {
      const int64_t matrix = begin / blocks, first = begin % blocks;
      const int64_t last = std::min(blocks, first + end - begin);
      const int64_t offset = matrix * self->rows * self->columns;
      Stripe{from + offset, to + offset, self->rows, self->columns}.Run(first * kBlock,
                                                                        std::min(last * kBlock, self->columns));
      begin += last - first;
    }
    return 0;
  };
  host->parallel_for(count * work.blocks, std::max<int64_t>(kGrain / (kBlock * rows), 1), body, &work);
}

std::optional<Transposition> AsTransposition(const memory::desc& from, const memory::desc& to) {
  const memory::dims dims = from.get_dims();
  if (dims.size() < 3 || to.get_dims() != dims) return std::nullopt;
  for (const memory::desc* desc : {&from, &to}) {
    if (desc->get_data_type() != memory::data_type::f32 || desc->get_format_kind() != memory::format_kind::blocked ||
        desc->get_inner_nblks() != 0 || desc->get_submemory_offset() != 0 || desc->get_padded_dims() != dims) {
      return std::nullopt;
    }
  }
  std::vector<int> first = {0, 1}, last = {0};
  int64_t pixels = 1;
  for (size_t axis = 2; axis < dims.size(); ++axis) {
    first.push_back(static_cast<int>(axis));
    last.push_back(static_cast<int>(axis));
    pixels *= dims[axis];
  }
  last.push_back(1);
  if (dims[1] == 1 || pixels == 1 || IsEmpty(dims)) return std::nullopt;
  if (LiesAs(from, first) && LiesAs(to, last)) return Transposition{dims[0], dims[1], pixels};
  if (LiesAs(from, last) && LiesAs(to, first)) return Transposition{dims[0], pixels, dims[1]};
  return std::nullopt;
}

}  // namespace deuteron::backend::dnnl
