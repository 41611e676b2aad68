/// \file
/// AlterOpLayout: lets each operator choose the layout in which the target computes it best.
///
/// Purpose: a vector of a CPU wants the channels innermost, in blocks of its lanes: NCHW becomes NCHW16c, the kernel
/// OIHW16i16o. Callbacks choose, operator by operator; of several for one operator that of the highest level is asked.
/// The built-in one (level 10) chooses blocks for 2-d convolutions, dense and depthwise, from the vectors of the
/// current target. The walk is ConvertLayout's: what stands between two convolutions is computed in blocks, so that no
/// transforms are left between neighbours; those of constant weights are folded by FoldConstant.
///
/// What it must not do: choose blocks that do not divide the channels, or that a symbolic length forbids.
///
/// Place: before LegalizeOps, then FoldConstant. Not part of the default pipeline: there PackWeights lays
/// weights out, and activations stay as they come.
#include <algorithm>
#include <bit>
#include <mutex>

#include "deuteron/relax/op/layout_rules.h"
#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/transform/layout/layout_converter.h"
#include "deuteron/relax/transform/layout/passes.h"

namespace deuteron::relax {
namespace {

/// The largest power of two that divides `extent`, up to `lanes`; 0 if it is less than 4.
int64_t BlockOf(const PrimExpr& extent, int64_t lanes) {
  const auto known = AsConstInt(extent);
  if (!known || *known < 1) return 0;
  const int64_t block = std::min(*known & -*known, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(lanes))));
  return block < 4 ? 0 : block;
}

std::string Blocks(int64_t block, char letter) { return block == 0 ? std::string() : std::to_string(block) + letter; }

Expr BlockedConv2D(const Attrs& attrs, const Array<Expr>& inputs, const Array<Type>& types, const Type& out_type) {
  const auto* conv = attrs.as<Conv2DAttrsNode>();
  const auto* data = types[0].as<TensorTypeNode>();
  const auto* kernel = types[1].as<TensorTypeNode>();
  const auto* out = out_type.as<TensorTypeNode>();
  if (!data->has_shape() || !kernel->has_shape() || conv->data_layout != "NCHW" || conv->kernel_layout != "OIHW" ||
      (!conv->out_layout.empty() && conv->out_layout != "NCHW") || out->dtype.is_void()) {
    return Expr();
  }
  const int64_t lanes = Target::Current().machine.Lanes(out->dtype.bits());
  const PrimExpr& in_channels = (*data->shape)[1];
  const PrimExpr& out_channels = (*kernel->shape)[0];
  const int64_t out_block = BlockOf(out_channels, lanes);
  int64_t in_block = BlockOf(in_channels, lanes);
  if (out_block == 0) return Expr();
  auto changed = MakeNode<Conv2DAttrsNode>(*conv);
  if (conv->groups == 1) {
    changed->kernel_layout = "OIHW" + Blocks(in_block, 'i') + Blocks(out_block, 'o');
  } else {
    // Depthwise: one kernel a channel.
    const auto known = AsConstInt(in_channels);
    if (!known || *known != conv->groups || AsConstInt(out_channels) != known) return Expr();
    in_block = out_block;
    changed->kernel_layout = "OIHW" + Blocks(out_block, 'o');
  }
  changed->data_layout = "NCHW" + Blocks(in_block, 'c');
  changed->out_layout = "NCHW" + Blocks(out_block, 'c');
  return Call(Op::Get("relax.nn.conv2d"), inputs, Attrs(changed));
}

struct Registry {
  std::mutex mutex;
  std::vector<OpLayoutChoice> choices = {{"relax.nn.conv2d", BlockedConv2D, 10}};
};
Registry& GetRegistry() {
  static auto* registry = new Registry();
  return *registry;
}

using Chosen = std::map<std::string, OpLayoutChoice>;

/// For each operator the choice of the highest level, among equals the last.
Chosen Highest(const std::vector<OpLayoutChoice>& further) {
  Chosen chosen;
  const auto consider = [&](const OpLayoutChoice& choice) {
    const auto [it, is_new] = chosen.try_emplace(choice.op, choice);
    if (!is_new && choice.level >= it->second.level) it->second = choice;
  };
  {
    const std::lock_guard<std::mutex> lock(GetRegistry().mutex);
    for (const OpLayoutChoice& choice : GetRegistry().choices) consider(choice);
  }
  for (const OpLayoutChoice& choice : further) consider(choice);
  return chosen;
}

LayoutChoice Ask(const OpLayoutChoice& choice, const Call& call) {
  Array<Type> types;
  for (const Expr& arg : call->args) types.push_back(arg.ty());
  const Expr altered = choice.alter(call->attrs, call->args, types, call.ty());
  if (!altered.defined() || altered.same_as(call)) return {};
  const auto* answer = altered.as<CallNode>();
  if (answer == nullptr || !answer->op.same_as(call->op)) {
    DEUTERON_THROW(UsageError) << "AlterOpLayout: what is registered for " << choice.op << " at level " << choice.level
                               << " must return a call of it, with other layouts";
  }
  std::vector<std::string> layouts = LayoutsOf(answer->attrs);
  const std::vector<std::string> before = LayoutsOf(call->attrs);
  // A result layout that is left alone follows the data.
  if (layouts.size() == 3 && layouts[2] == before[2] && before[2] == before[0]) layouts[2] = layouts[0];
  return {std::move(layouts), WithLayoutsOf(answer->attrs, call->attrs)};
}

void CheckOp(const OpLayoutChoice& choice) {
  const LayoutRow* row = FindLayoutRow(choice.op);
  if (row != nullptr && row->takes_desired) return;
  DEUTERON_THROW(UsageError) << "AlterOpLayout: " << choice.op << " takes no layouts; " << OpsWithDesiredLayouts()
                             << " do";
}

}  // namespace

void RegisterAlterOpLayout(OpLayoutChoice choice) {
  CheckOp(choice);
  const std::lock_guard<std::mutex> lock(GetRegistry().mutex);
  GetRegistry().choices.push_back(std::move(choice));
}

Pass AlterOpLayout(std::vector<OpLayoutChoice> choices, std::optional<Target> target) {
  for (const OpLayoutChoice& choice : choices) CheckOp(choice);
  return transform::ModulePass({.name = "AlterOpLayout", .opt_level = 3},
                               [choices, target](IRModule module, const transform::PassContext& context) {
                                 const TargetScope scope(target.value_or(Target::Current()));
                                 const Chosen chosen = Highest(choices);
                                 const ChooseLayout choose = [&](const Call& call) -> LayoutChoice {
                                   const auto it = chosen.find(std::string(call->op.as<OpNode>()->name));
                                   return it == chosen.end() ? LayoutChoice() : Ask(it->second, call);
                                 };
                                 return ConvertLayouts(std::move(module), choose, "AlterOpLayout", context);
                               });
}

}  // namespace deuteron::relax
