#include <algorithm>
#include <cctype>

#include "deuteron/relax/op/image.h"
#include "deuteron/relax/op/layout_rules.h"
#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/op/qdq.h"

namespace deuteron::relax {
namespace {

bool IsPlain(const std::string& letters) {
  return std::all_of(letters.begin(), letters.end(), [](unsigned char c) { return std::isupper(c) != 0; });
}

/// A layout that the user asks for.
Layout Desired(const LayoutQuery& query, const std::string& base, const std::string& wanted) {
  const auto layout = Layout::Parse(base, wanted);
  if (!layout) {
    DEUTERON_THROW(UsageError) << "ConvertLayout: \"" << wanted << "\" is no layout of a tensor of "
                               << query.call->op.as<OpNode>()->name << " written as \"" << base
                               << "\": each of its letters once, and blocks as in \"NCHW16c\"";
  }
  return *layout;
}

/// Convolutions: data, kernel and result move together. `kBlocks`: whether the operator takes blocked layouts.
template <typename Base, bool kBlocks, typename... Ranked>
std::optional<LayoutAnswer> Conv(const LayoutQuery& query) {
  const auto* attrs = query.call->attrs.as<Base>();
  const std::string data(attrs->data_layout);
  const std::string kernel(attrs->kernel_layout);
  const std::string out = attrs->out_layout.empty() ? data : std::string(attrs->out_layout);
  if (!IsPlain(data) || !IsPlain(kernel) || !IsPlain(out)) return std::nullopt;
  Layout layouts[3];
  const auto& desired = query.desired;
  if (!desired.empty()) {
    layouts[0] = Desired(query, data, desired[0]);
    layouts[1] =
        desired.size() > 1 ? Desired(query, kernel, desired[1]) : Layout::Initial(static_cast<int64_t>(kernel.size()));
    layouts[2] = Desired(query, out, desired.size() > 2 ? desired[2] : desired[0]);
  } else {
    if (!query.args[0].tensor.known() || !query.args[1].tensor.known()) return std::nullopt;
    layouts[0] = query.args[0].tensor;
    layouts[1] = query.args[1].tensor;
    if (layouts[0].HasBlocks() || layouts[1].HasBlocks()) return std::nullopt;
    layouts[2] = *Layout::Parse(out, layouts[0].Apply(data));
  }
  const Type types[] = {query.call->args[0].ty(), query.call->args[1].ty(), query.call.ty()};
  for (size_t i = 0; i < 3; ++i) {
    if (!layouts[i].Fits(types[i]) || (!kBlocks && layouts[i].HasBlocks())) return std::nullopt;
    // The window stays whole.
    const std::string& letters = i == 0 ? data : i == 1 ? kernel : out;
    for (size_t axis = 0; axis < letters.size(); ++axis) {
      const bool channels = letters[axis] == 'C' || letters[axis] == 'I' || letters[axis] == 'O';
      if (!channels && layouts[i].IsSplit(static_cast<int64_t>(axis))) return std::nullopt;
    }
  }
  LayoutAnswer answer;
  answer.args = {layouts[0], layouts[1]};
  answer.result = layouts[2];
  const auto change = [&](Base* changed) {
    changed->data_layout = layouts[0].Apply(data);
    changed->kernel_layout = layouts[1].Apply(kernel);
    changed->out_layout = layouts[2].Apply(out);
  };
  const auto copy = [&]<typename Node>(const Node* own) {
    if (own != nullptr) answer.attrs = WithAttrs<Node>(query.call, change);
  };
  (copy(query.call->attrs.as<Ranked>()), ...);
  return answer;
}

/// Pools: the layout of the data, or the one asked for; windows stay whole.
template <typename Base, typename... Ranked>
std::optional<LayoutAnswer> Pool(const LayoutQuery& query) {
  const std::string letters(query.call->attrs.as<Base>()->layout);
  if (!IsPlain(letters)) return std::nullopt;
  const Layout layout = query.desired.empty() ? query.args[0].tensor : Desired(query, letters, query.desired[0]);
  if (!layout.known() || !layout.Fits(query.call->args[0].ty())) return std::nullopt;
  for (size_t axis = 0; axis < letters.size(); ++axis) {
    if (letters[axis] != 'C' && layout.IsSplit(static_cast<int64_t>(axis))) return std::nullopt;
  }
  LayoutAnswer answer;
  answer.args = {layout};
  answer.result = layout;
  const auto change = [&](Base* changed) { changed->layout = changed->out_layout = layout.Apply(letters); };
  const auto copy = [&]<typename Node>(const Node* own) {
    if (own != nullptr) answer.attrs = WithAttrs<Node>(query.call, change);
  };
  (copy(query.call->attrs.as<Ranked>()), ...);
  return answer;
}

std::optional<LayoutAnswer> Resize2D(const LayoutQuery& query) {
  const Layout& layout = query.args[0].tensor;
  const std::string letters(query.call->attrs.as<Resize2DAttrsNode>()->layout);
  if (!layout.known() || layout.HasBlocks() || !IsPlain(letters)) return std::nullopt;
  LayoutAnswer answer;
  answer.args = {layout};
  answer.result = layout;
  answer.attrs = WithAttrs<Resize2DAttrsNode>(query.call, [&](auto* attrs) { attrs->layout = layout.Apply(letters); });
  return answer;
}

std::optional<LayoutAnswer> ResampleRule(const LayoutQuery& query) {
  const Layout& layout = query.args[0].tensor;
  if (!layout.known() || layout.HasBlocks()) return std::nullopt;
  LayoutAnswer answer;
  answer.args = {layout};
  answer.result = layout;
  answer.attrs = WithAttrs<ResampleAttrsNode>(query.call, [&](auto* attrs) {
    attrs->axes = attrs->axes.Map([&](int64_t axis) { return layout.Position(PositiveAxis(axis, layout.rank())); });
  });
  return answer;
}

/// Operators along one axis, which stays whole: the layout of the first argument.
template <typename Node, int64_t Node::*kAxis>
std::optional<LayoutAnswer> AlongAxis(const LayoutQuery& query) {
  const Layout& layout = query.args[0].tensor;
  if (!layout.known()) return std::nullopt;
  const int64_t axis = PositiveAxis(query.call->attrs.as<Node>()->*kAxis, layout.rank());
  if (axis < 0 || axis >= layout.rank() || layout.IsSplit(axis)) return std::nullopt;
  LayoutAnswer answer;
  answer.args = {layout};
  answer.result = layout;
  answer.attrs = WithAttrs<Node>(query.call, [&](Node* attrs) { attrs->*kAxis = layout.Position(axis); });
  return answer;
}

/// Each element for itself; the table has no layout.
std::optional<LayoutAnswer> ByteTableRule(const LayoutQuery& query) {
  const Layout& layout = query.args[0].tensor;
  if (!layout.known()) return std::nullopt;
  LayoutAnswer answer;
  answer.args = {layout};
  answer.result = layout;
  return answer;
}

std::optional<LayoutAnswer> BatchNorm(const LayoutQuery& query) {
  auto answer = AlongAxis<BatchNormAttrsNode, &BatchNormAttrsNode::axis>(query);
  if (answer) {
    answer->result = ValueLayout::Tuple({answer->result, Layout::Initial(1), Layout::Initial(1)});
  }
  return answer;
}

/// The positions of `axes`; nothing if one is split. Parameters that have these axes are laid out in their order.
std::optional<Array<int64_t>> Positions(const Layout& layout, const Array<int64_t>& axes) {
  std::vector<int64_t> positions;
  for (const int64_t given : axes) {
    const int64_t axis = PositiveAxis(given, layout.rank());
    if (axis < 0 || axis >= layout.rank() || layout.IsSplit(axis)) return std::nullopt;
    positions.push_back(layout.Position(axis));
  }
  return Array<int64_t>(positions.begin(), positions.end());
}

/// Norms over `axes`, whose parameters have these axes, in their order.
template <typename Node>
std::optional<LayoutAnswer> NormOverAxes(const LayoutQuery& query) {
  const Layout& layout = query.args[0].tensor;
  if (!layout.known()) return std::nullopt;
  const auto positions = Positions(layout, query.call->attrs.as<Node>()->axes);
  if (!positions) return std::nullopt;
  LayoutAnswer answer;
  answer.args = {layout};
  answer.result = layout;
  answer.attrs = WithAttrs<Node>(query.call, [&](Node* attrs) { attrs->axes = *positions; });
  return answer;
}

/// Norms of channels over `axes`.
template <typename Node>
std::optional<LayoutAnswer> ChannelNorm(const LayoutQuery& query) {
  auto answer = NormOverAxes<Node>(query);
  const Layout& layout = query.args[0].tensor;
  if (!answer) return answer;
  const int64_t channel = PositiveAxis(query.call->attrs.as<Node>()->channel_axis, layout.rank());
  if (channel < 0 || channel >= layout.rank() || layout.IsSplit(channel)) return std::nullopt;
  auto* attrs = const_cast<Node*>(answer->attrs.template as<Node>());
  attrs->channel_axis = layout.Position(channel);
  return answer;
}

/// The tuple of data and mask.
std::optional<LayoutAnswer> Dropout(const LayoutQuery& query) {
  if (!query.args[0].tensor.known()) return std::nullopt;
  LayoutAnswer answer;
  answer.args = {query.args[0]};
  answer.result = ValueLayout::Tuple({query.args[0], query.args[0]});
  return answer;
}

std::optional<LayoutAnswer> PadRule(const LayoutQuery& query) {
  const Layout& layout = query.args[0].tensor;
  const auto& widths = query.call->attrs.as<PadAttrsNode>()->pad_width;
  if (!layout.known() || static_cast<int64_t>(widths.size()) != 2 * layout.rank()) return std::nullopt;
  Array<int64_t> moved;
  for (const Layout::Dim& dim : layout.dims()) {
    const bool padded = widths[2 * dim.axis] != 0 || widths[2 * dim.axis + 1] != 0;
    if (padded && layout.IsSplit(dim.axis)) return std::nullopt;
    for (int64_t side = 0; side < 2; ++side) moved.push_back(dim.block == 0 ? widths[2 * dim.axis + side] : 0);
  }
  LayoutAnswer answer;
  answer.args = {layout};
  answer.result = layout;
  answer.attrs = WithAttrs<PadAttrsNode>(query.call, [&](auto* attrs) { attrs->pad_width = moved; });
  return answer;
}

}  // namespace

std::vector<std::string> LayoutsOf(const Attrs& attrs) {
  const auto of_conv = [](const auto* conv) -> std::vector<std::string> {
    const std::string data(conv->data_layout);
    return {data, std::string(conv->kernel_layout), conv->out_layout.empty() ? data : std::string(conv->out_layout)};
  };
  if (const auto* conv = attrs.as<ConvAttrsNode>()) return of_conv(conv);
  if (const auto* conv = attrs.as<ConvTransposeAttrsNode>()) return of_conv(conv);
  if (const auto* pool = attrs.as<PoolAttrsNode>()) return {std::string(pool->layout)};
  if (const auto* pool = attrs.as<AdaptivePoolAttrsNode>()) return {std::string(pool->layout)};
  return {};
}

Attrs WithLayoutsOf(const Attrs& attrs, const Attrs& from) {
  Attrs result = attrs;
  const auto conv = [&]<typename Node>(const Node* own) {
    if (own == nullptr) return;
    auto copy = MakeNode<Node>(*own);
    const auto* source = from.template as<Node>();
    copy->data_layout = source->data_layout;
    copy->kernel_layout = source->kernel_layout;
    copy->out_layout = source->out_layout;
    result = Attrs(std::move(copy));
  };
  const auto pool = [&]<typename Node>(const Node* own) {
    if (own == nullptr) return;
    auto copy = MakeNode<Node>(*own);
    copy->layout = from.template as<Node>()->layout;
    copy->out_layout = from.template as<Node>()->out_layout;
    result = Attrs(std::move(copy));
  };
  conv(attrs.as<Conv1DAttrsNode>());
  conv(attrs.as<Conv2DAttrsNode>());
  conv(attrs.as<Conv3DAttrsNode>());
  conv(attrs.as<Conv1DTransposeAttrsNode>());
  conv(attrs.as<Conv2DTransposeAttrsNode>());
  conv(attrs.as<Conv3DTransposeAttrsNode>());
  pool(attrs.as<Pool1DAttrsNode>());
  pool(attrs.as<Pool2DAttrsNode>());
  pool(attrs.as<Pool3DAttrsNode>());
  pool(attrs.as<AdaptivePool1DAttrsNode>());
  pool(attrs.as<AdaptivePool2DAttrsNode>());
  pool(attrs.as<AdaptivePool3DAttrsNode>());
  return result;
}

std::vector<LayoutRow> NNLayouts() {
  constexpr LayoutRule kConv = Conv<ConvAttrsNode, true, Conv1DAttrsNode, Conv2DAttrsNode, Conv3DAttrsNode>;
  constexpr LayoutRule kConvTranspose =
      Conv<ConvTransposeAttrsNode, false, Conv1DTransposeAttrsNode, Conv2DTransposeAttrsNode, Conv3DTransposeAttrsNode>;
  constexpr LayoutRule kPool = Pool<PoolAttrsNode, Pool1DAttrsNode, Pool2DAttrsNode, Pool3DAttrsNode>;
  constexpr LayoutRule kAdaptive =
      Pool<AdaptivePoolAttrsNode, AdaptivePool1DAttrsNode, AdaptivePool2DAttrsNode, AdaptivePool3DAttrsNode>;
  std::vector<LayoutRow> rows;
  for (const char* name : {"nn.conv1d", "nn.conv2d", "nn.conv3d"}) rows.push_back({name, kConv, true});
  for (const char* name : {"nn.conv1d_transpose", "nn.conv2d_transpose", "nn.conv3d_transpose"}) {
    rows.push_back({name, kConvTranspose, true});
  }
  for (const char* name :
       {"nn.max_pool1d", "nn.max_pool2d", "nn.max_pool3d", "nn.avg_pool1d", "nn.avg_pool2d", "nn.avg_pool3d"}) {
    rows.push_back({name, kPool, true});
  }
  for (const char* name : {"nn.adaptive_avg_pool1d", "nn.adaptive_avg_pool2d", "nn.adaptive_avg_pool3d"}) {
    rows.push_back({name, kAdaptive, true});
  }
  rows.push_back({"image.resize2d", Resize2D});
  rows.push_back({"image.resample", ResampleRule});
  rows.push_back({"nn.softmax", AlongAxis<SoftmaxAttrsNode, &SoftmaxAttrsNode::axis>});
  rows.push_back({"nn.log_softmax", AlongAxis<SoftmaxAttrsNode, &SoftmaxAttrsNode::axis>});
  rows.push_back({"nn.prelu", AlongAxis<PReluAttrsNode, &PReluAttrsNode::axis>});
  rows.push_back({"quantize", AlongAxis<QuantizeAttrsNode, &QuantizeAttrsNode::axis>});
  rows.push_back({"dequantize", AlongAxis<QuantizeAttrsNode, &QuantizeAttrsNode::axis>});
  rows.push_back({"byte_table", ByteTableRule});
  rows.push_back({"nn.batch_norm", BatchNorm});
  rows.push_back({"nn.layer_norm", NormOverAxes<LayerNormAttrsNode>});
  rows.push_back({"nn.rms_norm", NormOverAxes<RMSNormAttrsNode>});
  rows.push_back({"nn.group_norm", ChannelNorm<GroupNormAttrsNode>});
  rows.push_back({"nn.instance_norm", ChannelNorm<InstanceNormAttrsNode>});
  rows.push_back({"nn.dropout", Dropout});
  rows.push_back({"nn.pad", PadRule});
  return rows;
}

}  // namespace deuteron::relax
