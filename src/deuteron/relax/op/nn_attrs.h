/// \file
/// Attributes of the neural-network operators. Fields print in this order.
#pragma once

#include "deuteron/ir/attrs.h"
#include "deuteron/ir/dtype.h"

namespace deuteron::relax {

/// Base of the convolutions. One value an axis; padding: begin of each axis, then end of each.
class ConvAttrsNode : public AttrsNode {
 public:
  Array<int64_t> strides = kEmpty;
  Array<int64_t> padding = kEmpty;
  Array<int64_t> dilation = kEmpty;
  int64_t groups = 1;
  String data_layout;
  String kernel_layout;
  /// Empty: as data_layout.
  String out_layout;
  /// Null: as the data's.
  Optional<DataType> out_dtype;
  static void RegisterReflection();
  DEUTERON_BASE_NODE("deuteron.relax.ConvAttrs", ConvAttrsNode, AttrsNode);
};
class ConvAttrs : public Attrs {
 public:
  DEUTERON_REF(ConvAttrs, Attrs, ConvAttrsNode);
};
/// Base of the transposed convolutions. output_padding: rows added at the end of each axis.
class ConvTransposeAttrsNode : public AttrsNode {
 public:
  Array<int64_t> strides = kEmpty;
  Array<int64_t> padding = kEmpty;
  Array<int64_t> output_padding = kEmpty;
  Array<int64_t> dilation = kEmpty;
  int64_t groups = 1;
  String data_layout;
  String kernel_layout;
  String out_layout;
  Optional<DataType> out_dtype;
  static void RegisterReflection();
  DEUTERON_BASE_NODE("deuteron.relax.ConvTransposeAttrs", ConvTransposeAttrsNode, AttrsNode);
};
class ConvTransposeAttrs : public Attrs {
 public:
  DEUTERON_REF(ConvTransposeAttrs, Attrs, ConvTransposeAttrsNode);
};
/// Base of the pools.
class PoolAttrsNode : public AttrsNode {
 public:
  Array<int64_t> pool_size = kEmpty;
  Array<int64_t> strides = kEmpty;
  Array<int64_t> dilation = kEmpty;
  Array<int64_t> padding = kEmpty;
  /// Round the number of windows up; windows that begin in the padding at the end do not count.
  bool ceil_mode = false;
  /// Average: divide by the size of the window rather than by the elements of it that exist.
  bool count_include_pad = false;
  String layout;
  String out_layout;
  static void RegisterReflection();
  DEUTERON_BASE_NODE("deuteron.relax.PoolAttrs", PoolAttrsNode, AttrsNode);
};
class PoolAttrs : public Attrs {
 public:
  DEUTERON_REF(PoolAttrs, Attrs, PoolAttrsNode);
};
/// Base of the adaptive pools. output_size null: as the input.
class AdaptivePoolAttrsNode : public AttrsNode {
 public:
  Optional<Array<int64_t>> output_size;
  String layout;
  String out_layout;
  static void RegisterReflection();
  DEUTERON_BASE_NODE("deuteron.relax.AdaptivePoolAttrs", AdaptivePoolAttrsNode, AttrsNode);
};
class AdaptivePoolAttrs : public Attrs {
 public:
  DEUTERON_REF(AdaptivePoolAttrs, Attrs, AdaptivePoolAttrsNode);
};

/// One class an operator family and rank; default-constructed nodes hold the defaults of that rank.
#define DEUTERON_RANKED_ATTRS(Name, Base)                                             \
  class Name##AttrsNode : public Base##AttrsNode {                                    \
   public:                                                                            \
    Name##AttrsNode();                                                                \
    DEUTERON_NODE("deuteron.relax." #Name "Attrs", Name##AttrsNode, Base##AttrsNode); \
  };                                                                                  \
  class Name##Attrs : public Base##Attrs {                                            \
   public:                                                                            \
    DEUTERON_REF(Name##Attrs, Base##Attrs, Name##AttrsNode);                          \
  };
DEUTERON_RANKED_ATTRS(Conv1D, Conv)
DEUTERON_RANKED_ATTRS(Conv2D, Conv)
DEUTERON_RANKED_ATTRS(Conv3D, Conv)
DEUTERON_RANKED_ATTRS(Conv1DTranspose, ConvTranspose)
DEUTERON_RANKED_ATTRS(Conv2DTranspose, ConvTranspose)
DEUTERON_RANKED_ATTRS(Conv3DTranspose, ConvTranspose)
DEUTERON_RANKED_ATTRS(Pool1D, Pool)
DEUTERON_RANKED_ATTRS(Pool2D, Pool)
DEUTERON_RANKED_ATTRS(Pool3D, Pool)
DEUTERON_RANKED_ATTRS(AdaptivePool1D, AdaptivePool)
DEUTERON_RANKED_ATTRS(AdaptivePool2D, AdaptivePool)
DEUTERON_RANKED_ATTRS(AdaptivePool3D, AdaptivePool)
#undef DEUTERON_RANKED_ATTRS

/// Of convolutions of any rank whose weights PackWeights laid out. Their blocks may have more output channels than the
/// result, the last ones being zeros; those of groups have as many.
class ConvPackAttrsNode : public ConvAttrsNode {
 public:
  /// Output channels of the result.
  int64_t channels = 0;
  /// How channels share an element of both operands (topi::Packing).
  String packing;
  static void RegisterReflection();
  DEUTERON_BASE_NODE("deuteron.relax.ConvPackAttrs", ConvPackAttrsNode, ConvAttrsNode);
};
class ConvPackAttrs : public ConvAttrs {
 public:
  DEUTERON_REF(ConvPackAttrs, ConvAttrs, ConvPackAttrsNode);
};

class UnfoldLinesAttrsNode : public AttrsNode {
 public:
  String data_layout = "NCHW";
  /// Of a window's line: its elements, and the places for them in the result.
  int64_t taps = 1;
  int64_t places = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  DEUTERON_NODE("deuteron.relax.UnfoldLinesAttrs", UnfoldLinesAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(UnfoldLinesAttrs)
class WinogradInputAttrsNode : public AttrsNode {
 public:
  /// Zeros above, left, below and right of the image.
  Array<int64_t> padding;
  /// Tiles down and across, at least those of the result; what they have too many are tiles of zeros.
  Array<int64_t> tiles;
  DEUTERON_NODE("deuteron.relax.WinogradInputAttrs", WinogradInputAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(WinogradInputAttrs)
class WinogradOutputAttrsNode : public AttrsNode {
 public:
  /// Rows and columns of the result.
  Array<int64_t> size;
  /// Tiles down and across.
  Array<int64_t> tiles;
  DEUTERON_NODE("deuteron.relax.WinogradOutputAttrs", WinogradOutputAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(WinogradOutputAttrs)
class WinogradConvAttrsNode : public AttrsNode {
 public:
  /// Zeros above, left, below and right of the image; of one with slices, before, above, left, behind, below, right.
  Array<int64_t> padding;
  /// Of rows and columns; one value for both, and for slices, which are not dilated, if there are more.
  Array<int64_t> dilation = {1};
  /// Of the result: fewer than those of all panels if the last panel is filled up; 0: as many.
  int64_t channels = 0;
  DEUTERON_NODE("deuteron.relax.WinogradConvAttrs", WinogradConvAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(WinogradConvAttrs)

class LeakyReluAttrsNode : public AttrsNode {
 public:
  double alpha = 0.01;
  DEUTERON_NODE("deuteron.relax.LeakyReluAttrs", LeakyReluAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(LeakyReluAttrs)

class PReluAttrsNode : public AttrsNode {
 public:
  int64_t axis = 1;
  DEUTERON_NODE("deuteron.relax.PReluAttrs", PReluAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(PReluAttrs)

class SoftplusAttrsNode : public AttrsNode {
 public:
  double beta = 1.0;
  double threshold = 20.0;
  DEUTERON_NODE("deuteron.relax.SoftplusAttrs", SoftplusAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(SoftplusAttrs)

/// softmax and log_softmax.
class SoftmaxAttrsNode : public AttrsNode {
 public:
  int64_t axis = -1;
  DEUTERON_NODE("deuteron.relax.SoftmaxAttrs", SoftmaxAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(SoftmaxAttrs)

class DropoutAttrsNode : public AttrsNode {
 public:
  double rate = 0.5;
  DEUTERON_NODE("deuteron.relax.DropoutAttrs", DropoutAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(DropoutAttrs)

class BatchNormAttrsNode : public AttrsNode {
 public:
  int64_t axis = 1;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;
  double momentum = 0.1;
  bool training = true;
  DEUTERON_NODE("deuteron.relax.BatchNormAttrs", BatchNormAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(BatchNormAttrs)

class LayerNormAttrsNode : public AttrsNode {
 public:
  Array<int64_t> axes = kEmpty;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;
  DEUTERON_NODE("deuteron.relax.LayerNormAttrs", LayerNormAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(LayerNormAttrs)

class GroupNormAttrsNode : public AttrsNode {
 public:
  int64_t num_groups = 1;
  int64_t channel_axis = 1;
  Array<int64_t> axes = kEmpty;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;
  DEUTERON_NODE("deuteron.relax.GroupNormAttrs", GroupNormAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(GroupNormAttrs)

class InstanceNormAttrsNode : public AttrsNode {
 public:
  int64_t channel_axis = 1;
  Array<int64_t> axes = kEmpty;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;
  DEUTERON_NODE("deuteron.relax.InstanceNormAttrs", InstanceNormAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(InstanceNormAttrs)

class RMSNormAttrsNode : public AttrsNode {
 public:
  Array<int64_t> axes = kEmpty;
  double epsilon = 1e-5;
  DEUTERON_NODE("deuteron.relax.RMSNormAttrs", RMSNormAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(RMSNormAttrs)

/// pad_width: before and after of each axis in turn. pad_mode: "constant", "reflect", "edge", "circular".
class PadAttrsNode : public AttrsNode {
 public:
  Array<int64_t> pad_width = kEmpty;
  double pad_value = 0.0;
  String pad_mode = "constant";
  DEUTERON_NODE("deuteron.relax.PadAttrs", PadAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(PadAttrs)

class PixelShuffleAttrsNode : public AttrsNode {
 public:
  int64_t upscale_factor = 1;
  DEUTERON_NODE("deuteron.relax.PixelShuffleAttrs", PixelShuffleAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(PixelShuffleAttrs)

/// scale null: 1/sqrt(head dimension). causal_mask: null, "TopLeft", "BottomRight".
class AttentionAttrsNode : public AttrsNode {
 public:
  Optional<double> scale;
  Optional<String> causal_mask;
  Optional<int64_t> window_size;
  DEUTERON_NODE("deuteron.relax.AttentionAttrs", AttentionAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(AttentionAttrs)

}  // namespace deuteron::relax
