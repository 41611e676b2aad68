// What products and convolutions do to their sums: + bias, activation, with a residual, activation.
#include <cutlass/cutlass.h>
#include <cutlass/arch/arch.h>
#include <cutlass/arch/mma.h>
#include <cutlass/epilogue/thread/activation.h>
#include <cutlass/epilogue/thread/linear_combination.h>
#include <cutlass/epilogue/thread/linear_combination_generic.h>
#include <cutlass/epilogue/thread/linear_combination_residual_block.h>
#include <cutlass/functional.h>
#include <cutlass/gemm/gemm.h>
#include <cutlass/numeric_types.h>

namespace deuteron {
namespace {

// How an operand of an epilogue is laid out: there is none, one value a column, or a whole matrix.
enum class Operand { kNone, kVector, kFull };

// The arithmetic of a type of operand on tensor cores of compute capability 8.0 and later.
template <typename Element>
struct Arithmetic;
template <>
struct Arithmetic<cutlass::half_t> {
  using Sum = float;
  using Operator = cutlass::arch::OpMultiplyAdd;
  using Instruction = cutlass::gemm::GemmShape<16, 8, 16>;
  static constexpr int kDepth = 32;
};
// Three products of rounded operands each: as exact as single precision.
template <>
struct Arithmetic<float> {
  using Sum = float;
  using Operator = cutlass::arch::OpMultiplyAddFastF32;
  using Instruction = cutlass::gemm::GemmShape<16, 8, 8>;
  static constexpr int kDepth = 16;
};
// Sums would saturate only after more than 130,000 products.
template <>
struct Arithmetic<int8_t> {
  using Sum = int32_t;
  using Operator = cutlass::arch::OpMultiplyAddSaturate;
  using Instruction = cutlass::gemm::GemmShape<16, 8, 32>;
  static constexpr int kDepth = 64;
};

// A block of threads computes (kRows, kColumns) of the result, a warp (kWarpRows, kWarpColumns) of these.
template <typename Element, int kRows, int kColumns, int kWarpRows, int kWarpColumns, int kMostStages>
struct Tile {
  static constexpr int kDepth = Arithmetic<Element>::kDepth;
  using Block = cutlass::gemm::GemmShape<kRows, kColumns, kDepth>;
  using Warp = cutlass::gemm::GemmShape<kWarpRows, kWarpColumns, kDepth>;
  static constexpr int kStages = kMostStages;
};

// Asynchronous copies are of four bytes and more; without them there are two stages.
template <typename Element, typename Tile, int kAlignA, int kAlignB>
constexpr int kStagesOf = std::min(kAlignA, kAlignB) * sizeof(Element) < 4 ? 2 : Tile::kStages;

// Of a configuration: what is done where there is no residual.
template <typename Config, typename Sum, bool kHasBias>
struct PlainEpilogue {
  using Type = cutlass::epilogue::thread::LinearCombination<typename Config::Output, Config::kAlignC, Sum, Sum>;
};
template <typename Config, typename Sum>
struct PlainEpilogue<Config, Sum, true> {
  using Type = cutlass::epilogue::thread::LinearCombinationGeneric<
      Config::template Activation, typename Config::Output, Config::kAlignC, Sum, Sum,
      cutlass::epilogue::thread::ScaleType::NoBetaScaling>;
};

template <typename Config, typename Sum>
using ResidualEpilogue = cutlass::epilogue::thread::LinearCombinationResidualBlock<
    typename Config::Output, Sum, Sum, typename Config::Output, Config::kAlignC, Config::template Activation,
    Config::template Combine, Config::template Final>;

void CheckCutlass(cutlass::Status status, const char* what) {
  if (status != cutlass::Status::kSuccess)
    throw Failure{std::string(what) + ": CUTLASS answers " + cutlass::cutlassGetStatusString(status)};
}

// A whole matrix, one value a column, or nothing.
void CheckOperand(Operand kind, const View& operand, const View& result) {
  const int64_t wanted = kind == Operand::kFull ? result.numel() : result.dim(-1);
  if (kind != Operand::kNone && operand.numel() != wanted)
    throw Failure{"an operand of its epilogue is of shape " + Describe(operand)};
}

}  // namespace
}  // namespace deuteron
