#include "deuteron/relax/op/nn_attrs.h"

#include "deuteron/relax/op/linear_algebra.h"

namespace deuteron::relax {
namespace {

Array<int64_t> Filled(size_t count, int64_t value) {
  Array<int64_t> values;
  for (size_t i = 0; i < count; ++i) values.push_back(value);
  return values;
}

constexpr const char* kDataLayouts[] = {"NCW", "NCHW", "NCDHW"};
constexpr const char* kKernelLayouts[] = {"OIW", "OIHW", "OIDHW"};
constexpr const char* kTransposedKernelLayouts[] = {"IOW", "IOHW", "IODHW"};

void SetConvDefaults(ConvAttrsNode* attrs, size_t rank) {
  attrs->strides = Filled(rank, 1);
  attrs->padding = Filled(2 * rank, 0);
  attrs->dilation = Filled(rank, 1);
  attrs->data_layout = kDataLayouts[rank - 1];
  attrs->kernel_layout = kKernelLayouts[rank - 1];
  attrs->out_layout = kDataLayouts[rank - 1];
}
void SetConvTransposeDefaults(ConvTransposeAttrsNode* attrs, size_t rank) {
  attrs->strides = Filled(rank, 1);
  attrs->padding = Filled(2 * rank, 0);
  attrs->output_padding = Filled(rank, 0);
  attrs->dilation = Filled(rank, 1);
  attrs->data_layout = kDataLayouts[rank - 1];
  attrs->kernel_layout = kTransposedKernelLayouts[rank - 1];
  attrs->out_layout = kDataLayouts[rank - 1];
}
void SetPoolDefaults(PoolAttrsNode* attrs, size_t rank) {
  attrs->pool_size = Filled(rank, 1);
  attrs->strides = Filled(rank, 1);
  attrs->dilation = Filled(rank, 1);
  attrs->padding = Filled(2 * rank, 0);
  attrs->layout = kDataLayouts[rank - 1];
  attrs->out_layout = kDataLayouts[rank - 1];
}
void SetAdaptivePoolDefaults(AdaptivePoolAttrsNode* attrs, size_t rank) {
  attrs->layout = kDataLayouts[rank - 1];
  attrs->out_layout = kDataLayouts[rank - 1];
}

}  // namespace

#define DEUTERON_RANKED(Family, Suffix)                                                                          \
  Family##1D##Suffix##AttrsNode::Family##1D##Suffix##AttrsNode() { Set##Family##Suffix##Defaults(this, 1); }     \
  Family##2D##Suffix##AttrsNode::Family##2D##Suffix##AttrsNode() { Set##Family##Suffix##Defaults(this, 2); }     \
  Family##3D##Suffix##AttrsNode::Family##3D##Suffix##AttrsNode() { Set##Family##Suffix##Defaults(this, 3); }     \
  void Family##1D##Suffix##AttrsNode::RegisterReflection() { refl::ObjectDef<Family##1D##Suffix##AttrsNode>(); } \
  void Family##2D##Suffix##AttrsNode::RegisterReflection() { refl::ObjectDef<Family##2D##Suffix##AttrsNode>(); } \
  void Family##3D##Suffix##AttrsNode::RegisterReflection() { refl::ObjectDef<Family##3D##Suffix##AttrsNode>(); }
DEUTERON_RANKED(Conv, )
DEUTERON_RANKED(Conv, Transpose)
DEUTERON_RANKED(Pool, )
DEUTERON_RANKED(AdaptivePool, )
#undef DEUTERON_RANKED

void ConvAttrsNode::RegisterReflection() {
  refl::ObjectDef<ConvAttrsNode>()
      .def_ro("strides", &ConvAttrsNode::strides)
      .def_ro("padding", &ConvAttrsNode::padding)
      .def_ro("dilation", &ConvAttrsNode::dilation)
      .def_ro("groups", &ConvAttrsNode::groups)
      .def_ro("data_layout", &ConvAttrsNode::data_layout)
      .def_ro("kernel_layout", &ConvAttrsNode::kernel_layout)
      .def_ro("out_layout", &ConvAttrsNode::out_layout)
      .def_ro("out_dtype", &ConvAttrsNode::out_dtype);
}
void ConvPackAttrsNode::RegisterReflection() {
  refl::ObjectDef<ConvPackAttrsNode>()
      .def_ro("channels", &ConvPackAttrsNode::channels)
      .def_ro("packing", &ConvPackAttrsNode::packing);
}
void UnfoldLinesAttrsNode::RegisterReflection() {
  refl::ObjectDef<UnfoldLinesAttrsNode>()
      .def_ro("data_layout", &UnfoldLinesAttrsNode::data_layout)
      .def_ro("taps", &UnfoldLinesAttrsNode::taps)
      .def_ro("places", &UnfoldLinesAttrsNode::places)
      .def_ro("stride", &UnfoldLinesAttrsNode::stride)
      .def_ro("dilation", &UnfoldLinesAttrsNode::dilation);
}
void WinogradInputAttrsNode::RegisterReflection() {
  refl::ObjectDef<WinogradInputAttrsNode>()
      .def_ro("padding", &WinogradInputAttrsNode::padding)
      .def_ro("tiles", &WinogradInputAttrsNode::tiles);
}
void WinogradOutputAttrsNode::RegisterReflection() {
  refl::ObjectDef<WinogradOutputAttrsNode>()
      .def_ro("size", &WinogradOutputAttrsNode::size)
      .def_ro("tiles", &WinogradOutputAttrsNode::tiles);
}
void WinogradConvAttrsNode::RegisterReflection() {
  refl::ObjectDef<WinogradConvAttrsNode>()
      .def_ro("padding", &WinogradConvAttrsNode::padding)
      .def_ro("dilation", &WinogradConvAttrsNode::dilation)
      .def_ro("channels", &WinogradConvAttrsNode::channels);
}
void ConvTransposeAttrsNode::RegisterReflection() {
  refl::ObjectDef<ConvTransposeAttrsNode>()
      .def_ro("strides", &ConvTransposeAttrsNode::strides)
      .def_ro("padding", &ConvTransposeAttrsNode::padding)
      .def_ro("output_padding", &ConvTransposeAttrsNode::output_padding)
      .def_ro("dilation", &ConvTransposeAttrsNode::dilation)
      .def_ro("groups", &ConvTransposeAttrsNode::groups)
      .def_ro("data_layout", &ConvTransposeAttrsNode::data_layout)
      .def_ro("kernel_layout", &ConvTransposeAttrsNode::kernel_layout)
      .def_ro("out_layout", &ConvTransposeAttrsNode::out_layout)
      .def_ro("out_dtype", &ConvTransposeAttrsNode::out_dtype);
}
void PoolAttrsNode::RegisterReflection() {
  refl::ObjectDef<PoolAttrsNode>()
      .def_ro("pool_size", &PoolAttrsNode::pool_size)
      .def_ro("strides", &PoolAttrsNode::strides)
      .def_ro("dilation", &PoolAttrsNode::dilation)
      .def_ro("padding", &PoolAttrsNode::padding)
      .def_ro("ceil_mode", &PoolAttrsNode::ceil_mode)
      .def_ro("count_include_pad", &PoolAttrsNode::count_include_pad)
      .def_ro("layout", &PoolAttrsNode::layout)
      .def_ro("out_layout", &PoolAttrsNode::out_layout);
}
void AdaptivePoolAttrsNode::RegisterReflection() {
  refl::ObjectDef<AdaptivePoolAttrsNode>()
      .def_ro("output_size", &AdaptivePoolAttrsNode::output_size)
      .def_ro("layout", &AdaptivePoolAttrsNode::layout)
      .def_ro("out_layout", &AdaptivePoolAttrsNode::out_layout);
}
void LeakyReluAttrsNode::RegisterReflection() {
  refl::ObjectDef<LeakyReluAttrsNode>().def_ro("alpha", &LeakyReluAttrsNode::alpha);
}
void PReluAttrsNode::RegisterReflection() { refl::ObjectDef<PReluAttrsNode>().def_ro("axis", &PReluAttrsNode::axis); }
void SoftplusAttrsNode::RegisterReflection() {
  refl::ObjectDef<SoftplusAttrsNode>()
      .def_ro("beta", &SoftplusAttrsNode::beta)
      .def_ro("threshold", &SoftplusAttrsNode::threshold);
}
void SoftmaxAttrsNode::RegisterReflection() {
  refl::ObjectDef<SoftmaxAttrsNode>().def_ro("axis", &SoftmaxAttrsNode::axis);
}
void DropoutAttrsNode::RegisterReflection() {
  refl::ObjectDef<DropoutAttrsNode>().def_ro("rate", &DropoutAttrsNode::rate);
}
void BatchNormAttrsNode::RegisterReflection() {
  refl::ObjectDef<BatchNormAttrsNode>()
      .def_ro("axis", &BatchNormAttrsNode::axis)
      .def_ro("epsilon", &BatchNormAttrsNode::epsilon)
      .def_ro("center", &BatchNormAttrsNode::center)
      .def_ro("scale", &BatchNormAttrsNode::scale)
      .def_ro("momentum", &BatchNormAttrsNode::momentum)
      .def_ro("training", &BatchNormAttrsNode::training);
}
void LayerNormAttrsNode::RegisterReflection() {
  refl::ObjectDef<LayerNormAttrsNode>()
      .def_ro("axes", &LayerNormAttrsNode::axes)
      .def_ro("epsilon", &LayerNormAttrsNode::epsilon)
      .def_ro("center", &LayerNormAttrsNode::center)
      .def_ro("scale", &LayerNormAttrsNode::scale);
}
void GroupNormAttrsNode::RegisterReflection() {
  refl::ObjectDef<GroupNormAttrsNode>()
      .def_ro("num_groups", &GroupNormAttrsNode::num_groups)
      .def_ro("channel_axis", &GroupNormAttrsNode::channel_axis)
      .def_ro("axes", &GroupNormAttrsNode::axes)
      .def_ro("epsilon", &GroupNormAttrsNode::epsilon)
      .def_ro("center", &GroupNormAttrsNode::center)
      .def_ro("scale", &GroupNormAttrsNode::scale);
}
void InstanceNormAttrsNode::RegisterReflection() {
  refl::ObjectDef<InstanceNormAttrsNode>()
      .def_ro("channel_axis", &InstanceNormAttrsNode::channel_axis)
      .def_ro("axes", &InstanceNormAttrsNode::axes)
      .def_ro("epsilon", &InstanceNormAttrsNode::epsilon)
      .def_ro("center", &InstanceNormAttrsNode::center)
      .def_ro("scale", &InstanceNormAttrsNode::scale);
}
void RMSNormAttrsNode::RegisterReflection() {
  refl::ObjectDef<RMSNormAttrsNode>()
      .def_ro("axes", &RMSNormAttrsNode::axes)
      .def_ro("epsilon", &RMSNormAttrsNode::epsilon);
}
void PadAttrsNode::RegisterReflection() {
  refl::ObjectDef<PadAttrsNode>()
      .def_ro("pad_width", &PadAttrsNode::pad_width)
      .def_ro("pad_value", &PadAttrsNode::pad_value)
      .def_ro("pad_mode", &PadAttrsNode::pad_mode);
}
void PixelShuffleAttrsNode::RegisterReflection() {
  refl::ObjectDef<PixelShuffleAttrsNode>().def_ro("upscale_factor", &PixelShuffleAttrsNode::upscale_factor);
}
void AttentionAttrsNode::RegisterReflection() {
  refl::ObjectDef<AttentionAttrsNode>()
      .def_ro("scale", &AttentionAttrsNode::scale)
      .def_ro("causal_mask", &AttentionAttrsNode::causal_mask)
      .def_ro("window_size", &AttentionAttrsNode::window_size);
}
void MatmulAttrsNode::RegisterReflection() {
  refl::ObjectDef<MatmulAttrsNode>().def_ro("out_dtype", &MatmulAttrsNode::out_dtype);
}
void MatmulPackAttrsNode::RegisterReflection() {
  refl::ObjectDef<MatmulPackAttrsNode>().def_ro("packing", &MatmulPackAttrsNode::packing);
}
void DensePackAttrsNode::RegisterReflection() {
  refl::ObjectDef<DensePackAttrsNode>()
      .def_ro("columns", &DensePackAttrsNode::columns)
      .def_ro("packing", &DensePackAttrsNode::packing)
      .def_ro("out_dtype", &DensePackAttrsNode::out_dtype);
}
void EinsumAttrsNode::RegisterReflection() {
  refl::ObjectDef<EinsumAttrsNode>().def_ro("subscripts", &EinsumAttrsNode::subscripts);
}

DEUTERON_REFLECTION() {
  ConvAttrsNode::RegisterReflection();
  Conv1DAttrsNode::RegisterReflection();
  Conv2DAttrsNode::RegisterReflection();
  Conv3DAttrsNode::RegisterReflection();
  ConvPackAttrsNode::RegisterReflection();
  UnfoldLinesAttrsNode::RegisterReflection();
  WinogradInputAttrsNode::RegisterReflection();
  WinogradOutputAttrsNode::RegisterReflection();
  WinogradConvAttrsNode::RegisterReflection();
  ConvTransposeAttrsNode::RegisterReflection();
  Conv1DTransposeAttrsNode::RegisterReflection();
  Conv2DTransposeAttrsNode::RegisterReflection();
  Conv3DTransposeAttrsNode::RegisterReflection();
  PoolAttrsNode::RegisterReflection();
  Pool1DAttrsNode::RegisterReflection();
  Pool2DAttrsNode::RegisterReflection();
  Pool3DAttrsNode::RegisterReflection();
  AdaptivePoolAttrsNode::RegisterReflection();
  AdaptivePool1DAttrsNode::RegisterReflection();
  AdaptivePool2DAttrsNode::RegisterReflection();
  AdaptivePool3DAttrsNode::RegisterReflection();
  LeakyReluAttrsNode::RegisterReflection();
  PReluAttrsNode::RegisterReflection();
  SoftplusAttrsNode::RegisterReflection();
  SoftmaxAttrsNode::RegisterReflection();
  DropoutAttrsNode::RegisterReflection();
  BatchNormAttrsNode::RegisterReflection();
  LayerNormAttrsNode::RegisterReflection();
  GroupNormAttrsNode::RegisterReflection();
  InstanceNormAttrsNode::RegisterReflection();
  RMSNormAttrsNode::RegisterReflection();
  PadAttrsNode::RegisterReflection();
  PixelShuffleAttrsNode::RegisterReflection();
  AttentionAttrsNode::RegisterReflection();
  MatmulAttrsNode::RegisterReflection();
  MatmulPackAttrsNode::RegisterReflection();
  DensePackAttrsNode::RegisterReflection();
  EinsumAttrsNode::RegisterReflection();
}

}  // namespace deuteron::relax
