#include "deuteron/relax/op/image.h"

#include <cctype>

#include "deuteron/relax/op/extent_demands.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/op/op_shape.h"
#include "deuteron/topi/resize.h"

namespace deuteron::relax {
namespace {

/// The axes of `letters` in a layout, each dimension one capital letter, or a number and a small letter.
std::vector<size_t> AxesNamed(const Call& call, const std::string& layout, const std::string& letters) {
  std::vector<size_t> axes(letters.size(), layout.size());
  size_t axis = 0;
  for (const char letter : layout) {
    if (std::isalpha(static_cast<unsigned char>(letter)) == 0) continue;
    if (const size_t which = letters.find(letter); which != std::string::npos) axes[which] = axis;
    ++axis;
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] == layout.size()) ThrowOpError(call, "its layout \"" + layout + "\" has no " + letters[i]);
  }
  return axes;
}

const char* ResizedLetters(const Resize2DAttrsNode*) { return "HW"; }
const char* ResizedLetters(const Resize3DAttrsNode*) { return "DHW"; }

int64_t RankOf(const std::string& layout) {
  int64_t rank = 0;
  for (const char letter : layout) rank += std::isalpha(static_cast<unsigned char>(letter)) != 0 ? 1 : 0;
  return rank;
}

/// Of rank `rank`, with the shape of `data` but for the sizes of these axes; without one where either is unknown.
Type ResizedType(const TensorTypeNode* data, int64_t rank, const std::vector<size_t>& axes,
                 const std::optional<Array<PrimExpr>>& size, DataType dtype) {
  if (!size || !data->shape.has_value()) return TensorType::WithNDim(rank, dtype, data->vdevice);
  Array<PrimExpr> shape = *data->shape;
  for (size_t i = 0; i < axes.size(); ++i) shape.Set(static_cast<int64_t>(axes[i]), (*size)[static_cast<int64_t>(i)]);
  return TensorType(shape, dtype, data->vdevice);
}

template <typename AttrsNode>
Type InferResize(const Call& call, const BlockBuilder&) {
  CheckArity(call, 2, 2);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto* attrs = AttrsOf<AttrsNode>(call);
  const std::string layout(attrs->layout);
  CheckRank(call, 0, RankOf(layout));
  const DataType dtype = attrs->out_dtype.has_value() ? *attrs->out_dtype : data->dtype;
  const auto size = ShapeArg(call, 1);
  const std::vector<size_t> axes = AxesNamed(call, layout, ResizedLetters(attrs));
  if (size && size->size() != axes.size()) {
    ThrowOpError(call, "its size must have " + std::to_string(axes.size()) + " dimensions and is " + Describe(*size));
  }
  return ResizedType(data, RankOf(layout), axes, size, dtype);
}

template <typename AttrsNode>
topi::ResizeSpec SpecOf(const Call& call) {
  const auto* attrs = AttrsOf<AttrsNode>(call);
  topi::ResizeSpec spec;
  spec.method = std::string(attrs->method);
  spec.coordinate_mode = std::string(attrs->coordinate_transformation_mode);
  spec.rounding = std::string(attrs->rounding_method);
  spec.cubic_alpha = attrs->cubic_alpha;
  spec.cubic_exclude = attrs->cubic_exclude != 0;
  spec.out_dtype = Downcast<TensorType>(call.ty())->dtype;
  return spec;
}

template <typename AttrsNode>
Expr LegalizeResize(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<AttrsNode>(call);
  topi::ResizeSpec spec = SpecOf<AttrsNode>(call);
  spec.extrapolation_value = attrs->extrapolation_value;
  for (const PrimExpr& value : attrs->roi) {
    const auto* real = value.as<tir::FloatImmNode>();
    spec.roi.push_back(real != nullptr ? real->value : static_cast<double>(AsConstInt(value).value_or(0)));
  }
  const std::vector<size_t> axes = AxesNamed(call, std::string(attrs->layout), ResizedLetters(attrs));
  return builder.CallTE(axes.size() == 2 ? "resize2d" : "resize3d", {call->args[0]},
                        [&](const Array<te::Tensor>& args) {
                          return Array<te::Tensor>{topi::Resize(args[0], axes, ResultShape(call), spec)};
                        });
}

std::vector<size_t> ResampledAxes(const Call& call, int64_t rank) {
  std::vector<size_t> axes;
  for (const int64_t axis : AttrsOf<ResampleAttrsNode>(call)->axes) {
    axes.push_back(static_cast<size_t>(NormalizeAxis(call, axis, rank)));
  }
  return axes;
}

Type InferResample(const Call& call, const BlockBuilder&) {
  CheckArity(call, 2, 2);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto* attrs = AttrsOf<ResampleAttrsNode>(call);
  const auto size = ShapeArg(call, 1);
  const size_t count = attrs->axes.size();
  if (attrs->numerators.size() != count || attrs->denominators.size() != count || (size && size->size() != count))
    ThrowOpError(call, "its axes, ratios and sizes must be as many");
  for (size_t i = 0; i < count; ++i) {
    if (attrs->numerators[static_cast<int64_t>(i)] < 1 || attrs->denominators[static_cast<int64_t>(i)] < 1)
      ThrowOpError(call, "its ratios must be of positive integers");
  }
  if (data->ndim < 0) return TensorType::WithNDim(-1, data->dtype, data->vdevice);
  const std::vector<size_t> axes = ResampledAxes(call, data->ndim);
  return ResizedType(data, data->ndim, axes, size, data->dtype);
}

Expr LegalizeResample(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<ResampleAttrsNode>(call);
  topi::ResizeSpec spec = SpecOf<ResampleAttrsNode>(call);
  for (size_t i = 0; i < attrs->axes.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    spec.ratios.push_back({attrs->numerators[at], attrs->denominators[at]});
  }
  return builder.CallTE("resample", {call->args[0]}, [&](const Array<te::Tensor>& args) {
    const std::vector<size_t> axes = ResampledAxes(call, static_cast<int64_t>(args[0].shape().size()));
    return Array<te::Tensor>{topi::Resize(args[0], axes, ResultShape(call), spec)};
  });
}

Type InferAffineGrid(const Call& call, const BlockBuilder&) {
  CheckArity(call, 2, 2);
  CheckRank(call, 0, 3);
  const TensorTypeNode* theta = TensorArg(call, 0);
  const auto size = ShapeArg(call, 1);
  if (size && size->size() != 2) ThrowOpError(call, "its size must have two dimensions and is " + Describe(*size));
  if (!theta->has_shape() || !size) return WithRank(theta, 4);
  for (size_t i = 1; i < 3; ++i) {
    const auto extent = AsConstInt((*theta->shape)[i]);
    if (extent && *extent != static_cast<int64_t>(i) + 1) {
      ThrowOpError(call, "its transformations must be (n, 2, 3) and are " + Describe(*theta->shape));
    }
  }
  return WithShape(theta, {(*theta->shape)[0], I64(2), (*size)[0], (*size)[1]});
}

Expr LegalizeAffineGrid(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "affine_grid", {call->args[0]}, [&](const Array<te::Tensor>& args) {
    return topi::AffineGrid(args[0], ResultShape(call), AttrsOf<AffineGridAttrsNode>(call)->align_corners);
  });
}

Type InferGridSample(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 2, 2);
  const std::string layout(AttrsOf<GridSampleAttrsNode>(call)->layout);
  if (layout != "NCHW" && layout != "NCDHW") ThrowOpError(call, "its layout must be NCHW or NCDHW and is " + layout);
  const auto rank = static_cast<int64_t>(layout.size());
  CheckRank(call, 0, rank);
  CheckRank(call, 1, rank);
  const TensorTypeNode* data = TensorArg(call, 0);
  const TensorTypeNode* grid = TensorArg(call, 1);
  if (!data->shape.has_value() || !grid->shape.has_value()) return WithRank(data, rank);
  if (const auto axes = AsConstInt((*grid->shape)[1]); axes && *axes != rank - 2) {
    ThrowOpError(call, "its grid must be (n, " + std::to_string(rank - 2) + (rank == 4 ? ", h, w" : ", d, h, w") +
                           ") and is " + Describe(*grid->shape));
  }
  if (ProvablyDiffers(builder, (*grid->shape)[0], {1, 0, (*data->shape)[0]})) {
    ThrowOpError(call, "has grids " + Describe(*grid->shape) + " for images " + Describe(*data->shape));
  }
  Array<PrimExpr> shape = *grid->shape;
  shape.Set(0, (*data->shape)[0]);
  shape.Set(1, (*data->shape)[1]);
  return WithShape(data, shape);
}

Expr LegalizeGridSample(BlockBuilder& builder, const Call& call) {
  const auto* attrs = AttrsOf<GridSampleAttrsNode>(call);
  return CallKernel(builder, call, "grid_sample", call->args, [&](const Array<te::Tensor>& args) {
    return topi::GridSample(args[0], args[1], std::string(attrs->method), std::string(attrs->padding_mode),
                            attrs->align_corners);
  });
}

Type InferDeformedColumns(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 2, 3);
  const auto* attrs = AttrsOf<DeformedColumnsAttrsNode>(call);
  const auto axes = static_cast<int64_t>(attrs->kernel.size());
  for (int64_t i = 0; i < static_cast<int64_t>(call->args.size()); ++i) CheckRank(call, i, axes + 2);
  const TensorTypeNode* data = TensorArg(call, 0);
  const TensorTypeNode* offset = TensorArg(call, 1);
  if (!data->shape.has_value() || !offset->shape.has_value()) return WithRank(data, axes + 3);
  int64_t positions = 1;
  for (const int64_t extent : attrs->kernel) positions *= extent;
  const auto check = [&](size_t arg, int64_t values) {
    const Array<PrimExpr>& shape = *TensorArg(call, arg)->shape;
    const PrimExpr expected = I64(attrs->offset_groups * positions * values);
    if (ProvablyDiffers(builder, shape[1], {arg, 1, expected})) {
      ThrowOpError(call, "argument " + std::to_string(arg) + " is " + Describe(shape) + " and must have " +
                             Describe(expected) + " channels");
    }
  };
  check(1, axes);
  if (call->args.size() > 2 && TensorArg(call, 2)->shape.has_value()) check(2, 1);
  Array<PrimExpr> shape = {(*data->shape)[0], (*data->shape)[1], I64(positions)};
  for (int64_t axis = 0; axis < axes; ++axis) shape.push_back((*offset->shape)[axis + 2]);
  return WithShape(data, shape);
}

Expr LegalizeDeformedColumns(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<DeformedColumnsAttrsNode>(call);
  const auto numbers = [](const Array<int64_t>& values) { return std::vector<int64_t>(values.begin(), values.end()); };
  const topi::DeformedColumnsSpec spec{numbers(attrs->kernel), numbers(attrs->strides), numbers(attrs->padding),
                                       numbers(attrs->dilation), attrs->offset_groups};
  return builder.CallTE("deformed_columns", call->args, [&](const Array<te::Tensor>& args) {
    te::Tensor mask;
    if (args.size() > 2) mask = args[2];
    return Array<te::Tensor>{topi::DeformedColumns(args[0], args[1], mask, spec)};
  });
}

}  // namespace

std::vector<OpInfo> ImageOps() {
  return {
      {"image.resize2d",
       {"data", "size"},
       "deuteron.relax.Resize2DAttrs",
       InferResize<Resize2DAttrsNode>,
       LegalizeResize<Resize2DAttrsNode>},
      {"image.resize3d",
       {"data", "size"},
       "deuteron.relax.Resize3DAttrs",
       InferResize<Resize3DAttrsNode>,
       LegalizeResize<Resize3DAttrsNode>},
      {"image.resample", {"data", "size"}, "deuteron.relax.ResampleAttrs", InferResample, LegalizeResample},
      {"image.affine_grid", {"data", "size"}, "deuteron.relax.AffineGridAttrs", InferAffineGrid, LegalizeAffineGrid},
      {"image.grid_sample", {"data", "grid"}, "deuteron.relax.GridSampleAttrs", InferGridSample, LegalizeGridSample},
      {"image.deformed_columns",
       {"data", "offset", "mask?"},
       "deuteron.relax.DeformedColumnsAttrs",
       InferDeformedColumns,
       LegalizeDeformedColumns},
  };
}

namespace {

/// How elements follow from those next to their places.
template <typename Node>
void SetMethod(const image::ResizeOptions& options, Node* attrs) {
  attrs->method = String(options.method);
  attrs->coordinate_transformation_mode = String(options.coordinate_transformation_mode);
  attrs->rounding_method = String(options.rounding_method);
  attrs->cubic_alpha = options.cubic_alpha;
  attrs->cubic_exclude = options.cubic_exclude;
}

template <typename Node>
auto ResizeAttrs(const image::ResizeOptions& options) {
  auto attrs = MakeNode<Node>();
  for (const double value : options.roi) attrs->roi.push_back(MakeConst(DataType::Float(32), value));
  attrs->layout = String(options.layout);
  SetMethod(options, attrs.get());
  attrs->extrapolation_value = options.extrapolation_value;
  attrs->out_dtype = OptionalDType(options.out_dtype);
  return attrs;
}

template <typename Node>
void ReflectResize() {
  refl::ObjectDef<Node>()
      .def_ro("roi", &Node::roi)
      .def_ro("layout", &Node::layout)
      .def_ro("method", &Node::method)
      .def_ro("coordinate_transformation_mode", &Node::coordinate_transformation_mode)
      .def_ro("rounding_method", &Node::rounding_method)
      .def_ro("cubic_alpha", &Node::cubic_alpha)
      .def_ro("cubic_exclude", &Node::cubic_exclude)
      .def_ro("extrapolation_value", &Node::extrapolation_value)
      .def_ro("out_dtype", &Node::out_dtype);
}

}  // namespace

Expr image::Resize2D(Expr data, Array<PrimExpr> size, const ResizeOptions& options) {
  return MakeCall("image.resize2d", {std::move(data), ShapeExpr(std::move(size))},
                  Attrs(ResizeAttrs<Resize2DAttrsNode>(options)));
}
Expr image::Resize3D(Expr data, Array<PrimExpr> size, const ResizeOptions& options) {
  auto attrs = ResizeAttrs<Resize3DAttrsNode>(options);
  if (options.layout == "NCHW") attrs->layout = "NCDHW";
  if (options.roi.size() == 4) attrs->roi = Array<PrimExpr>(6, MakeConst(DataType::Float(32), 0.0));
  return MakeCall("image.resize3d", {std::move(data), ShapeExpr(std::move(size))}, Attrs(attrs));
}
Expr image::Resample(Expr data, Array<PrimExpr> size, const std::vector<int64_t>& axes,
                     const std::vector<std::pair<int64_t, int64_t>>& ratios, const ResizeOptions& options) {
  auto attrs = MakeNode<ResampleAttrsNode>();
  attrs->axes = Array<int64_t>(axes.begin(), axes.end());
  for (const auto& [numerator, denominator] : ratios) {
    attrs->numerators.push_back(numerator);
    attrs->denominators.push_back(denominator);
  }
  SetMethod(options, attrs.get());
  return MakeCall("image.resample", {std::move(data), ShapeExpr(std::move(size))}, Attrs(attrs));
}
Expr image::AffineGrid(Expr theta, Array<PrimExpr> size, bool align_corners) {
  auto attrs = MakeNode<AffineGridAttrsNode>();
  attrs->align_corners = align_corners;
  return MakeCall("image.affine_grid", {std::move(theta), ShapeExpr(std::move(size))}, Attrs(attrs));
}
Expr image::GridSample(Expr data, Expr grid, std::string method, std::string layout, std::string padding_mode,
                       bool align_corners) {
  auto attrs = MakeNode<GridSampleAttrsNode>();
  attrs->method = String(method);
  attrs->layout = String(layout);
  attrs->padding_mode = String(padding_mode);
  attrs->align_corners = align_corners;
  return MakeCall("image.grid_sample", {std::move(data), std::move(grid)}, Attrs(attrs));
}

Expr image::DeformedColumns(Expr data, Expr offset, Expr mask, const DeformedColumnsOptions& options) {
  const auto numbers = [](const std::vector<int64_t>& values) { return Array<int64_t>(values.begin(), values.end()); };
  auto attrs = MakeNode<DeformedColumnsAttrsNode>();
  attrs->kernel = numbers(options.kernel);
  attrs->strides = numbers(options.strides);
  attrs->padding = numbers(options.padding);
  attrs->dilation = numbers(options.dilation);
  attrs->offset_groups = options.offset_groups;
  Array<Expr> args = {std::move(data), std::move(offset)};
  if (mask.defined()) args.push_back(std::move(mask));
  return MakeCall("image.deformed_columns", std::move(args), Attrs(attrs));
}

void Resize2DAttrsNode::RegisterReflection() { ReflectResize<Resize2DAttrsNode>(); }
void Resize3DAttrsNode::RegisterReflection() { ReflectResize<Resize3DAttrsNode>(); }
void ResampleAttrsNode::RegisterReflection() {
  refl::ObjectDef<ResampleAttrsNode>()
      .def_ro("axes", &ResampleAttrsNode::axes)
      .def_ro("numerators", &ResampleAttrsNode::numerators)
      .def_ro("denominators", &ResampleAttrsNode::denominators)
      .def_ro("method", &ResampleAttrsNode::method)
      .def_ro("coordinate_transformation_mode", &ResampleAttrsNode::coordinate_transformation_mode)
      .def_ro("rounding_method", &ResampleAttrsNode::rounding_method)
      .def_ro("cubic_alpha", &ResampleAttrsNode::cubic_alpha)
      .def_ro("cubic_exclude", &ResampleAttrsNode::cubic_exclude);
}
void AffineGridAttrsNode::RegisterReflection() {
  refl::ObjectDef<AffineGridAttrsNode>().def_ro("align_corners", &AffineGridAttrsNode::align_corners);
}
void GridSampleAttrsNode::RegisterReflection() {
  refl::ObjectDef<GridSampleAttrsNode>()
      .def_ro("method", &GridSampleAttrsNode::method)
      .def_ro("layout", &GridSampleAttrsNode::layout)
      .def_ro("padding_mode", &GridSampleAttrsNode::padding_mode)
      .def_ro("align_corners", &GridSampleAttrsNode::align_corners);
}
void DeformedColumnsAttrsNode::RegisterReflection() {
  refl::ObjectDef<DeformedColumnsAttrsNode>()
      .def_ro("kernel", &DeformedColumnsAttrsNode::kernel)
      .def_ro("strides", &DeformedColumnsAttrsNode::strides)
      .def_ro("padding", &DeformedColumnsAttrsNode::padding)
      .def_ro("dilation", &DeformedColumnsAttrsNode::dilation)
      .def_ro("offset_groups", &DeformedColumnsAttrsNode::offset_groups);
}
DEUTERON_REFLECTION() {
  DeformedColumnsAttrsNode::RegisterReflection();
  Resize2DAttrsNode::RegisterReflection();
  Resize3DAttrsNode::RegisterReflection();
  ResampleAttrsNode::RegisterReflection();
  AffineGridAttrsNode::RegisterReflection();
  GridSampleAttrsNode::RegisterReflection();
}

}  // namespace deuteron::relax
