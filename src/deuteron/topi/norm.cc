#include <algorithm>

#include "deuteron/tir/block_annotations.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/nn.h"
#include "deuteron/topi/pivot.h"

namespace deuteron::topi {
namespace {

deuteron::Map<String, Any> AttrsOfSum(bool has_pivot) {
  if (!has_pivot) return {};
  return {{tir::kSubtractsLast, true}};
}

/// A tensor whose axes are divided into reduced and kept ones.
struct Reduction {
  const te::Tensor& x;
  std::vector<size_t> axes;
  DataType accumulator = AccumulatorType(x.dtype());

  bool IsReduced(size_t axis) const { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }
  /// The product of the extents reduced.
  PrimExpr Elements() const {
    PrimExpr count = I64(1);
    for (const size_t axis : axes) count = count * x.shape()[axis];
    return count;
  }
  PrimExpr Count() const { return CastTo(accumulator, Elements()); }
  Array<PrimExpr> Kept(const Array<PrimExpr>& all) const {
    Array<PrimExpr> kept;
    for (size_t i = 0; i < all.size(); ++i) {
      if (!IsReduced(i)) kept.push_back(all[i]);
    }
    return kept;
  }
  Array<PrimExpr> Reduced(const Array<PrimExpr>& all) const {
    Array<PrimExpr> reduced;
    for (const size_t axis : axes) reduced.push_back(all[axis]);
    return reduced;
  }
  /// Sums `element`(indices of all axes, of the kept ones) over the reduced axes.
  te::Tensor Sum(const std::string& name,
                 const std::function<PrimExpr(const Array<PrimExpr>&, const Array<PrimExpr>&)>& element,
                 const deuteron::Map<String, Any>& attrs = kEmpty) const {
    Array<tir::IterVar> reduce;
    for (const size_t axis : axes) reduce.push_back(te::ReduceAxis(x.shape()[axis], "k" + std::to_string(axis)));
    const Array<PrimExpr> shape = Kept(x.shape());
    return te::Compute(
        shape,
        [&](const Array<tir::Var>& vars) {
          Array<PrimExpr> all;
          size_t next = 0;
          for (size_t i = 0; i < x.shape().size(); ++i) {
            const auto found = std::find(axes.begin(), axes.end(), i);
            all.push_back(found == axes.end() ? PrimExpr(vars[next++]) : PrimExpr(reduce[found - axes.begin()]->var));
          }
          return te::Sum(element(all, Indices(vars)), reduce);
        },
        name, attrs, NamesOfAxes(AxisNames::kAx, shape.size()));
  }
  PrimExpr Element(const Array<PrimExpr>& all) const { return CastTo(accumulator, x(all)); }
  /// Of the row at the kept indices.
  PrimExpr PivotAt(const Array<PrimExpr>& kept) const {
    Array<PrimExpr> first;
    size_t next = 0;
    for (size_t i = 0; i < x.shape().size(); ++i) first.push_back(IsReduced(i) ? I64(0) : kept[next++]);
    return Pivot(x(first), Elements());
  }
};

/// The mean of the reduced axes, then the sum of squared distances from it: two passes, so that a large
/// mean does not swallow the variance.
struct Moments {
  te::Tensor mean;
  te::Tensor squares;
};

Moments TwoPassMoments(const Reduction& reduction, const std::string& prefix) {
  const bool has_pivot = HasPivot(reduction.accumulator);
  const te::Tensor sum = reduction.Sum(
      prefix + "_sum",
      [&](const Array<PrimExpr>& all, const Array<PrimExpr>& kept) {
        return has_pivot ? reduction.Element(all) - reduction.PivotAt(kept) : reduction.Element(all);
      },
      AttrsOfSum(has_pivot));
  const PrimExpr count = reduction.Count();
  const te::Tensor mean = te::Compute(
      sum.shape(),
      [&](const Array<tir::Var>& vars) {
        const PrimExpr total = sum(Indices(vars));
        return has_pivot ? reduction.PivotAt(Indices(vars)) + total * Reciprocal(count) : total / count;
      },
      prefix + "_mean", {}, NamesOfAxes(AxisNames::kAx, sum.shape().size()));
  const te::Tensor squares =
      reduction.Sum(prefix + "_var_sum", [&](const Array<PrimExpr>& all, const Array<PrimExpr>& kept) {
        const PrimExpr distance = reduction.Element(all) - mean(kept);
        return distance * distance;
      });
  return {mean, squares};
}

PrimExpr Rsqrt(PrimExpr value) { return CallIntrin("rsqrt", {std::move(value)}); }

}  // namespace

te::Tensor LayerNorm(const te::Tensor& x, const te::Tensor& gamma, const te::Tensor& beta,
                     const std::vector<size_t>& axes, double epsilon, std::optional<size_t> channel_axis) {
  const Reduction reduction{x, axes};
  const DataType accumulator = reduction.accumulator;
  const Moments moments = TwoPassMoments(reduction, std::string(x->op->name));
  return te::Compute(
      x.shape(),
      [&](const Array<tir::Var>& vars) {
        const Array<PrimExpr> all = Indices(vars);
        const Array<PrimExpr> kept = reduction.Kept(all);
        const Array<PrimExpr> of = channel_axis ? Array<PrimExpr>{all[*channel_axis]} : reduction.Reduced(all);
        const PrimExpr variance = moments.squares(kept) * Reciprocal(reduction.Count());
        PrimExpr value =
            (reduction.Element(all) - moments.mean(kept)) * Rsqrt(variance + MakeConst(accumulator, epsilon));
        if (gamma.defined()) value = value * CastTo(accumulator, gamma(of));
        if (beta.defined()) value = value + CastTo(accumulator, beta(of));
        return CastTo(x.dtype(), value);
      },
      channel_axis ? "T_instance_norm" : "T_layer_norm", {}, NamesOfAxes(AxisNames::kAx, x.shape().size()));
}

te::Tensor GroupNorm(const te::Tensor& x, const te::Tensor& gamma, const te::Tensor& beta, int64_t num_groups,
                     size_t channel_axis, const std::vector<size_t>& axes, double epsilon, const std::string& name) {
  const DataType accumulator = AccumulatorType(x.dtype());
  const PrimExpr channels = x.shape()[channel_axis];
  const PrimExpr per_group = FloorDiv(channels, num_groups);
  const auto is_reduced = [&](size_t axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); };
  Array<PrimExpr> stat_shape;
  for (size_t i = 0; i < x.shape().size(); ++i) {
    if (i == channel_axis) {
      stat_shape.push_back(I64(num_groups));
    } else if (!is_reduced(i)) {
      stat_shape.push_back(x.shape()[i]);
    }
  }
  PrimExpr elements = per_group;
  for (const size_t axis : axes) elements = elements * x.shape()[axis];
  const PrimExpr count = CastTo(accumulator, elements);
  const bool has_pivot = HasPivot(accumulator);
  const auto pivot = [&](const Array<PrimExpr>& stat) {
    Array<PrimExpr> first;
    size_t next = 0;
    for (size_t i = 0; i < x.shape().size(); ++i) {
      if (i == channel_axis) {
        first.push_back(stat[next++] * per_group);
      } else {
        first.push_back(is_reduced(i) ? I64(0) : stat[next++]);
      }
    }
    return Pivot(x(first), elements);
  };

  const auto reduce = [&](const std::string& stage,
                          const std::function<PrimExpr(PrimExpr, const Array<PrimExpr>&)>& element,
                          const deuteron::Map<String, Any>& attrs) {
    const bool groups_channels = !IsOne(per_group);
    const tir::IterVar channel = te::ReduceAxis(per_group, "kc");
    Array<tir::IterVar> reduction;
    if (groups_channels) reduction.push_back(channel);
    std::vector<tir::IterVar> by_axis(x.shape().size());
    for (const size_t axis : axes) {
      by_axis[axis] = te::ReduceAxis(x.shape()[axis], "k" + std::to_string(axis));
      reduction.push_back(by_axis[axis]);
    }
    return te::Compute(
        stat_shape,
        [&](const Array<tir::Var>& vars) {
          Array<PrimExpr> all;
          size_t next = 0;
          for (size_t i = 0; i < x.shape().size(); ++i) {
            if (i == channel_axis) {
              const PrimExpr group = vars[next++];
              all.push_back(groups_channels ? group * per_group + channel->var : group);
            } else {
              all.push_back(is_reduced(i) ? PrimExpr(by_axis[i]->var) : PrimExpr(vars[next++]));
            }
          }
          return te::Sum(element(CastTo(accumulator, x(all)), Indices(vars)), reduction);
        },
        std::string(x->op->name) + stage, attrs, NamesOfAxes(AxisNames::kAx, stat_shape.size()));
  };
  const te::Tensor sum = reduce(
      "_sum",
      [&](PrimExpr element, const Array<PrimExpr>& stat) {
        return has_pivot ? std::move(element) - pivot(stat) : element;
      },
      AttrsOfSum(has_pivot));
  const te::Tensor mean = te::Compute(
      stat_shape,
      [&](const Array<tir::Var>& vars) {
        const PrimExpr total = sum(Indices(vars));
        return has_pivot ? pivot(Indices(vars)) + total * Reciprocal(count) : total / count;
      },
      std::string(x->op->name) + "_mean", {}, NamesOfAxes(AxisNames::kAx, stat_shape.size()));
  const te::Tensor squares = reduce("_var_sum",
                                    [&](PrimExpr element, const Array<PrimExpr>& stat) {
                                      const PrimExpr distance = element - mean(stat);
                                      return distance * distance;
                                    },
                                    {});
  return te::Compute(
      x.shape(),
      [&](const Array<tir::Var>& vars) {
        Array<PrimExpr> stat;
        for (size_t i = 0; i < vars.size(); ++i) {
          if (i == channel_axis) {
            stat.push_back(FloorDiv(vars[i], per_group));
          } else if (!is_reduced(i)) {
            stat.push_back(vars[i]);
          }
        }
        const PrimExpr variance = squares(stat) * Reciprocal(count);
        PrimExpr value =
            (CastTo(accumulator, x(Indices(vars))) - mean(stat)) * Rsqrt(variance + MakeConst(accumulator, epsilon));
        if (gamma.defined()) value = value * CastTo(accumulator, gamma({vars[channel_axis]}));
        if (beta.defined()) value = value + CastTo(accumulator, beta({vars[channel_axis]}));
        return CastTo(x.dtype(), value);
      },
      name, {}, NamesOfAxes(AxisNames::kAx, x.shape().size()));
}

te::Tensor RMSNorm(const te::Tensor& x, const te::Tensor& weight, const std::vector<size_t>& axes, double epsilon) {
  const Reduction reduction{x, axes};
  const DataType accumulator = reduction.accumulator;
  const te::Tensor squares = reduction.Sum("T_multiply_red", [&](const Array<PrimExpr>& all, const Array<PrimExpr>&) {
    return reduction.Element(all) * reduction.Element(all);
  });
  const te::Tensor scale = Map(
      squares, [&](PrimExpr total) { return Rsqrt(total / reduction.Count() + MakeConst(accumulator, epsilon)); },
      "rsqrt", AxisNames::kAx);
  return te::Compute(
      x.shape(),
      [&](const Array<tir::Var>& vars) {
        const Array<PrimExpr> all = Indices(vars);
        return CastTo(x.dtype(), scale(reduction.Kept(all)) * reduction.Element(all) *
                                     CastTo(accumulator, weight(reduction.Reduced(all))));
      },
      "T_rms_norm", {}, NamesOfAxes(AxisNames::kAx, x.shape().size()));
}

Array<te::Tensor> BatchNorm(const te::Tensor& x, const te::Tensor& gamma, const te::Tensor& beta,
                            const te::Tensor& mean, const te::Tensor& variance, const BatchNormSpec& spec) {
  std::vector<size_t> axes;
  for (size_t i = 0; i < x.shape().size(); ++i) {
    if (i != spec.axis) axes.push_back(i);
  }
  const Reduction reduction{x, axes};
  const DataType accumulator = reduction.accumulator;
  const auto copy = [](const te::Tensor& tensor, const std::string& name) {
    return Map(
        tensor, [](PrimExpr value) { return value; }, name, AxisNames::kAx);
  };
  te::Tensor used_mean = mean;
  te::Tensor used_variance = variance;
  te::Tensor new_mean;
  te::Tensor new_variance;
  if (spec.training) {
    const Moments moments = TwoPassMoments(reduction, std::string(x->op->name));
    used_mean = moments.mean;
    used_variance = Map(
        moments.squares, [&](PrimExpr total) { return total / reduction.Count(); }, std::string(x->op->name) + "_var",
        AxisNames::kAx);
    const auto blend = [&](PrimExpr old_value, PrimExpr batch_value) {
      const DataType dtype = old_value.dtype();
      return old_value * MakeConst(dtype, 1.0 - spec.momentum) +
             CastTo(dtype, batch_value) * MakeConst(dtype, spec.momentum);
    };
    new_mean = Zip(mean, used_mean, blend, "T_add");
    new_variance = Zip(variance, used_variance, blend, "T_add");
  } else {
    new_mean = copy(mean, "T_multiply");
    new_variance = copy(variance, "T_multiply");
  }
  const te::Tensor output = te::Compute(
      x.shape(),
      [&](const Array<tir::Var>& vars) {
        const PrimExpr channel = vars[spec.axis];
        const auto at = [&](const te::Tensor& tensor) { return CastTo(accumulator, tensor({channel})); };
        PrimExpr value = (reduction.Element(Indices(vars)) - at(used_mean)) /
                         CallIntrin("sqrt", {at(used_variance) + MakeConst(accumulator, spec.epsilon)});
        if (spec.scale) value = value * at(gamma);
        if (spec.center) value = value + at(beta);
        return CastTo(x.dtype(), value);
      },
      "T_add", {}, NamesOfAxes(AxisNames::kAx, x.shape().size()));
  return {output, new_mean, new_variance};
}

}  // namespace deuteron::topi
