/// \file
/// Regions resampled to one size, and the grid of an affine transformation.
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/lines.h"
#include "deuteron/topi/reduction.h"
#include "deuteron/topi/resize.h"
#include "deuteron/topi/sample_coordinates.h"

namespace deuteron::topi {
namespace {

using tir::Bind;
using tir::Buffer;
using tir::BufferLoad;
using tir::BufferStore;
using tir::For;
using tir::ForKind;
using tir::Stmt;
using tir::Var;

PrimExpr ToIndex(const char* rounding, const PrimExpr& value) {
  return CastTo(DataType::Int(64), CallIntrin(rounding, {value}));
}

/// One axis of a bin: where it begins, its length, and how many samples lie in it.
struct BinAxis {
  PrimExpr begin;
  PrimExpr length;
  PrimExpr samples;
};

BinAxis BinOf(const PrimExpr& first, const PrimExpr& last, const PrimExpr& bin, const PrimExpr& bins,
              const ROIAlignSpec& spec) {
  const PrimExpr scale = Real(spec.spatial_scale);
  PrimExpr length = (last - first) * scale;
  if (!spec.aligned) length = Max(length, Real(1.0));
  length = length / Real(bins);
  return {first * scale + Real(bin) * length, length,
          spec.sample_ratio > 0 ? I64(spec.sample_ratio) : ToIndex("ceil", length)};
}

/// Samples of an axis of a bin, and whether there are others, which lie outside of the image.
struct SampleRange {
  PrimExpr first;
  PrimExpr count;
  PrimExpr is_part;
};

/// Those that may lie in an image of `extent` pixels: where their number follows from the region, it may be as large as
/// any number. Two more at both ends, for what rounding does to their places.
SampleRange SamplesInside(const BinAxis& axis, const PrimExpr& count, const PrimExpr& extent) {
  const auto sample_at = [&](const PrimExpr& place) {
    return (place - axis.begin) * Real(count) / axis.length - Real(0.5);
  };
  const PrimExpr one = sample_at(Real(-1.0));
  const PrimExpr other = sample_at(Real(extent));
  const auto within = [&](const PrimExpr& sample) { return Min(Max(sample, Real(0.0)), Real(count)); };
  const PrimExpr first = Max(ToIndex("floor", within(Min(one, other))) - 2, I64(0));
  const PrimExpr end = Min(ToIndex("ceil", within(Max(one, other))), count - 2) + 2;
  return {first, end - first, first > 0 || end < count};
}

}  // namespace

/// Places and weights of a sample are computed once for all channels, which are the innermost loop.
te::Tensor ROIAlign(const te::Tensor& data, const te::Tensor& rois, const Array<PrimExpr>& shape,
                    const ROIAlignSpec& spec) {
  const size_t row_axis = spec.channels_last ? 1 : 2;
  const PrimExpr height = data.shape()[row_axis];
  const PrimExpr width = data.shape()[row_axis + 1];
  const PrimExpr channels = data.shape()[spec.channels_last ? 3 : 1];
  const Array<PrimExpr> bins = {shape[0], shape[row_axis], shape[row_axis + 1]};
  const Array<PrimExpr> sums = {bins[0], bins[1], bins[2], channels};
  const DataType dtype = data.dtype();
  const auto body = [=](const Array<Buffer>& inputs, const Array<Buffer>& outputs, const Array<Var>& bin) {
    const auto roi = [&](int64_t field) { return Real(BufferLoad(inputs[1], {bin[0], I64(field)})); };
    const BinAxis rows = BinOf(roi(2), roi(4), bin[1], bins[1], spec);
    const BinAxis columns = BinOf(roi(1), roi(3), bin[2], bins[2], spec);
    const Var row_count("rows");
    const Var column_count("columns");
    const Var i("rh");
    const Var j("rw");
    const auto coordinate = [](const BinAxis& axis, const Var& sample, const Var& count) {
      return axis.begin + (Real(PrimExpr(sample)) + Real(0.5)) * axis.length / Real(PrimExpr(count));
    };
    const Var y("y", kReal);
    const Var x("x", kReal);
    const auto inside = [](const PrimExpr& value, const PrimExpr& extent) {
      return Min(Max(value, Real(0.0)), Real(extent - 1));
    };
    const Var image("image");
    const Var top("top");
    const Var left("left");
    const Var bottom("bottom");
    const Var right("right");
    const Var ty("ty", kReal);
    const Var tx("tx", kReal);
    const bool is_term = spec.mode == ROIAlignMode::kMaxTerm;
    const bool is_average = spec.mode == ROIAlignMode::kAverage;
    const auto joined = [is_term](const PrimExpr& a, const PrimExpr& b) { return is_term ? Max(a, b) : a + b; };
    const PrimExpr count = Real(PrimExpr(row_count)) * Real(PrimExpr(column_count));
    const auto sum_at = [&](const PrimExpr& channel) { return Array<PrimExpr>{bin[0], bin[1], bin[2], channel}; };
    const auto add = [&](const PrimExpr& channel, const PrimExpr& sample) {
      const PrimExpr so_far = BufferLoad(outputs[1], sum_at(channel));
      return BufferStore(outputs[1], is_average ? so_far + sample / count : Max(so_far, sample), sum_at(channel));
    };
    const Stmt of_pixels = ForLanes(channels, [&](const PrimExpr& channel) {
      const auto pixel = [&](const Var& row, const Var& column) {
        return Real(BufferLoad(inputs[0], {image, row, column, channel}));
      };
      const PrimExpr upper = joined(pixel(top, left) * (Real(1.0) - tx), pixel(top, right) * tx);
      const PrimExpr lower = joined(pixel(bottom, left) * (Real(1.0) - tx), pixel(bottom, right) * tx);
      return add(channel, joined(upper * (Real(1.0) - ty), lower * ty));
    });
    const Stmt of_none = ForLanes(channels, [&](const PrimExpr& channel) { return add(channel, Real(0.0)); });
    const PrimExpr outside = y < Real(-1.0) || x < Real(-1.0) || y > Real(height) || x > Real(width);
    const Stmt step = tir::SeqStmt::Flatten(
        {Bind(y, coordinate(rows, i, row_count)), Bind(x, coordinate(columns, j, column_count)),
         Bind(top, ToIndex("floor", inside(y, height))), Bind(left, ToIndex("floor", inside(x, width))),
         Bind(ty, inside(y, height) - Real(PrimExpr(top))), Bind(tx, inside(x, width) - Real(PrimExpr(left))),
         Bind(bottom, Min(top + 1, height - 1)), Bind(right, Min(left + 1, width - 1)),
         tir::IfThenElse(outside, of_none, of_pixels)});
    // Of a number that the model gives the work is known before (CheckKernels).
    const auto range = [&](const BinAxis& axis, const Var& samples, const PrimExpr& extent) {
      return spec.sample_ratio > 0 ? SampleRange{I64(0), axis.samples, False()} : SamplesInside(axis, samples, extent);
    };
    const SampleRange inside_rows = range(rows, row_count, height);
    const SampleRange inside_columns = range(columns, column_count, width);
    const Stmt loops = For(i, inside_rows.first, inside_rows.count, ForKind::kSerial,
                           For(j, inside_columns.first, inside_columns.count, ForKind::kSerial, step));
    // A sample outside is 0, and so is a bin without samples in ONNX.
    const PrimExpr any = row_count > 0 && column_count > 0;
    const PrimExpr any_outside = any && (inside_rows.is_part || inside_columns.is_part);
    const Var start("start", kReal);
    const PrimExpr first = is_average ? Real(0.0)
                           : is_term  ? IfThenElse(any && !any_outside, MinValue(kReal), Real(0.0))
                                      : IfThenElse(any_outside, Real(0.0), MinValue(kReal));
    const Stmt fill =
        ForLanes(channels, [&](const PrimExpr& channel) { return BufferStore(outputs[1], start, sum_at(channel)); });
    const Var channel("c");
    const Array<PrimExpr> target =
        spec.channels_last ? sum_at(channel) : Array<PrimExpr>{bin[0], channel, bin[1], bin[2]};
    const Stmt store = For(channel, I64(0), channels, ForKind::kSerial,
                           BufferStore(outputs[0], CastTo(dtype, BufferLoad(outputs[1], sum_at(channel))), target));
    return te::ExternBlock{
        tir::SeqStmt::Flatten({Bind(image, ToIndex("trunc", roi(0))), Bind(row_count, rows.samples),
                               Bind(column_count, columns.samples), Bind(start, first), fill, loops, store}),
        {},
        {}};
  };
  const te::Tensor image = spec.channels_last ? Materialized(data) : ChannelsLast(data);
  return te::Extern("roi_align", {image, Materialized(rois)}, {{shape, dtype}, {sums, kReal}}, bins, body)[0];
}

te::Tensor AffineGrid(const te::Tensor& theta, const Array<PrimExpr>& shape, bool align_corners) {
  const DataType dtype = theta.dtype();
  // Positions on an axis, in [-1, 1].
  const auto normalized = [&](const PrimExpr& index, const PrimExpr& extent) {
    if (align_corners) {
      return Real(index) * (Real(2.0) / Real(Max(extent - 1, I64(1)))) - Real(1.0);
    }
    return (Real(index) * Real(2.0) + Real(1.0)) / Real(extent) - Real(1.0);
  };
  return te::Compute(shape,
                     [&](const Array<Var>& vars) {
                       const auto entry = [&](int64_t column) { return Real(theta({vars[0], vars[1], I64(column)})); };
                       const PrimExpr y = normalized(vars[2], shape[2]);
                       const PrimExpr x = normalized(vars[3], shape[3]);
                       return CastTo(dtype, entry(0) * x + entry(1) * y + entry(2));
                     },
                     "affine_grid", {}, {"n", "d", "h", "w"});
}

}  // namespace deuteron::topi
