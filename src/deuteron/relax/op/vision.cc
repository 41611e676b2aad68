#include "deuteron/relax/op/vision.h"

#include <optional>

#include "deuteron/relax/op/op_shape.h"
#include "deuteron/topi/resize.h"

namespace deuteron::relax {
namespace {

std::optional<topi::ROIAlignMode> ModeOf(const ROIAlignAttrsNode* attrs) {
  if (attrs->mode == "avg") return topi::ROIAlignMode::kAverage;
  if (attrs->mode == "max") return topi::ROIAlignMode::kMax;
  if (attrs->mode == "max_term") return topi::ROIAlignMode::kMaxTerm;
  return std::nullopt;
}

/// What regions become bins of `pooled_size` of.
Type InferRegions(const Call& call, const Array<int64_t>& pooled_size, const std::string& layout) {
  CheckArity(call, 2, 2);
  const std::vector<int64_t> pooled = Expanded(pooled_size, 2);
  if (pooled[0] < 1 || pooled[1] < 1) ThrowOpError(call, "its pooled_size must be positive");
  CheckRank(call, 0, 4);
  CheckRank(call, 1, 2);
  CommonDType(call, 0, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  const TensorTypeNode* rois = TensorArg(call, 1);
  if (!data->has_shape() || !rois->has_shape()) return WithRank(data, 4);
  if (const auto five = AsConstInt((*rois->shape)[1]); five && *five != 5) {
    ThrowOpError(call, "its regions must be (count, 5) and are " + Describe(*rois->shape));
  }
  const PrimExpr count = (*rois->shape)[0];
  if (layout == "NCHW") return WithShape(data, {count, (*data->shape)[1], I64(pooled[0]), I64(pooled[1])});
  return WithShape(data, {count, I64(pooled[0]), I64(pooled[1]), (*data->shape)[3]});
}

Type InferROIAlign(const Call& call, const BlockBuilder&) {
  const auto* attrs = AttrsOf<ROIAlignAttrsNode>(call);
  const std::string layout(attrs->layout);
  if (layout != "NCHW" && layout != "NHWC") ThrowOpError(call, "its layout must be NCHW or NHWC and is " + layout);
  if (!ModeOf(attrs)) {
    ThrowOpError(call, "its mode must be avg, max or max_term and is \"" + std::string(attrs->mode) + "\"");
  }
  return InferRegions(call, attrs->pooled_size, layout);
}

Type InferROIPool(const Call& call, const BlockBuilder&) {
  const auto* attrs = AttrsOf<ROIPoolAttrsNode>(call);
  const std::string layout(attrs->layout);
  if (layout != "NCHW") ThrowOpError(call, "its layout must be NCHW and is " + layout);
  return InferRegions(call, attrs->pooled_size, layout);
}

Expr LegalizeROIPool(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const double scale = AttrsOf<ROIPoolAttrsNode>(call)->spatial_scale;
  return builder.CallTE("roi_pool", call->args, [&](const Array<te::Tensor>& args) {
    return Array<te::Tensor>{topi::ROIPool(args[0], args[1], ResultShape(call), scale)};
  });
}

Type InferBestBoxes(const Call& call, const BlockBuilder&) {
  CheckArity(call, 5, 5);
  for (const size_t argument : {0, 1}) CheckRank(call, argument, 3);
  for (const size_t argument : {2, 3}) CheckRank(call, argument, 0);
  const TensorTypeNode* sides = TensorArg(call, 0);
  const TensorTypeNode* scores = TensorArg(call, 1);
  const auto most = ShapeArg(call, 4);
  if (most && most->size() != 1) ThrowOpError(call, "how many boxes it gives must be one number");
  if (sides->has_shape() && scores->has_shape()) {
    const auto differ = [](const PrimExpr& a, const PrimExpr& b) {
      return AsConstInt(a) && AsConstInt(b) && *AsConstInt(a) != *AsConstInt(b);
    };
    const Array<PrimExpr>&box = *sides->shape, &score = *scores->shape;
    if (differ(box[0], score[0]) || differ(box[1], I64(4)) || differ(box[2], score[2])) {
      ThrowOpError(call, "its sides must be (batch, 4, boxes) and its scores (batch, classes, boxes), and are " +
                             Describe(box) + " and " + Describe(score));
    }
  }
  const DataType dtype = DataType::Int(64);
  if (!most || !scores->has_shape()) return TensorType::WithNDim(3, dtype, scores->vdevice);
  return TensorType({(*scores->shape)[0], (*scores->shape)[1], (*most)[0]}, dtype, scores->vdevice);
}

Expr LegalizeBestBoxes(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  return builder.CallTE(
      "best_boxes", {call->args[0], call->args[1], call->args[2], call->args[3]}, [&](const Array<te::Tensor>& args) {
        return Array<te::Tensor>{topi::BestBoxes(args[0], args[1], args[2], args[3], ResultShape(call)[2])};
      });
}

Expr LegalizeROIAlign(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<ROIAlignAttrsNode>(call);
  topi::ROIAlignSpec spec;
  spec.spatial_scale = attrs->spatial_scale;
  spec.sample_ratio = attrs->sample_ratio;
  spec.aligned = attrs->aligned;
  spec.mode = *ModeOf(attrs);
  spec.channels_last = attrs->layout == "NHWC";
  return builder.CallTE("roi_align", call->args, [&](const Array<te::Tensor>& args) {
    return Array<te::Tensor>{topi::ROIAlign(args[0], args[1], ResultShape(call), spec)};
  });
}

}  // namespace

std::vector<OpInfo> VisionOps() {
  return {{"vision.best_boxes",
           {"sides", "scores", "overlap", "least", "size"},
           nullptr,
           InferBestBoxes,
           LegalizeBestBoxes},
          {"vision.roi_align", {"data", "rois"}, "deuteron.relax.ROIAlignAttrs", InferROIAlign, LegalizeROIAlign},
          {"vision.roi_pool", {"data", "rois"}, "deuteron.relax.ROIPoolAttrs", InferROIPool, LegalizeROIPool}};
}

Expr vision::ROIAlign(Expr data, Expr rois, std::vector<int64_t> pooled_size, double spatial_scale,
                      int64_t sample_ratio, bool aligned, std::string layout, std::string mode) {
  auto attrs = MakeNode<ROIAlignAttrsNode>();
  attrs->pooled_size = ToArray(pooled_size);
  attrs->spatial_scale = spatial_scale;
  attrs->sample_ratio = sample_ratio;
  attrs->aligned = aligned;
  attrs->layout = String(layout);
  attrs->mode = String(mode);
  return MakeCall("vision.roi_align", {std::move(data), std::move(rois)}, Attrs(attrs));
}

Expr vision::BestBoxes(Expr sides, Expr scores, Expr overlap, Expr least, PrimExpr most) {
  return MakeCall("vision.best_boxes", {std::move(sides), std::move(scores), std::move(overlap), std::move(least),
                                        ShapeExpr({std::move(most)})});
}

Expr vision::ROIPool(Expr data, Expr rois, std::vector<int64_t> pooled_size, double spatial_scale) {
  auto attrs = MakeNode<ROIPoolAttrsNode>();
  attrs->pooled_size = ToArray(pooled_size);
  attrs->spatial_scale = spatial_scale;
  return MakeCall("vision.roi_pool", {std::move(data), std::move(rois)}, Attrs(attrs));
}

void ROIAlignAttrsNode::RegisterReflection() {
  refl::ObjectDef<ROIAlignAttrsNode>()
      .def_ro("pooled_size", &ROIAlignAttrsNode::pooled_size)
      .def_ro("spatial_scale", &ROIAlignAttrsNode::spatial_scale)
      .def_ro("sample_ratio", &ROIAlignAttrsNode::sample_ratio)
      .def_ro("aligned", &ROIAlignAttrsNode::aligned)
      .def_ro("layout", &ROIAlignAttrsNode::layout)
      .def_ro("mode", &ROIAlignAttrsNode::mode);
}
void ROIPoolAttrsNode::RegisterReflection() {
  refl::ObjectDef<ROIPoolAttrsNode>()
      .def_ro("pooled_size", &ROIPoolAttrsNode::pooled_size)
      .def_ro("spatial_scale", &ROIPoolAttrsNode::spatial_scale)
      .def_ro("layout", &ROIPoolAttrsNode::layout);
}
DEUTERON_REFLECTION() {
  ROIAlignAttrsNode::RegisterReflection();
  ROIPoolAttrsNode::RegisterReflection();
}

}  // namespace deuteron::relax
