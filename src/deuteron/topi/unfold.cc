#include "deuteron/topi/nn.h"

namespace deuteron::topi {

te::Tensor UnfoldLines(const te::Tensor& image, const Array<PrimExpr>& shape, const ImageAxes& axes,
                       const LineWindow& window) {
  return te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        const PrimExpr channel = FloorDiv(vars[3], window.places), tap = FloorMod(vars[3], window.places);
        const PrimExpr line = vars[1] - window.above;
        const PrimExpr column = vars[2] * window.stride + tap * window.dilation - window.left;
        Array<PrimExpr> index(4, vars[0]);
        index.Set(axes.channels, channel);
        index.Set(axes.lines, line);
        index.Set(axes.columns, column);
        const auto is_inside = [&](const PrimExpr& at, int64_t axis) {
          return I64(0) <= at && at < image.shape()[axis];
        };
        const PrimExpr is_tap = tap < I64(window.taps);
        return IfThenElse(is_tap && is_inside(line, axes.lines) && is_inside(column, axes.columns), image(index),
                          MakeConst(image.dtype(), 0));
      },
      "unfold_lines");
}

}  // namespace deuteron::topi
