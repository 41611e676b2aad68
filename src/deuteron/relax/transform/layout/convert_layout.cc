/// \file
/// ConvertLayout: gives operators the layouts that the user asks for, and lets the others follow.
///
/// Purpose: kernels of a library or an accelerator want NHWC or blocks of channels (NCHW16c) where models come in NCHW.
/// Convolutions and pools named in `desired_layouts` are converted; what follows them is computed in the layout in
/// which its arguments are at hand, wherever the operator's rule (op/layout_rules.h) says how; only where none does,
/// and at the ends of dataflow blocks, are values brought back. So no two transforms stand between neighbours.
///
/// What it must not do: change what a function takes or returns, or a value seen outside of its dataflow block. A
/// layout that does not fit (a block that does not divide the channels, a symbolic length) leaves the operator as it
/// was.
///
/// A value is converted once for all its users, and an operand of lower rank follows where its axes stand together.
/// Values are brought back before an operator that means the axes as they were written (`repeat` without an axis,
/// scatter_nd by several axes). An operator that takes no layouts, and letters that are not those of the operator, are
/// errors.
///
/// Place: before LegalizeOps; FoldConstant then converts the constant weights.
#include "deuteron/relax/op/layout_rules.h"
#include "deuteron/relax/rewrite/operator_names.h"
#include "deuteron/relax/transform/layout/layout_converter.h"
#include "deuteron/relax/transform/layout/passes.h"

namespace deuteron::relax {
namespace {

void CheckOps(const DesiredLayouts& desired) {
  for (const auto& [op, layouts] : desired) {
    RequireOperator("ConvertLayout: desired_layouts", op);
    const LayoutRow* row = FindLayoutRow(op);
    if (row == nullptr || !row->takes_desired) {
      DEUTERON_THROW(UsageError) << "ConvertLayout: " << op << " takes no layouts; " << OpsWithDesiredLayouts()
                                 << " do";
    }
    if (layouts.empty() || layouts.size() > 3) {
      DEUTERON_THROW(UsageError)
          << "ConvertLayout: " << op << " has " << layouts.size()
          << " layouts; expected those of the data, the kernel and the result, the last two optional";
    }
  }
}

std::vector<std::string> LayoutsFor(const DesiredLayouts& desired, const Call& call) {
  const auto it = desired.find(std::string(call->op.as<OpNode>()->name));
  return it == desired.end() ? std::vector<std::string>() : it->second;
}

}  // namespace

Pass ConvertLayout(DesiredLayouts desired_layouts, LayoutCallback layout_cb) {
  CheckOps(desired_layouts);
  return transform::ModulePass({.name = "ConvertLayout"},
                               [desired_layouts, layout_cb](IRModule module, const transform::PassContext& context) {
                                 const ChooseLayout choose = [&](const Call& call) -> LayoutChoice {
                                   if (layout_cb == nullptr) return {LayoutsFor(desired_layouts, call), Attrs()};
                                   const DesiredLayouts chosen = layout_cb(call);
                                   CheckOps(chosen);
                                   return {LayoutsFor(chosen, call), Attrs()};
                                 };
                                 return ConvertLayouts(std::move(module), choose, "ConvertLayout", context);
                               });
}

}  // namespace deuteron::relax
