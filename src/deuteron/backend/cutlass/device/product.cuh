// Products of matrices.
#include <cutlass/gemm/device/gemm_universal.h>
#include <cutlass/gemm/device/gemm_universal_with_broadcast.h>

namespace deuteron {
namespace {

// Row-major (m, k) by (k, n), `batch` times; a stride of 0 uses one matrix for all.
struct ProductShape {
  int64_t m = 1, n = 1, k = 1, batch = 1;
  int64_t stride_a = 0, stride_b = 0;
  std::vector<int64_t> shape;
};

// `transposed`: the right operand lies as (…, n, k). One of the batches is 1, or both are the same.
inline ProductShape ShapeOfProduct(const View& a, const View& b, bool transposed) {
  ProductShape product;
  const bool row = a.rank() == 1, column = b.rank() == 1;
  product.k = a.dim(-1);
  product.n = column ? 1 : b.dim(transposed ? -2 : -1);
  if (!row) product.m = a.dim(-2);
  const int64_t inner = column ? b.dim(0) : b.dim(transposed ? -1 : -2);
  if (inner != product.k) throw Failure{"the inner dimensions differ"};
  const int64_t batch_a = row ? 1 : a.product(0, a.rank() - 2), batch_b = column ? 1 : b.product(0, b.rank() - 2);
  const int axes_a = std::max(a.rank() - 2, 0), axes_b = std::max(b.rank() - 2, 0);
  for (int i = std::max(axes_a, axes_b); i > 0; --i) {
    const int64_t da = i <= axes_a ? a.dim(-2 - i) : 1, db = i <= axes_b ? b.dim(-2 - i) : 1;
    if (da != db && da != 1 && db != 1) throw Failure{"the batches do not broadcast"};
    if (da != db && batch_a != 1 && batch_b != 1) throw Failure{"the batches broadcast in turns"};
    product.shape.push_back(da == 1 ? db : da);
  }
  if (!row) product.shape.push_back(product.m);
  if (!column) product.shape.push_back(product.n);
  if (batch_b == 1) {
    product.m *= batch_a;
  } else {
    product.batch = batch_b;
    product.stride_a = batch_a == 1 ? 0 : product.m * product.k;
    product.stride_b = product.k * product.n;
  }
  return product;
}

template <typename Config>
using LayoutB =
    std::conditional_t<Config::kTransposed, cutlass::layout::ColumnMajor, cutlass::layout::RowMajor>;

template <typename Gemm>
void RunGemm(Call& call, const typename Gemm::Arguments& arguments) {
  CheckCutlass(Gemm::can_implement(arguments), "it cannot be computed");
  void* workspace = call.Scratch(static_cast<int64_t>(Gemm::get_workspace_size(arguments)));
  Gemm gemm;
  CheckCutlass(gemm(arguments, workspace, call.stream()), "it cannot be started");
}

template <typename Config, typename Tile>
void ProductOfTile(Call& call, const ProductShape& s, const View& a, const View& b, const View* bias,
                   const View* residual, const View& out) {
  using Element = typename Config::Element;
  using Output = typename Config::Output;
  using Sum = typename Arithmetic<Element>::Sum;
  using Row = cutlass::layout::RowMajor;
  constexpr int kStages = kStagesOf<Element, Tile, Config::kAlignA, Config::kAlignB>;
  constexpr auto kMode = cutlass::gemm::GemmUniversalMode::kGemm;
  constexpr auto kBatchedMode = cutlass::gemm::GemmUniversalMode::kBatched;
  const cutlass::gemm::GemmCoord problem(Int(s.m), Int(s.n), Int(s.k));
  const auto mode = s.batch == 1 ? kMode : kBatchedMode;
  const int batch = Int(s.batch);
  const int64_t ldb = Config::kTransposed ? s.k : s.n;
  // A vector is a matrix whose rows are all the same one.
  const auto stride_of = [&](Operand kind) { return kind == Operand::kFull ? s.m * s.n : int64_t{0}; };
  const auto rows_of = [&](Operand kind) { return kind == Operand::kFull ? s.n : int64_t{0}; };
  if constexpr (Config::kResidual == Operand::kNone) {
    using Epilogue = typename PlainEpilogue<Config, Sum, Config::kBias != Operand::kNone>::Type;
    using Gemm = cutlass::gemm::device::GemmUniversal<
        Element, Row, Element, LayoutB<Config>, Output, Row, Sum, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
        typename Tile::Block, typename Tile::Warp, typename Arithmetic<Element>::Instruction, Epilogue,
        cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<8>, kStages, Config::kAlignA, Config::kAlignB,
        typename Arithmetic<Element>::Operator>;
    const void* c = bias == nullptr ? out.data : bias->data;
    const Sum beta = bias == nullptr ? Sum(0) : Sum(1);
    RunGemm<Gemm>(call, {mode, problem, batch, {Sum(1), beta}, a.data, b.data, c, out.data, s.stride_a, s.stride_b,
                         stride_of(Config::kBias), s.m * s.n, s.k, ldb, rows_of(Config::kBias), s.n});
  } else {
    using Gemm = cutlass::gemm::device::GemmUniversalWithBroadcast<
        Element, Row, Element, LayoutB<Config>, Output, Row, Sum, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
        typename Tile::Block, typename Tile::Warp, typename Arithmetic<Element>::Instruction,
        ResidualEpilogue<Config, Sum>, cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<8>, kStages,
        Config::kAlignA, Config::kAlignB, typename Arithmetic<Element>::Operator>;
    static_assert(Config::kBias == Operand::kVector, "the bias before a residual is a vector");
    RunGemm<Gemm>(call, {mode, problem, batch, {Sum(1), Sum(1)}, a.data, b.data, residual->data, out.data, bias->data,
                         nullptr, s.stride_a, s.stride_b, stride_of(Config::kResidual), s.m * s.n, 0, 0,
                         static_cast<int>(s.k), static_cast<int>(ldb), static_cast<int>(rows_of(Config::kResidual)),
                         static_cast<int>(s.n), 0, 0});
  }
}

// Operands: left, right, bias, residual, as the configuration has them. `result`: which result of the call, or -1.
template <typename Config>
View Product(Call& call, View a, View b, const View* bias, const View* residual, int result) {
  const ProductShape shape = ShapeOfProduct(a, b, Config::kTransposed);
  const View out = call.Place(result, shape.shape, sizeof(typename Config::Output));
  if (out.numel() == 0) return out;
  if (bias != nullptr) CheckOperand(Config::kBias, *bias, out);
  if (residual != nullptr) CheckOperand(Config::kResidual, *residual, out);
  const int64_t blocks = ((shape.m + 127) / 128) * ((shape.n + 127) / 128) * shape.batch;
  a = call.Aligned(a);
  b = call.Aligned(b);
  const View aligned_bias = bias == nullptr ? View() : call.Aligned(*bias);
  const View aligned_residual = residual == nullptr ? View() : call.Aligned(*residual);
  if (bias != nullptr) bias = &aligned_bias;
  if (residual != nullptr) residual = &aligned_residual;
  const View place = call.AlignedPlace(out);
  if constexpr (Config::kLarge && Config::kSmall) {
    if (blocks < Config::kProcessors) {
      ProductOfTile<Config, typename Config::Small>(call, shape, a, b, bias, residual, place);
    } else {
      ProductOfTile<Config, typename Config::Large>(call, shape, a, b, bias, residual, place);
    }
  } else {
    using Only = std::conditional_t<Config::kLarge, typename Config::Large, typename Config::Small>;
    ProductOfTile<Config, Only>(call, shape, a, b, bias, residual, place);
  }
  call.Move(place, out);
  return out;
}

}  // namespace
}  // namespace deuteron
