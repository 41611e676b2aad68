/// \file
/// What lengths have to be: said while compiling where they are numbers, by the run where only that tells them.
#pragma once

#include <string>
#include <vector>

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// Each of `lengths` (`what` calls one of them) has to be at least `least`: a ModelError where one is less, else an
/// error of the run.
void RequireAtLeast(const NodeContext& node, const Array<PrimExpr>& lengths, int64_t least, const std::string& what);

/// The same of axes of `x` from which elements are taken wherever the indices lie: there has to be one.
void RequireElements(const NodeContext& node, const relax::Expr& x, const std::vector<int64_t>& axes,
                     const std::string& what);

/// The same of an axis that becomes `result` long, of elements it has: of nothing, nothing can be made.
void RequireSource(const NodeContext& node, const PrimExpr& length, const PrimExpr& result, const std::string& what);

}  // namespace deuteron::onnx
