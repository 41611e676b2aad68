// Convolutions of (n, h, w, c) by (o, r, s, c) to (n, p, q, o).
#include <cutlass/conv/conv2d_problem_size.h>
#include <cutlass/conv/conv3d_problem_size.h>
#include <cutlass/conv/device/implicit_gemm_convolution.h>
#include <cutlass/conv/kernel/default_conv2d_fprop.h>
#include <cutlass/conv/kernel/default_conv2d_fprop_with_broadcast.h>

namespace deuteron {
namespace {

struct ConvolutionShape {
  int strides[2];
  // Top, left, bottom, right.
  int padding[4];
  int dilation[2];
};

inline int64_t ConvolvedExtent(int64_t in, int64_t kernel, int before, int after, int stride, int dilation) {
  return (in + before + after - dilation * (kernel - 1) - 1) / stride + 1;
}

// `bias` and `residual` null where the configuration has none.
template <typename Config>
View Convolution(Call& call, const ConvolutionShape& shape, View x, View w, const View* bias, const View* residual,
                 int result) {
  using Element = typename Config::Element;
  using Output = typename Config::Output;
  using Sum = typename Arithmetic<Element>::Sum;
  using Tile = std::conditional_t<Config::kLarge, typename Config::Large, typename Config::Small>;
  using Layout = cutlass::layout::TensorNHWC;
  constexpr int kStages = kStagesOf<Element, Tile, Config::kAlignA, Config::kAlignB>;
  constexpr auto kIterator = cutlass::conv::IteratorAlgorithm::kOptimized;
  constexpr auto kStrides = cutlass::conv::StrideSupport::kStrided;
  using Swizzle = cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<4>;

  const int64_t p = ConvolvedExtent(x.dim(1), w.dim(1), shape.padding[0], shape.padding[2], shape.strides[0],
                                    shape.dilation[0]);
  const int64_t q = ConvolvedExtent(x.dim(2), w.dim(2), shape.padding[1], shape.padding[3], shape.strides[1],
                                    shape.dilation[1]);
  const View out = call.Place(result, {x.dim(0), p, q, w.dim(0)}, sizeof(Output));
  if (out.numel() == 0) return out;
  if (x.dim(3) != w.dim(3)) throw Failure{"the channels differ"};
  if (bias != nullptr) CheckOperand(Config::kBias, *bias, out);
  if (residual != nullptr) CheckOperand(Config::kResidual, *residual, out);
  x = call.Aligned(x);
  w = call.Aligned(w);
  const View place = call.AlignedPlace(out);
  const int n = Int(x.dim(0)), h = Int(x.dim(1)), width = Int(x.dim(2)), c = Int(x.dim(3)), o = Int(w.dim(0));
  // Bottom and right paddings follow from the result's extents: what lies outside is read as zero.
  const cutlass::conv::Conv2dProblemSize problem(n, h, width, c, o, Int(w.dim(1)), Int(w.dim(2)), Int(p), Int(q),
                                                 shape.padding[0], shape.padding[1], shape.strides[0],
                                                 shape.strides[1], shape.dilation[0], shape.dilation[1],
                                                 cutlass::conv::Mode::kCrossCorrelation);
  const Layout x_layout = Layout::packed({n, h, width, c}), w_layout = Layout::packed({o, problem.R, problem.S, c}),
               out_layout = Layout::packed({n, problem.P, problem.Q, o});
  const auto layout_of = [&](Operand kind) { return kind == Operand::kFull ? out_layout : Layout(Layout::Stride(0)); };
  const auto run = [&](auto device, const auto& arguments) {
    using Device = decltype(device);
    CheckCutlass(Device::can_implement(arguments), "it cannot be computed");
    void* workspace = call.Scratch(static_cast<int64_t>(Device::get_workspace_size(arguments)));
    CheckCutlass(device(arguments, workspace, call.stream()), "it cannot be started");
  };
  if constexpr (Config::kResidual == Operand::kNone) {
    using Epilogue = typename PlainEpilogue<Config, Sum, Config::kBias != Operand::kNone>::Type;
    using Kernel = typename cutlass::conv::kernel::DefaultConv2dFprop<
        Element, Layout, Element, Layout, Output, Layout, Sum, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
        typename Tile::Block, typename Tile::Warp, typename Arithmetic<Element>::Instruction, Epilogue, Swizzle,
        kStages, typename Arithmetic<Element>::Operator, kIterator, kStrides, Config::kAlignA,
        Config::kAlignB>::Kernel;
    using Device = cutlass::conv::device::ImplicitGemmConvolution<Kernel>;
    const View aligned = bias == nullptr ? place : call.Aligned(*bias);
    const typename Device::Arguments arguments(
        problem, {x.as<Element>(), x_layout}, {w.as<Element>(), w_layout},
        {aligned.as<Output>(), bias == nullptr ? out_layout : layout_of(Config::kBias)},
        {place.as<Output>(), out_layout}, {Sum(1), bias == nullptr ? Sum(0) : Sum(1)});
    run(Device(), arguments);
  } else {
    static_assert(Config::kBias == Operand::kVector, "the bias before a residual is a vector");
    using Kernel = typename cutlass::conv::kernel::DefaultConv2dFpropWithBroadcast<
        Element, Layout, Element, Layout, Output, Layout, Sum, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
        typename Tile::Block, typename Tile::Warp, typename Arithmetic<Element>::Instruction,
        ResidualEpilogue<Config, Sum>, Swizzle, kStages, typename Arithmetic<Element>::Operator, kIterator, kStrides,
        Config::kAlignA, Config::kAlignB>::Kernel;
    using Device = cutlass::conv::device::ImplicitGemmConvolution<Kernel>;
    const View aligned_bias = call.Aligned(*bias), aligned_residual = call.Aligned(*residual);
    const typename Device::Arguments arguments(
        problem, {x.as<Element>(), x_layout}, {w.as<Element>(), w_layout},
        {aligned_residual.as<Output>(), layout_of(Config::kResidual)}, {place.as<Output>(), out_layout},
        {Sum(1), Sum(1)}, cutlass::conv::SplitKMode::kSerial, aligned_bias.data, nullptr, 0, 0);
    run(Device(), arguments);
  }
  call.Move(place, out);
  return out;
}

}  // namespace
}  // namespace deuteron
