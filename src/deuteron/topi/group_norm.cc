/// \file
/// Group norms of images whose channels come last.
///
/// A group's elements then lie apart, some channels of each pixel. So there is a mean of each channel first, and what
/// is around it, of some lines of the image at a time: vectors of channels, lines that are read again are still in the
/// cache, and parts enough for all threads. What groups have in common is made of these few numbers (Chan, Golub and
/// LeVeque, Updating formulae and a pairwise algorithm for computing sample variances, 1979): of parts of `n` elements
/// with means m_i and squared distances S_i from these, the squared distances from the common mean m are
/// Σ S_i + n · (m_i - m)². All means are relative to a pivot (pivot.h), so that the common one is rounded once.
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/nn.h"
#include "deuteron/topi/pivot.h"

namespace deuteron::topi {
namespace {

/// An image (n, parts, s1, …, c).
class Image {
 public:
  explicit Image(const te::Tensor& x) : x_(x) {}

  PrimExpr batch() const { return x_.shape()[0]; }
  PrimExpr num_parts() const { return x_.shape()[1]; }
  PrimExpr channels() const { return x_.shape()[x_.ndim() - 1]; }
  /// Of each channel in a part.
  PrimExpr Elements() const {
    PrimExpr count = I64(1);
    for (int64_t axis = 2; axis + 1 < x_.ndim(); ++axis) count = count * x_.shape()[axis];
    return count;
  }
  /// The number that means of a channel are relative to.
  PrimExpr PivotOf(const PrimExpr& image, const PrimExpr& channel) const {
    Array<PrimExpr> first = {image};
    for (int64_t axis = 1; axis + 1 < x_.ndim(); ++axis) first.push_back(I64(0));
    first.push_back(channel);
    return Pivot(x_(first), Elements() * num_parts());
  }
  /// Σ value(x - pivot) over the elements of each channel in each part.
  te::Tensor Sums(const std::string& name,
                  const std::function<PrimExpr(const PrimExpr&, const Array<PrimExpr>&)>& value) const {
    Array<tir::IterVar> reduce;
    for (int64_t axis = 2; axis + 1 < x_.ndim(); ++axis) {
      reduce.push_back(te::ReduceAxis(x_.shape()[axis], "k" + std::to_string(axis)));
    }
    return te::Compute(
        {batch(), num_parts(), channels()},
        [&](const Array<tir::Var>& vars) {
          Array<PrimExpr> at = {vars[0], vars[1]};
          for (const tir::IterVar& axis : reduce) at.push_back(axis->var);
          at.push_back(vars[2]);
          const PrimExpr element = CastTo(DataType::Float(32), x_(at)) - PivotOf(vars[0], vars[2]);
          return te::Sum(value(element, Indices(vars)), reduce);
        },
        name, {}, NamesOfAxes(AxisNames::kAx, 3));
  }

 private:
  const te::Tensor& x_;
};

/// Σ of each channel's values over the parts.
te::Tensor OverParts(const te::Tensor& like, const std::string& name,
                     const std::function<PrimExpr(const Array<PrimExpr>&)>& value) {
  const tir::IterVar part = te::ReduceAxis(like.shape()[1], "k1");
  return te::Compute(
      {like.shape()[0], like.shape()[2]},
      [&](const Array<tir::Var>& vars) {
        return te::Sum(value({vars[0], part->var, vars[1]}), {part});
      },
      name, {}, NamesOfAxes(AxisNames::kAx, 2));
}

/// Σ over the channels of each group.
te::Tensor OverGroups(const te::Tensor& x, int64_t groups, const PrimExpr& per_group, const std::string& name) {
  const tir::IterVar channel = te::ReduceAxis(per_group, "kc");
  return te::Compute(
      {x.shape()[0], I64(groups)},
      [&](const Array<tir::Var>& vars) {
        return te::Sum(x({vars[0], vars[1] * per_group + channel->var}), {channel});
      },
      name, {}, NamesOfAxes(AxisNames::kAx, 2));
}

}  // namespace

Array<te::Tensor> PartMoments(const te::Tensor& x) {
  const Image image(x);
  const std::string name(x->op->name);
  const te::Tensor sum =
      image.Sums(name + "_sum", [](const PrimExpr& element, const Array<PrimExpr>&) { return element; });
  const PrimExpr share = Reciprocal(CastTo(DataType::Float(32), image.Elements()));
  const te::Tensor mean = Map(
      sum, [&](const PrimExpr& total) { return total * share; }, name + "_mean", AxisNames::kAx);
  const te::Tensor squares =
      image.Sums(name + "_var_sum", [&](const PrimExpr& element, const Array<PrimExpr>& channel) {
        const PrimExpr distance = element - mean(channel);
        return distance * distance;
      });
  return {mean, squares};
}

Array<te::Tensor> GroupMoments(const te::Tensor& x, const te::Tensor& mean, const te::Tensor& squares, int64_t groups,
                               double epsilon) {
  const Image image(x);
  const DataType dtype = mean.dtype();
  const std::string name(x->op->name);
  const PrimExpr per_group = FloorDiv(image.channels(), groups), in_part = CastTo(dtype, image.Elements());
  const Array<PrimExpr> of_channels = {image.batch(), image.channels()};
  const auto group_of = [&](const PrimExpr& channel) { return FloorDiv(channel, per_group); };
  // Of the first channel, for all of a group.
  const auto pivot = [&](const PrimExpr& at, const PrimExpr& channel) {
    return image.PivotOf(at, group_of(channel) * per_group);
  };
  const auto compute = [&](const std::string& stage,
                           const std::function<PrimExpr(const PrimExpr&, const PrimExpr&)>& value) {
    return te::Compute(
        of_channels, [&](const Array<tir::Var>& vars) { return value(vars[0], vars[1]); }, name + stage, {},
        NamesOfAxes(AxisNames::kAx, 2));
  };
  const te::Tensor total = OverParts(mean, name + "_parts", [&](const Array<PrimExpr>& at) { return mean(at); });
  const PrimExpr share = Reciprocal(CastTo(dtype, image.num_parts()));
  const te::Tensor from_pivot = compute("_from_pivot", [&](const PrimExpr& at, const PrimExpr& channel) {
    return (image.PivotOf(at, channel) - pivot(at, channel)) + total({at, channel}) * share;
  });
  const te::Tensor of_group = OverGroups(from_pivot, groups, per_group, name + "_group_sum");
  const PrimExpr part_of_group = Reciprocal(CastTo(dtype, per_group));
  const auto group_mean = [&](const PrimExpr& at, const PrimExpr& channel) {
    return of_group({at, group_of(channel)}) * part_of_group;
  };
  const te::Tensor from_mean = compute("_from_mean", [&](const PrimExpr& at, const PrimExpr& channel) {
    return (image.PivotOf(at, channel) - pivot(at, channel)) - group_mean(at, channel);
  });
  const te::Tensor around = OverParts(mean, name + "_around", [&](const Array<PrimExpr>& at) {
    const PrimExpr distance = from_mean({at[0], at[2]}) + mean(at);
    return squares(at) + in_part * (distance * distance);
  });
  const te::Tensor var_sum = OverGroups(around, groups, per_group, name + "_group_var_sum");
  const PrimExpr count = Reciprocal(CastTo(dtype, image.Elements() * image.num_parts() * per_group));
  return {compute("_group_mean", [&](const PrimExpr& at,
                                     const PrimExpr& channel) { return pivot(at, channel) + group_mean(at, channel); }),
          compute("_rsqrt", [&](const PrimExpr& at, const PrimExpr& channel) {
            return CallIntrin("rsqrt", {var_sum({at, group_of(channel)}) * count + MakeConst(dtype, epsilon)});
          })};
}

te::Tensor WithMoments(const te::Tensor& x, const te::Tensor& mean, const te::Tensor& scale, const te::Tensor& gamma,
                       const te::Tensor& beta) {
  return te::Compute(
      x.shape(),
      [&](const Array<tir::Var>& vars) {
        const PrimExpr channel = vars[vars.size() - 1];
        const Array<PrimExpr> at = {vars[0], channel};
        PrimExpr value = (CastTo(mean.dtype(), x(Indices(vars))) - mean(at)) * scale(at);
        if (gamma.defined()) value = value * CastTo(mean.dtype(), gamma({channel}));
        if (beta.defined()) value = value + CastTo(mean.dtype(), beta({channel}));
        return CastTo(x.dtype(), value);
      },
      "T_group_norm", {}, NamesOfAxes(AxisNames::kAx, x.shape().size()));
}

}  // namespace deuteron::topi
