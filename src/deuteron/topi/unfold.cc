#include "deuteron/tir/block_annotations.h"
#include "deuteron/topi/nn.h"

namespace deuteron::topi {

te::Tensor UnfoldLines(const te::Tensor& image, const Array<PrimExpr>& shape, const ImageAxes& axes,
                       const LineWindow& window) {
  return te::Compute(shape,
                     [&](const Array<tir::Var>& vars) {
                       Array<PrimExpr> index(4, vars[0]);
                       index.Set(axes.lines, vars[1]);
                       index.Set(axes.columns, vars[2] * window.stride + vars[4] * window.dilation);
                       index.Set(axes.channels, vars[3]);
                       const PrimExpr seen = image(index);
                       if (window.places == window.taps) return seen;
                       return IfThenElse(vars[4] < I64(window.taps), seen, MakeConst(image.dtype(), 0));
                     },
                     "unfold_lines", {{tir::kOpPattern, tir::kNeverFused}});
}

}  // namespace deuteron::topi
