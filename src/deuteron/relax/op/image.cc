#include "deuteron/relax/op/image.h"

#include <cctype>

#include "deuteron/relax/op/op_shape.h"
#include "deuteron/topi/resize.h"

namespace deuteron::relax {
namespace {

/// The axes of height and width in a layout, each dimension one capital letter, or a number and a small letter.
std::vector<size_t> SpatialAxes(const Call& call, const std::string& layout) {
  std::vector<size_t> axes(2, layout.size());
  size_t axis = 0;
  for (const char letter : layout) {
    if (std::isalpha(static_cast<unsigned char>(letter)) == 0) continue;
    if (letter == 'H') axes[0] = axis;
    if (letter == 'W') axes[1] = axis;
    ++axis;
  }
  if (axes[0] == layout.size() || axes[1] == layout.size()) {
    ThrowOpError(call, "its layout \"" + layout + "\" has no H or no W");
  }
  return axes;
}

int64_t RankOf(const std::string& layout) {
  int64_t rank = 0;
  for (const char letter : layout) rank += std::isalpha(static_cast<unsigned char>(letter)) != 0 ? 1 : 0;
  return rank;
}

Type InferResize2D(const Call& call, const BlockBuilder&) {
  CheckArity(call, 2, 2);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto* attrs = AttrsOf<Resize2DAttrsNode>(call);
  const std::string layout(attrs->layout);
  CheckRank(call, 0, RankOf(layout));
  const DataType dtype = attrs->out_dtype.has_value() ? *attrs->out_dtype : data->dtype;
  const auto size = ShapeArg(call, 1);
  if (size && size->size() != 2) ThrowOpError(call, "its size must have two dimensions and is " + Describe(*size));
  const std::vector<size_t> axes = SpatialAxes(call, layout);
  if (!size || !data->shape.has_value()) return TensorType::WithNDim(RankOf(layout), dtype, data->vdevice);
  Array<PrimExpr> shape = *data->shape;
  for (size_t i = 0; i < 2; ++i) shape.Set(static_cast<int64_t>(axes[i]), (*size)[i]);
  return TensorType(shape, dtype, data->vdevice);
}

Expr LegalizeResize2D(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<Resize2DAttrsNode>(call);
  topi::ResizeSpec spec;
  spec.method = std::string(attrs->method);
  spec.coordinate_mode = std::string(attrs->coordinate_transformation_mode);
  spec.rounding = std::string(attrs->rounding_method);
  spec.cubic_alpha = attrs->cubic_alpha;
  spec.cubic_exclude = attrs->cubic_exclude != 0;
  spec.extrapolation_value = attrs->extrapolation_value;
  spec.out_dtype = Downcast<TensorType>(call.ty())->dtype;
  for (const PrimExpr& value : attrs->roi) {
    const auto* real = value.as<tir::FloatImmNode>();
    spec.roi.push_back(real != nullptr ? real->value : static_cast<double>(AsConstInt(value).value_or(0)));
  }
  return builder.CallTE("resize2d", {call->args[0]}, [&](const Array<te::Tensor>& args) {
    return Array<te::Tensor>{
        topi::Resize(args[0], SpatialAxes(call, std::string(attrs->layout)), ResultShape(call), spec)};
  });
}

Type InferGridSample(const Call& call, const BlockBuilder&) {
  CheckArity(call, 2, 2);
  const auto* attrs = AttrsOf<GridSampleAttrsNode>(call);
  if (std::string(attrs->layout) != "NCHW") {
    ThrowOpError(call, "its layout must be NCHW and is " + std::string(attrs->layout));
  }
  CheckRank(call, 0, 4);
  CheckRank(call, 1, 4);
  const TensorTypeNode* data = TensorArg(call, 0);
  const TensorTypeNode* grid = TensorArg(call, 1);
  if (!data->shape.has_value() || !grid->shape.has_value()) return WithRank(data, 4);
  if (const auto two = AsConstInt((*grid->shape)[1]); two && *two != 2) {
    ThrowOpError(call, "its grid must be (n, 2, h, w) and is " + Describe(*grid->shape));
  }
  return WithShape(data, {(*data->shape)[0], (*data->shape)[1], (*grid->shape)[2], (*grid->shape)[3]});
}

Expr LegalizeGridSample(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<GridSampleAttrsNode>(call);
  return builder.CallTE("grid_sample", call->args, [&](const Array<te::Tensor>& args) {
    return Array<te::Tensor>{topi::GridSample(args[0], args[1], std::string(attrs->method),
                                              std::string(attrs->padding_mode), attrs->align_corners)};
  });
}

}  // namespace

std::vector<OpInfo> ImageOps() {
  return {
      {"image.resize2d", {"data", "size"}, "deuteron.relax.Resize2DAttrs", InferResize2D, LegalizeResize2D},
      {"image.grid_sample", {"data", "grid"}, "deuteron.relax.GridSampleAttrs", InferGridSample, LegalizeGridSample},
  };
}

Expr image::Resize2D(Expr data, Array<PrimExpr> size, const ResizeOptions& options) {
  auto attrs = make_object<Resize2DAttrsNode>();
  for (const double value : options.roi) attrs->roi.push_back(MakeConst(DataType::Float(32), value));
  attrs->layout = String(options.layout);
  attrs->method = String(options.method);
  attrs->coordinate_transformation_mode = String(options.coordinate_transformation_mode);
  attrs->rounding_method = String(options.rounding_method);
  attrs->cubic_alpha = options.cubic_alpha;
  attrs->cubic_exclude = options.cubic_exclude;
  attrs->extrapolation_value = options.extrapolation_value;
  attrs->out_dtype = OptionalDType(options.out_dtype);
  return MakeCall("image.resize2d", {std::move(data), ShapeExpr(std::move(size))}, Attrs(attrs));
}
Expr image::GridSample(Expr data, Expr grid, std::string method, std::string layout, std::string padding_mode,
                       bool align_corners) {
  auto attrs = make_object<GridSampleAttrsNode>();
  attrs->method = String(method);
  attrs->layout = String(layout);
  attrs->padding_mode = String(padding_mode);
  attrs->align_corners = align_corners;
  return MakeCall("image.grid_sample", {std::move(data), std::move(grid)}, Attrs(attrs));
}

void Resize2DAttrsNode::RegisterReflection() {
  refl::ObjectDef<Resize2DAttrsNode>()
      .def_ro("roi", &Resize2DAttrsNode::roi)
      .def_ro("layout", &Resize2DAttrsNode::layout)
      .def_ro("method", &Resize2DAttrsNode::method)
      .def_ro("coordinate_transformation_mode", &Resize2DAttrsNode::coordinate_transformation_mode)
      .def_ro("rounding_method", &Resize2DAttrsNode::rounding_method)
      .def_ro("cubic_alpha", &Resize2DAttrsNode::cubic_alpha)
      .def_ro("cubic_exclude", &Resize2DAttrsNode::cubic_exclude)
      .def_ro("extrapolation_value", &Resize2DAttrsNode::extrapolation_value)
      .def_ro("out_dtype", &Resize2DAttrsNode::out_dtype);
}
void GridSampleAttrsNode::RegisterReflection() {
  refl::ObjectDef<GridSampleAttrsNode>()
      .def_ro("method", &GridSampleAttrsNode::method)
      .def_ro("layout", &GridSampleAttrsNode::layout)
      .def_ro("padding_mode", &GridSampleAttrsNode::padding_mode)
      .def_ro("align_corners", &GridSampleAttrsNode::align_corners);
}
TVM_FFI_STATIC_INIT_BLOCK() {
  Resize2DAttrsNode::RegisterReflection();
  GridSampleAttrsNode::RegisterReflection();
}

}  // namespace deuteron::relax
