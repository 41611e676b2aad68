#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/nn.h"

namespace deuteron::topi {
namespace {

Array<PrimExpr> PaddedShape(const te::Tensor& x, const std::vector<int64_t>& before,
                            const std::vector<int64_t>& after) {
  Array<PrimExpr> shape;
  for (size_t i = 0; i < x.shape().size(); ++i) shape.push_back(x.shape()[i] + (before[i] + after[i]));
  return shape;
}

/// Pads by reading at `source(position - before, extent)` along each padded axis.
template <typename Source>
te::Tensor PadBy(const te::Tensor& x, const std::vector<int64_t>& before, const std::vector<int64_t>& after,
                 const std::string& name, const Source& source) {
  return te::Compute(
      PaddedShape(x, before, after),
      [&](const Array<tir::Var>& vars) {
        Array<PrimExpr> indices;
        for (size_t i = 0; i < vars.size(); ++i) {
          if (before[i] == 0 && after[i] == 0) {
            indices.push_back(vars[i]);
          } else {
            indices.push_back(source(vars[i], before[i], x.shape()[i]));
          }
        }
        return x(indices);
      },
      name);
}

PrimExpr Shifted(const PrimExpr& position, int64_t before) {
  return before >= 0 ? position - before : position + (-before);
}

}  // namespace

te::Tensor PadConstant(const te::Tensor& x, const std::vector<int64_t>& before, const std::vector<int64_t>& after,
                       const PrimExpr& value, const std::string& name, const std::vector<std::string>& axes) {
  return te::Compute(
      PaddedShape(x, before, after),
      [&](const Array<tir::Var>& vars) {
        Array<PrimExpr> indices;
        PrimExpr inside = True();
        for (size_t i = 0; i < vars.size(); ++i) {
          const PrimExpr position = vars[i];
          indices.push_back(Shifted(position, before[i]));
          if (before[i] > 0) inside = inside && (I64(before[i]) <= position);
          if (after[i] > 0) inside = inside && (position < x.shape()[i] + before[i]);
        }
        return IfThenElse(inside, x(indices), CastTo(x.dtype(), value));
      },
      name, {}, axes);
}

te::Tensor PadReflect(const te::Tensor& x, const std::vector<int64_t>& before, const std::vector<int64_t>& after) {
  return PadBy(x, before, after, "ReflectPadInput", [](const PrimExpr& position, int64_t pad, const PrimExpr& extent) {
    const PrimExpr distance = SelectExpr(I64(pad) <= position, Shifted(position, pad), I64(pad) - position);
    const PrimExpr last = extent - 1;
    return SelectExpr(distance <= last, distance, last + last - distance);
  });
}

te::Tensor PadEdge(const te::Tensor& x, const std::vector<int64_t>& before, const std::vector<int64_t>& after) {
  return PadBy(x, before, after, "ReplicatePadInput",
               [](const PrimExpr& position, int64_t pad, const PrimExpr& extent) {
                 return Max(Min(Shifted(position, pad), extent - 1), I64(0));
               });
}

te::Tensor PadCircular(const te::Tensor& x, const std::vector<int64_t>& before, const std::vector<int64_t>& after) {
  return PadBy(x, before, after, "CircularPadInput", [](const PrimExpr& position, int64_t pad, const PrimExpr& extent) {
    return FloorMod(Shifted(position, pad), extent);
  });
}

}  // namespace deuteron::topi
