/// \file
/// Operators on images, regions and caches that are made of others.
#include <algorithm>
#include <limits>
#include <numeric>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/lengths.h"
#include "deuteron/frontend/onnx/window.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/vision.h"
#include "deuteron/support/limits.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// Col2Im of an image or blocks whose sizes only the run knows: each column is added where it belongs.
Expr Col2ImAtRunTime(const NodeContext& node, const Array<PrimExpr>& image, const Array<PrimExpr>& block) {
  const auto axes = static_cast<int64_t>(image.size());
  const auto strides = AxisValues(node, "strides", image.size(), 1, 1);
  const auto dilations = AxisValues(node, "dilations", image.size(), 1, 1);
  const auto pads = AxisValues(node, "pads", 2 * image.size(), 0, 0);
  const DataType index = DataType::Int(64);
  // Where in the padded image an element of a block, at a place of the block, lies: axis by axis.
  Array<PrimExpr> padded;
  Array<PrimExpr> places;
  for (int64_t i = 0; i < axes; ++i) {
    padded.push_back(node.Simplify(image[i] + I64(pads[i] + pads[axes + i])));
    const PrimExpr room = padded[i] - (block[i] - 1) * I64(dilations[i]) - 1;
    places.push_back(node.Simplify(FloorDiv(room, I64(strides[i])) + 1));
  }
  Array<PrimExpr> grid(block.begin(), block.end());
  grid.insert(grid.end(), places.begin(), places.end());
  Expr position = node.Scalar(index, 0);
  for (int64_t i = 0; i < axes; ++i) {
    const auto along = [&](int64_t axis, int64_t step) {
      Array<PrimExpr> column(2 * axes, I64(1));
      column.Set(axis, grid[axis]);
      const Expr count = node.Emit(relax::Arange(I64(0), grid[axis], I64(1), index));
      return relax::Multiply(node.Reshaped(count, column), node.Scalar(index, static_cast<double>(step)));
    };
    const Expr here = node.Emit(relax::Add(along(i, dilations[i]), along(axes + i, strides[i])));
    position = node.Emit(relax::Add(relax::Multiply(position, relax::PrimValue(padded[i])), here));
  }
  const Expr x = node.X(0);
  const PrimExpr batch = node.Shape(x)[0];
  const PrimExpr elements = node.Product(grid, 0, 2 * axes);
  const PrimExpr channels = node.Simplify(FloorDiv(node.Shape(x)[1], node.Product(block, 0, axes)));
  const Array<PrimExpr> rows = {batch, channels, elements};
  const Expr indices = node.Emit(relax::BroadcastTo(
      node.Reshaped(node.Emit(relax::BroadcastTo(position, grid)), {I64(1), I64(1), elements}), rows));
  const Expr empty = node.Emit(relax::Zeros({batch, channels, node.Product(padded, 0, axes)}, node.DType(x)));
  const Expr sum = node.Emit(relax::ScatterElements(empty, indices, node.Reshaped(x, rows), 2, "add"));
  Array<PrimExpr> shape = {batch, channels};
  shape.insert(shape.end(), padded.begin(), padded.end());
  Array<PrimExpr> begin;
  Array<PrimExpr> end;
  std::vector<int64_t> cut;
  for (int64_t i = 0; i < axes; ++i) {
    cut.push_back(i + 2);
    begin.push_back(I64(pads[i]));
    end.push_back(node.Simplify(image[i] + I64(pads[i])));
  }
  return node.Emit(relax::StridedSlice(node.Reshaped(sum, shape), cut, begin, end));
}

}  // namespace

Results ConvertCol2Im(const NodeContext& node) {
  // Of as many axes as each other, whichever says how many.
  const auto axes_of = [&](size_t input) -> std::optional<int64_t> {
    const auto shape = node.KnownShape(input);
    return shape && shape->size() == 1 ? AsConstInt((*shape)[0]) : std::nullopt;
  };
  const Array<PrimExpr> image_dims = node.Sizes(1, "the shape of the image", axes_of(2), 1);
  const Array<PrimExpr> block_dims = node.Sizes(2, "the shape of a block", axes_of(1), 1);
  if (image_dims.size() != block_dims.size()) node.Fail("its blocks do not fit the image");
  const auto image_numbers = AsConstInts(image_dims);
  const auto block_numbers = AsConstInts(block_dims);
  const Array<PrimExpr> shape = node.Shape(0);
  if (!image_numbers || !block_numbers || (shape.size() == 3 && !AsConstInt(shape[1]))) {
    return {Col2ImAtRunTime(node, image_dims, block_dims)};
  }
  const std::vector<int64_t>& image = *image_numbers;
  const std::vector<int64_t>& block = *block_numbers;
  const size_t axes = image.size();
  if (axes < 1 || axes > 3 || block.size() != axes) node.Unsupported("images of " + std::to_string(axes) + " axes");
  relax::nn::ConvTransposeOptions options{.strides = AxisValues(node, "strides", axes, 1, 1),
                                          .padding = AxisValues(node, "pads", 2 * axes, 0, 0),
                                          .dilation = AxisValues(node, "dilations", axes, 1, 1)};
  int64_t elements = 1;
  std::vector<int64_t> windows;
  for (size_t i = 0; i < axes; ++i) {
    const int64_t room =
        image[i] + options.padding[i] + options.padding[axes + i] - options.dilation[i] * (block[i] - 1) - 1;
    if (block[i] < 1 || block[i] > (1 << 20) || room < 0) node.Fail("its blocks do not fit the image");
    elements *= block[i];
    windows.push_back(room / options.strides[i] + 1);
    options.output_padding.push_back(room % options.strides[i]);
  }
  const Expr x = node.X(0);
  const int64_t columns = node.StaticDim(x, 1, "the number of channels");
  if (shape.size() != 3 || elements < 1 || columns % elements != 0) node.Fail("its blocks do not fit the image");
  // The transposed convolution whose kernel k puts channel k where it belongs in the block.
  options.groups = columns / elements;
  if (columns > (int64_t{1} << 24) / elements) node.Unsupported("blocks of " + std::to_string(elements) + " elements");
  std::vector<double> kernel(static_cast<size_t>(columns * elements), 0.0);
  for (int64_t i = 0; i < columns; ++i) kernel[i * elements + i % elements] = 1;
  std::vector<int64_t> kernel_shape = {columns, 1};
  kernel_shape.insert(kernel_shape.end(), block.begin(), block.end());
  Array<PrimExpr> plane = {shape[0], I64(columns)};
  for (const int64_t count : windows) plane.push_back(I64(count));
  const auto conv = axes == 1   ? relax::nn::Conv1DTranspose
                    : axes == 2 ? relax::nn::Conv2DTranspose
                                : relax::nn::Conv3DTranspose;
  return {node.Emit(conv(node.Reshaped(x, plane), node.ConstantFloats(kernel, kernel_shape, node.DType(x)), options))};
}

namespace {

/// How much longer than `shape`, of an image, the shape that input `index` gives is along each axis: along the first
/// two it is not.
Array<PrimExpr> MoreThan(const NodeContext& node, size_t index, const Array<PrimExpr>& shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  if (node.StaticDim(node.Vector(index, rank), 0, "the length of the shape") != rank) {
    node.Fail("the shape of the result does not fit the image");
  }
  if (node.Known(index) == nullptr) {
    Array<PrimExpr> room(shape.size(), I64(CurrentLimits().extent));
    for (const int64_t axis : {0, 1}) room.Set(axis, I64(1));
    const Expr wanted = node.CastTo(node.Vector(index, rank), DataType::Int(64));
    const Expr own = node.importer()->ExprOf(Value(SymbolicVector(shape)), Span());
    const Expr more = node.CheckedWithin(node.Emit(relax::Subtract(wanted, own)), I64(0), PrimExpr(),
                                         "what the shape of the result has beyond what is unpooled");
    return node.BoundDims(node.CheckedPositions(more, room), "what is added");
  }
  const Array<PrimExpr> wanted = node.Dims(index, "the shape of the result");
  Array<PrimExpr> more;
  for (int64_t axis = 0; axis < rank; ++axis) {
    more.push_back(node.Simplify(wanted[axis] - shape[axis]));
    const auto number = AsConstInt(more.back());
    if (!number) node.Unsupported("a shape that is known beside an image whose shape is not; fix that with --shape");
    if (*number < 0 || (axis < 2 && *number > 0)) node.Fail("the shape of the result does not fit what is unpooled");
  }
  return more;
}

}  // namespace

Results ConvertMaxUnpool(const NodeContext& node) {
  const Expr x = node.X(0);
  const Window window = ReadWindow(node, x, {});
  const size_t axes = window.axes();
  const Array<PrimExpr> shape = node.Shape(x);
  Array<PrimExpr> inferred = {shape[0], shape[1]};
  for (size_t i = 0; i < axes; ++i) {
    const PrimExpr steps = (shape[static_cast<int64_t>(i) + 2] - 1) * I64(window.strides[i]);
    inferred.push_back(node.Simplify(steps + I64(window.kernel[i] - window.pads[i] - window.pads[axes + i])));
  }
  const auto rank = static_cast<int64_t>(shape.size());
  const PrimExpr all = node.Product(inferred, 0, rank);
  const PrimExpr count = node.Product(shape, 0, rank);
  const Expr indices = node.CheckedPositions(node.Reshaped(node.X(1), {count}), {all});
  const Expr empty = node.Emit(relax::Zeros({all}, node.DType(x)));
  const Expr flat = node.Emit(relax::ScatterElements(empty, indices, node.Reshaped(x, {count}), 0));
  const Expr image = node.Reshaped(flat, inferred);
  if (!node.Has(2)) return {image};
  const Array<PrimExpr> more = MoreThan(node, 2, inferred);
  Expr result = image;
  for (int64_t axis = 2; axis < rank; ++axis) {
    result = FillAxis(node, result, axis, I64(0), more[axis], node.Scalar(node.DType(x), 0));
  }
  return {result};
}

namespace {

/// The columns of an affine grid over axes whose lengths only the run knows: x, y, … and 1, (axes + 1, points).
Expr GridColumns(const NodeContext& node, const Array<PrimExpr>& space, bool corners, DataType dtype) {
  const auto axes = static_cast<int64_t>(space.size());
  const PrimExpr points = node.Product(space, 0, axes);
  const auto real = [&](double value) { return node.Scalar(DataType::Float(32), value); };
  Array<Expr> rows;
  for (int64_t axis = axes - 1; axis >= 0; --axis) {
    const auto number = [&](const PrimExpr& value) {
      return node.CastTo(node.Emit(relax::Arange(value, node.Simplify(value + 1), I64(1), DataType::Int(64))),
                         DataType::Float(32));
    };
    const Expr at =
        node.CastTo(node.Emit(relax::Arange(I64(0), space[axis], I64(1), DataType::Int(64))), DataType::Float(32));
    const Expr twice = relax::Multiply(at, real(2));
    // Of one element the grid begins at -1.
    const Expr steps = number(node.Simplify(Max(space[axis] - 1, I64(1))));
    const Expr place =
        corners ? relax::Divide(twice, steps) : relax::Divide(relax::Add(twice, real(1)), number(space[axis]));
    Array<PrimExpr> column(axes, I64(1));
    column.Set(axis, space[axis]);
    const Expr line = node.Reshaped(node.Emit(relax::Subtract(place, real(1))), column);
    rows.push_back(node.Reshaped(node.Emit(relax::BroadcastTo(line, space)), {points}));
  }
  rows.push_back(node.Emit(relax::Full({points}, real(1), DataType::Float(32))));
  return node.CastTo(node.Emit(relax::Stack(rows, 0)), dtype);
}

}  // namespace

Results ConvertAffineGrid(const NodeContext& node) {
  Array<PrimExpr> matrices = node.Shape(0);
  // A matrix has a row for each axis of space.
  const auto rows = matrices.size() == 3 ? AsConstInt(matrices[1]) : std::nullopt;
  const auto count = rows ? std::optional<int64_t>(*rows + 2) : std::nullopt;
  const Array<PrimExpr> dims = node.Sizes(1, "the size of the image", count);
  if (dims.empty() || matrices.empty()) node.Fail("it has no images");
  if (const auto images = AsConstInt(dims[0]), own = AsConstInt(matrices[0]); images && own && *images != *own) {
    node.Fail(std::to_string(*images) + " images by " + std::to_string(*own) + " matrices");
  }
  matrices.Set(0, dims[0]);
  const Expr theta = node.WithShape(node.X(0), matrices);
  const auto numbers = AsConstInts(dims);
  if (dims.size() != 4 && dims.size() != 5) node.Fail("the size must have 4 or 5 elements");
  for (const int64_t extent : numbers.value_or(std::vector<int64_t>{})) {
    if (extent < 0) node.Fail("the size has an element of " + std::to_string(extent));
  }
  // A large grid takes more time to be written down than to be computed.
  constexpr int64_t kMostPoints = int64_t{1} << 18;
  const Array<PrimExpr> extents(dims.begin() + 2, dims.end());
  const auto known = AsConstInts(extents);
  const int64_t points = known ? ElementCount(*known) : -1;
  if (!numbers || points < 0 || points > kMostPoints) {
    const Expr columns = GridColumns(node, extents, node.Flag("align_corners", false), node.DType(theta));
    Array<PrimExpr> shape = {node.Shape(theta)[0]};
    shape.insert(shape.end(), extents.begin(), extents.end());
    shape.push_back(I64(static_cast<int64_t>(extents.size())));
    const Expr moved = node.Emit(relax::Matmul(theta, columns));
    return {node.Reshaped(node.Emit(relax::PermuteDims(moved, {0, 2, 1})), shape)};
  }
  const std::vector<int64_t>& space = *known;
  const auto axes = static_cast<int64_t>(space.size());
  const bool corners = node.Flag("align_corners", false);
  // A column of x, y, … and 1 for each point; x counts along the last axis.
  std::vector<double> columns(static_cast<size_t>((axes + 1) * points), 1.0);
  for (int64_t point = 0; point < points; ++point) {
    int64_t rest = point;
    for (int64_t axis = axes - 1; axis >= 0; --axis) {
      const auto at = static_cast<double>(rest % space[axis]);
      const auto length = static_cast<double>(space[axis]);
      rest /= space[axis];
      columns[(axes - 1 - axis) * points + point] = !corners      ? (2 * at + 1) / length - 1
                                                    : length == 1 ? -1
                                                                  : 2 * at / (length - 1) - 1;
    }
  }
  const DataType dtype = node.DType(theta);
  const Expr moved = node.Emit(relax::Matmul(theta, node.ConstantFloats(columns, {axes + 1, points}, dtype)));
  Array<PrimExpr> shape = {node.Shape(theta)[0]};
  for (const int64_t extent : space) shape.push_back(I64(extent));
  shape.push_back(I64(axes));
  return {node.Reshaped(node.Emit(relax::PermuteDims(moved, {0, 2, 1})), shape)};
}

namespace {

/// The images of the batch of input 0 that regions lie in, as a column (count, 1) of the regions' dtype. Those that
/// the batch does not have are found when the model runs.
Expr ImagesOfRegions(const NodeContext& node, const Expr& given, DataType dtype) {
  const Expr checked = node.CheckedPositions(given, {node.Shape(0)[0]});
  return node.CastTo(node.Reshaped(checked, {node.Shape(checked)[0], I64(1)}), dtype);
}

}  // namespace

Results ConvertRoiAlign(const NodeContext& node) {
  Expr rois = node.X(1);
  const DataType dtype = node.DType(rois);
  const std::string mode =
      node.Str("coordinate_transformation_mode", node.opset() < 16 ? "output_half_pixel" : "half_pixel");
  if (mode != "half_pixel" && mode != "output_half_pixel") {
    node.Fail("coordinate_transformation_mode '" + mode + "' is unknown");
  }
  const std::string of = node.Str("mode", "avg");
  if (of != "avg" && of != "max") node.Fail("mode '" + of + "' is unknown");
  const double scale = node.Float("spatial_scale", 1.0);
  const bool half = mode == "half_pixel";
  if (half) rois = node.Emit(relax::Subtract(rois, node.Scalar(dtype, 0.5 / scale)));
  if (const auto images = node.ConstInts(2)) {
    const auto first = std::find_if(images->begin(), images->end(), [](int64_t image) { return image < 0; });
    if (first != images->end()) node.Fail("a region of image " + std::to_string(*first));
  }
  const int64_t samples = node.Int("sampling_ratio", 0);
  if (samples < 0) node.Fail("sampling_ratio is " + std::to_string(samples) + " and has to be at least 0");
  RequireElements(node, node.X(0), {2, 3}, "the length of an axis of the image");
  const Expr batch = ImagesOfRegions(node, node.X(2), dtype);
  const Expr regions = node.Emit(relax::Concat(Array<Expr>{batch, rois}, 1));
  const std::vector<int64_t> size = {node.Int("output_height", 1), node.Int("output_width", 1)};
  return {node.Emit(relax::vision::ROIAlign(node.X(0), regions, size, scale, samples, half, "NCHW",
                                            of == "max" ? "max_term" : "avg"))};
}

Results ConvertMaxRoiPool(const NodeContext& node) {
  Expr rois = node.X(1);
  if (node.Rank(rois) != 2)
    node.Fail("its regions must be (count, 5) and are of rank " + std::to_string(node.Rank(rois)));
  rois = node.WithSizes(rois, 1, {5}, "the regions");
  const DataType dtype = node.DType(rois);
  const Expr given = node.Emit(relax::StridedSlice(rois, {1}, {I64(0)}, {I64(1)}, {I64(1)}));
  const Expr images = ImagesOfRegions(node, node.CastTo(given, DataType::Int(64)), dtype);
  const Expr corners = node.Emit(relax::StridedSlice(rois, {1}, {I64(1)}, {I64(5)}, {I64(1)}));
  const Expr regions = node.CastTo(node.Emit(relax::Concat(Array<Expr>{images, corners}, 1)), node.DType(0));
  const auto size = node.Ints("pooled_shape").value_or(std::vector<int64_t>{});
  if (size.size() != 2) node.Fail("attribute 'pooled_shape' must be a height and a width");
  return {node.Emit(relax::vision::ROIPool(node.X(0), regions, size, node.Float("spatial_scale", 1.0)))};
}

Results ConvertCenterCropPad(const NodeContext& node) {
  Expr x = node.X(0);
  const int64_t rank = node.Rank(x);
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  if (const auto given = node.Ints("axes")) axes = node.Axes(*given, rank);
  const Array<PrimExpr> wanted = node.Sizes(1, "the shape", static_cast<int64_t>(axes.size()));
  if (wanted.size() != axes.size()) node.Fail("the shape does not fit the axes");
  Array<PrimExpr> begin;
  Array<PrimExpr> end;
  std::vector<PrimExpr> missing;
  for (size_t i = 0; i < axes.size(); ++i) {
    const PrimExpr length = node.Shape(x)[axes[i]];
    const PrimExpr& size = wanted[static_cast<int64_t>(i)];
    if (const auto number = AsConstInt(size); number && *number < 0) node.Fail("a negative dimension");
    const PrimExpr rest = node.Simplify(Max(length - size, I64(0)));
    begin.push_back(node.Simplify(FloorDiv(rest, I64(2))));
    end.push_back(node.Simplify(begin.back() + Min(length, size)));
    missing.push_back(node.Simplify(Max(size - length, I64(0))));
  }
  x = node.Emit(relax::StridedSlice(x, axes, begin, end));
  const Expr zero = node.Scalar(node.DType(x), 0);
  Array<PrimExpr> shape = node.Shape(x);
  for (size_t i = 0; i < axes.size(); ++i) {
    const PrimExpr before = node.Simplify(FloorDiv(missing[i], I64(2)));
    x = FillAxis(node, x, axes[i], before, node.Simplify(missing[i] - before), zero);
    shape.Set(axes[i], wanted[static_cast<int64_t>(i)]);
  }
  return {node.WithShape(x, shape)};
}

Results ConvertReverseSequence(const NodeContext& node) {
  const int64_t time = node.Int("time_axis", 0);
  const int64_t batch = node.Int("batch_axis", 1);
  if ((time != 0 && time != 1) || batch != 1 - time) node.Fail("time_axis and batch_axis must be 0 and 1");
  const PrimExpr steps = node.Simplify(node.Shape(0)[time]);
  const auto known = node.ConstInts(1);
  for (const int64_t length : known.value_or(std::vector<int64_t>())) {
    if (length < 0 || length > AsConstInt(steps).value_or(INT64_MAX)) {
      node.Fail("a sequence of " + std::to_string(length) + " steps along an axis that has others");
    }
  }
  const bool is_checked = known && AsConstInt(steps);
  const Expr lengths = is_checked ? node.X(1) : node.CheckedPositions(node.X(1), {node.Simplify(steps + 1)});
  return {node.Emit(relax::ReverseSequence(node.X(0), lengths, time, batch))};
}

Results ConvertTensorScatter(const NodeContext& node) {
  const Expr cache = node.X(0);
  const Array<PrimExpr> shape = node.Shape(cache);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = node.Axis(node.Int("axis", -2), rank);
  if (node.Rank(1) != rank) node.Fail("the update is of another rank than the cache");
  // But for its length it is as large as the cache.
  Array<PrimExpr> update_shape = shape;
  update_shape.Set(axis, node.Shape(1)[axis]);
  const Expr update = node.WithShape(node.X(1), update_shape);
  if (axis == 0) node.Fail("the axis is that of the batch");
  const std::string mode = node.Str("mode", "linear");
  if (mode != "linear" && mode != "circular") node.Fail("mode '" + mode + "' is unknown");
  const DataType dtype = DataType::Int(64);
  const Expr starts = node.Has(2) ? node.Reshaped(node.CastTo(node.X(2), dtype), {shape[0]})
                                  : Expr(node.Emit(relax::Zeros({I64(1)}, dtype)));
  return {node.Emit(relax::TensorScatter(cache, update, starts, shape[axis], axis, mode == "circular"))};
}

}  // namespace deuteron::onnx
