#include "deuteron/topi/reduction.h"

#include <algorithm>
#include <limits>

#include "deuteron/arith/analyzer.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/lines.h"

namespace deuteron::topi {
namespace {

/// A reduction's axes, and the way from the result's indices to the operand's.
class ReducedAxes {
 public:
  ReducedAxes(const te::Tensor& x, const std::vector<size_t>& axes, bool keepdims) : keepdims_(keepdims) {
    for (size_t i = 0; i < x.shape().size(); ++i) {
      const bool is_reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
      is_reduced_.push_back(is_reduced);
      if (is_reduced) {
        iterators.push_back(te::ReduceAxis(x.shape()[i], "k" + std::to_string(i)));
        count = count * x.shape()[i];
      }
      if (!is_reduced) shape.push_back(x.shape()[i]);
      if (is_reduced && keepdims) shape.push_back(I64(1));
    }
  }

  /// Indices of the operand.
  Array<PrimExpr> SourceIndices(const Array<tir::Var>& vars) const {
    Array<PrimExpr> indices;
    size_t next_var = 0;
    size_t next_iterator = 0;
    for (const bool is_reduced : is_reduced_) {
      if (is_reduced) {
        indices.push_back(iterators[next_iterator++]->var);
        if (keepdims_) ++next_var;
      } else {
        indices.push_back(vars[next_var++]);
      }
    }
    return indices;
  }

  std::vector<std::string> Names() const { return NamesOfAxes(AxisNames::kAx, shape.size()); }

  Array<PrimExpr> shape;
  Array<tir::IterVar> iterators;
  /// Number of elements that are reduced to one.
  PrimExpr count = I64(1);

 private:
  std::vector<bool> is_reduced_;
  bool keepdims_;
};

/// Identities are infinite where the type has infinities: the maximum of nothing but -inf is -inf.
PrimExpr Lowest(DataType dtype) {
  return dtype.is_float() ? MakeConst(dtype, -std::numeric_limits<double>::infinity()) : MinValue(dtype);
}
PrimExpr Highest(DataType dtype) { return dtype.is_float() ? Infinity(dtype) : MaxValue(dtype); }

PrimExpr ExtremeOf(PrimExpr source, const Array<tir::IterVar>& axes, bool greatest) {
  const DataType dtype = source.dtype();
  const tir::Var lhs("x", dtype);
  const tir::Var rhs("y", dtype);
  const PrimExpr result = greatest ? Max(lhs, rhs) : Min(lhs, rhs);
  return tir::Reduce(tir::CommReducer({lhs}, {rhs}, {result}, {greatest ? Lowest(dtype) : Highest(dtype)}),
                     {std::move(source)}, axes);
}

PrimExpr CommonBitsOf(PrimExpr source, const Array<tir::IterVar>& axes) {
  const DataType dtype = source.dtype();
  const tir::Var lhs("x", dtype);
  const tir::Var rhs("y", dtype);
  const PrimExpr all = dtype.is_uint() ? MaxValue(dtype) : MakeConst(dtype, -1);
  return tir::Reduce(tir::CommReducer({lhs}, {rhs}, {CallIntrin("bitwise_and", {lhs, rhs})}, {all}),
                     {std::move(source)}, axes);
}

/// The sum over `axes` in the type of the accumulator, divided by the number of elements.
te::Tensor MeanInAccumulator(const te::Tensor& x, const std::vector<size_t>& axes, bool keepdims) {
  const DataType accumulator = AccumulatorType(x.dtype());
  const ReducedAxes reduced(x, axes, keepdims);
  const te::Tensor sum = te::Compute(
      reduced.shape,
      [&](const Array<tir::Var>& vars) {
        const PrimExpr value = CastTo(accumulator, x(reduced.SourceIndices(vars)));
        return reduced.iterators.empty() ? value : te::Sum(value, reduced.iterators);
      },
      std::string(x->op->name) + "_red", {}, reduced.Names());
  const PrimExpr count = CastTo(accumulator, reduced.count);
  return Map(
      sum, [&](PrimExpr value) { return accumulator.is_float() ? value / count : TruncDiv(value, count); }, "T_divide",
      AxisNames::kAx);
}

}  // namespace

te::Tensor Reduce(const te::Tensor& x, const std::vector<size_t>& axes, bool keepdims, ReduceKind kind) {
  const bool accumulates = kind == ReduceKind::kSum || kind == ReduceKind::kProd;
  const DataType dtype = accumulates ? AccumulatorType(x.dtype()) : x.dtype();
  const ReducedAxes reduced(x, axes, keepdims);
  const te::Tensor result = te::Compute(
      reduced.shape,
      [&](const Array<tir::Var>& vars) -> PrimExpr {
        const PrimExpr value = CastTo(dtype, x(reduced.SourceIndices(vars)));
        if (reduced.iterators.empty()) return value;
        switch (kind) {
          case ReduceKind::kSum:
            return te::Sum(value, reduced.iterators);
          case ReduceKind::kProd:
            return te::Prod(value, reduced.iterators);
          case ReduceKind::kMax:
            return ExtremeOf(value, reduced.iterators, true);
          case ReduceKind::kMin:
            return ExtremeOf(value, reduced.iterators, false);
          case ReduceKind::kBits:
            return CommonBitsOf(value, reduced.iterators);
        }
        DEUTERON_UNREACHABLE();
      },
      std::string(x->op->name) + "_red", {}, reduced.Names());
  return CastBack(result, x.dtype());
}

te::Tensor Mean(const te::Tensor& x, const std::vector<size_t>& axes, bool keepdims) {
  return CastBack(MeanInAccumulator(x, axes, keepdims), x.dtype());
}

te::Tensor Variance(const te::Tensor& x, const std::vector<size_t>& axes, bool keepdims) {
  const te::Tensor mean = MeanInAccumulator(x, axes, /*keepdims=*/true);
  const te::Tensor difference = te::Compute(
      x.shape(),
      [&](const Array<tir::Var>& vars) {
        return CastTo(mean.dtype(), x(Indices(vars))) - BroadcastAt(mean, x.shape(), vars);
      },
      "T_subtract", {}, NamesOfAxes(AxisNames::kAx, x.shape().size()));
  const te::Tensor square = Map(
      difference, [](PrimExpr value) { return value * value; }, "T_multiply", AxisNames::kAx);
  return CastBack(MeanInAccumulator(square, axes, keepdims), x.dtype());
}

te::Tensor ArgReduce(const te::Tensor& x, const std::vector<size_t>& axes, bool keepdims, bool greatest) {
  const ReducedAxes reduced(x, axes, keepdims);
  const std::string name = std::string(x->op->name) + "_red";
  if (reduced.iterators.empty()) {
    return te::Compute(
        reduced.shape, [](const Array<tir::Var>&) { return I64(0); }, name);
  }
  const DataType dtype = x.dtype().is_bool() ? DataType::UInt(8) : AccumulatorType(x.dtype());
  const auto at = [&](const ReducedAxes& axes_of, const Array<tir::Var>& vars) {
    return CastTo(dtype, x(axes_of.SourceIndices(vars)));
  };
  const te::Tensor extreme = te::Compute(
      reduced.shape,
      [&](const Array<tir::Var>& vars) { return ExtremeOf(at(reduced, vars), reduced.iterators, greatest); },
      name + "_extreme", {}, reduced.Names());
  // Vectors have twice as many lanes of int32.
  const auto count = AsConstInt(arith::Analyzer().Simplify(reduced.count));
  const DataType index_type =
      count && *count <= std::numeric_limits<int32_t>::max() ? DataType::Int(32) : DataType::Int(64);
  const ReducedAxes again(x, axes, keepdims);
  const te::Tensor first = te::Compute(
      again.shape,
      [&](const Array<tir::Var>& vars) {
        PrimExpr position = MakeConst(index_type, 0);
        for (const tir::IterVar& axis : again.iterators) {
          position = position * CastTo(index_type, axis->dom->extent) + CastTo(index_type, axis->var);
        }
        const PrimExpr value = at(again, vars);
        PrimExpr is_extreme = Equal(value, extreme(Array<PrimExpr>(vars.begin(), vars.end())));
        // The greatest and the least of numbers with a NaN among them are NaN.
        if (dtype.is_float()) is_extreme = is_extreme || CallIntrin("isnan", DataType::Bool(), {value});
        return te::MinReduce(SelectExpr(is_extreme, position, MaxValue(index_type)), again.iterators);
      },
      name + "_first", {}, again.Names());
  return Map(
      first, [](PrimExpr index) { return CastTo(DataType::Int(64), index); }, name, AxisNames::kAx);
}

te::Tensor Materialized(const te::Tensor& x) {
  if (x->op->attrs.count("te.scalar") == 0) return x;
  return te::Compute(
      x.shape(), [&](const Array<tir::Var>& vars) { return x(Indices(vars)); }, "T_scalar");
}

te::Tensor Scan(const te::Tensor& x, size_t axis, DataType dtype, bool exclusive, bool product) {
  const Lines lines(x.shape(), axis);
  const PrimExpr extent = x.shape()[axis];
  const auto body = [=](const Array<tir::Buffer>& inputs, const Array<tir::Buffer>& outputs,
                        const Array<tir::Var>& iterators) {
    const auto element = [&](const Lines::At& at, const PrimExpr& position) {
      return CastTo(dtype, tir::BufferLoad(inputs[0], at(position)));
    };
    const tir::Stmt start = lines.ForVectors(iterators, [&](const Lines::At& at) {
      const PrimExpr first = exclusive ? MakeConst(dtype, product ? 1 : 0) : element(at, I64(0));
      return tir::BufferStore(outputs[0], first, at(I64(0)));
    });
    const tir::Var k("k");
    const tir::Stmt step = lines.ForVectors(iterators, [&](const Lines::At& at) {
      const PrimExpr sum = tir::BufferLoad(outputs[0], at(k));
      const PrimExpr next = element(at, exclusive ? PrimExpr(k) : k + 1);
      return tir::BufferStore(outputs[0], product ? sum * next : sum + next, at(k + 1));
    });
    tir::Stmt scan = tir::SeqStmt::Flatten({start, tir::For(k, I64(0), extent - 1, tir::ForKind::kSerial, step)});
    if (AsConstInt(extent).value_or(0) <= 0) scan = tir::IfThenElse(extent > 0, scan);  // may be empty
    const Array<tir::Range> region = lines.Region(iterators);
    return te::ExternBlock{scan, {tir::BufferRegion(inputs[0], region)}, {tir::BufferRegion(outputs[0], region)}};
  };
  return te::Extern(product ? "cumprod" : "cumsum", {Materialized(x)}, {{x.shape(), dtype}}, lines.spatial(), body)[0];
}

}  // namespace deuteron::topi
