#include "deuteron/relax/transform/layout/layout_converter.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "deuteron/relax/functor.h"
#include "deuteron/relax/op/layout_rules.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/layout/axis_groups.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

/// The variables used in an expression, branches and local functions included.
class UsedVars : public ExprVisitor {
 public:
  std::vector<Var> vars;

 protected:
  void VisitVar_(const VarNode* op) override { vars.push_back(GetRef<Var>(op)); }
};

class LayoutConverter : public ExprMutator {
 public:
  LayoutConverter(String function, const ChooseLayout& choose, const char* pass, const transform::PassContext& context,
                  const FollowedCalls& followed)
      : function_(std::move(function)), choose_(choose), pass_(pass), context_(context), followed_(followed) {}

 protected:
  BindingBlock VisitBlock(const BindingBlock& block) override {
    // Blocks of a local function begin anew: what they use of the blocks around has been brought back.
    const bool outer = std::exchange(in_dataflow_, block->IsInstance<DataflowBlockNode>());
    auto outer_states = std::exchange(states_, {});
    auto outer_converted = std::exchange(converted_, {});
    BindingBlock converted = ExprMutator::VisitBlock(block);
    in_dataflow_ = outer;
    states_ = std::move(outer_states);
    converted_ = std::move(outer_converted);
    return converted;
  }

  void VisitBinding(const Binding& binding) override {
    if (!in_dataflow_) return ExprMutator::VisitBinding(binding);
    const Expr& value = BoundValue(binding);
    if (binding->IsInstance<VarBindingNode>()) {
      switch (value->kind) {
        case RelaxKind::kCall:
          return VisitBoundCall(binding, GetRef<Call>(static_cast<const CallNode*>(value.get())));
        case RelaxKind::kTuple:
          // Of a tuple seen from outside the fields are brought back, one by one.
          if (binding->var->kind != RelaxKind::kDataflowVar) return EmitAs(binding, InLayout(value, ValueLayout()));
          return Bind(binding, InPlace(value), LayoutOf(value));
        case RelaxKind::kTupleGetItem: {
          const auto* item = static_cast<const TupleGetItemNode*>(value.get());
          const ValueLayout layout = LayoutOf(item->tuple);
          if (!layout.is_tuple) break;
          const Expr tuple = InPlace(item->tuple);
          const Expr moved = tuple.same_as(item->tuple) ? value : Expr(TupleGetItem(tuple, item->index, item->span));
          return Bind(binding, moved, layout.fields.at(static_cast<size_t>(item->index)));
        }
        case RelaxKind::kVar:
        case RelaxKind::kDataflowVar:
          // The first other name of a value is the value brought back, and later ones are names of it.
          if (states_.count(value.get()) == 0 || FindConverted(value, ValueLayout::Initial(value.ty())) != nullptr)
            break;
          EmitAs(binding,
                 builder_.Normalize(ConvertedValue(InPlace(value), LayoutOf(value), ValueLayout::Initial(value.ty()))));
          converted_[value.get()].emplace_back(ValueLayout::Initial(value.ty()), VisitExpr(binding->var));
          return;
        default:
          break;
      }
    }
    BringBack(value);
    ExprMutator::VisitBinding(binding);
  }

 private:
  /// A variable that is laid out otherwise than the graph was written.
  struct State {
    Expr value;
    ValueLayout layout;
  };

  /// The layout in which `expr` is at hand.
  ValueLayout LayoutOf(const Expr& expr) const {
    if (const auto* tuple = expr.as<TupleNode>()) {
      std::vector<ValueLayout> fields;
      for (const Expr& field : tuple->fields) fields.push_back(LayoutOf(field));
      return ValueLayout::Tuple(std::move(fields));
    }
    const auto it = states_.find(expr.get());
    return it == states_.end() ? ValueLayout::Initial(expr.ty()) : it->second.layout;
  }

  /// `expr` in the layout in which it is at hand.
  Expr InPlace(const Expr& expr) {
    if (const auto* tuple = expr.as<TupleNode>()) {
      Array<Expr> fields = tuple->fields.Map([this](const Expr& field) { return InPlace(field); });
      return fields.same_as(tuple->fields) ? expr : Expr(Tuple(std::move(fields), tuple->span));
    }
    const auto it = states_.find(expr.get());
    return it == states_.end() ? VisitExpr(expr) : it->second.value;
  }

  /// `expr` in layout `target`, of which an unknown part means: as the graph was written.
  Expr InLayout(const Expr& expr, const ValueLayout& target) {
    if (const auto* tuple = expr.as<TupleNode>()) {
      Array<Expr> fields;
      for (size_t i = 0; i < tuple->fields.size(); ++i) {
        fields.push_back(InLayout(tuple->fields[i], target.is_tuple ? target.fields.at(i) : ValueLayout()));
      }
      return builder_.Normalize(Tuple(std::move(fields), tuple->span));
    }
    const ValueLayout current = LayoutOf(expr);
    const ValueLayout wanted = Completed(target, current, expr.ty());
    if (current == wanted) return InPlace(expr);
    // Once for all uses.
    if (const Expr* known = FindConverted(expr, wanted); known != nullptr) return *known;
    const Expr value = Converted(InPlace(expr), current, wanted);
    converted_[expr.get()].emplace_back(wanted, value);
    return value;
  }

  /// `expr` in layout `wanted`, if it has been converted to that; else null.
  const Expr* FindConverted(const Expr& expr, const ValueLayout& wanted) const {
    const auto it = converted_.find(expr.get());
    if (it == converted_.end()) return nullptr;
    const auto found =
        std::find_if(it->second.begin(), it->second.end(), [&](const auto& entry) { return entry.first == wanted; });
    return found == it->second.end() ? nullptr : &found->second;
  }

  static ValueLayout Completed(const ValueLayout& target, const ValueLayout& current, const Type& type) {
    if (target.is_tuple) {
      ValueLayout completed = target;
      const auto* tuple = type.as<TupleTypeNode>();
      for (size_t i = 0; i < completed.fields.size(); ++i) {
        completed.fields[i] = Completed(target.fields[i], current.fields.at(i), tuple->fields[i]);
      }
      return completed;
    }
    return target.tensor.known() ? target : ValueLayout::Initial(type);
  }

  /// `value`, which is laid out as `from`, in layout `to`.
  Expr Converted(const Expr& value, const ValueLayout& from, const ValueLayout& to) {
    if (from == to) return value;
    if (!from.is_tuple) return builder_.Emit(Relayout(value, from.tensor, to.tensor), "", value->span);
    Array<Expr> fields;
    for (size_t i = 0; i < from.fields.size(); ++i) {
      const Expr field = builder_.Emit(TupleGetItem(value, static_cast<int64_t>(i)), "", value->span);
      fields.push_back(Converted(field, from.fields[i], to.fields[i]));
    }
    return Tuple(std::move(fields), value->span);
  }

  /// Lets later visits of `value` find all variables as the graph was written.
  void BringBack(const Expr& value) {
    UsedVars used;
    used.VisitExpr(value);
    for (const Var& var : used.vars) {
      if (states_.count(var.get()) != 0) Remap(var, InLayout(var, ValueLayout()));
    }
  }

  void VisitBoundCall(const Binding& binding, const Call& call) {
    if (followed_.count(call.get()) != 0 && Follow(binding, call)) return;
    const auto* op = call->op.as<OpNode>();
    const LayoutRow* row = op == nullptr ? nullptr : FindLayoutRow(GetRef<Op>(op));
    std::vector<ValueLayout> layouts;
    bool moved = false;
    for (const Expr& arg : call->args) {
      layouts.push_back(LayoutOf(arg));
      moved |= !layouts.back().IsInitial();
    }
    LayoutChoice choice;
    if (row != nullptr && row->takes_desired) choice = choose_(call);
    const bool asked = !choice.layouts.empty();
    std::optional<LayoutAnswer> answer;
    const Call asked_call = choice.attrs.defined() ? WithCallAttrs(call, choice.attrs) : call;
    if (row != nullptr && (moved || asked)) {
      answer = row->rule({asked_call, layouts, choice.layouts});
    }
    if (asked || moved) Log(binding, call, row, asked, answer.has_value());
    if (!answer && asked) {
      // What cannot be had as asked for may still follow its arguments.
      if (const auto following = row->rule({call, layouts, {}})) return Rewrite(binding, call, *following);
    }
    if (answer) return Rewrite(binding, asked_call, *answer);
    LayoutAnswer as_written;
    as_written.result = ValueLayout::Initial(call.ty());
    Rewrite(binding, call, as_written);
  }

  /// What `followed_` says of a transposition or reshape; false where it does not apply.
  bool Follow(const Binding& binding, const Call& call) {
    const Layout layout = LayoutOf(call->args[0]).tensor;
    if (!layout.known() || layout.HasBlocks() || binding->var->kind != RelaxKind::kDataflowVar) return false;
    if (!call->op.same_as(Op::Get("relax.permute_dims"))) {
      const auto answer = ReshapedAsItLies(call, layout);
      if (answer) Rewrite(binding, call, *answer);
      return answer.has_value();
    }
    const std::vector<size_t> axes = PermutationOf(call, layout.rank());
    std::vector<Layout::Dim> dims;
    for (const Layout::Dim& dim : layout.dims()) {
      const auto found = std::find(axes.begin(), axes.end(), static_cast<size_t>(dim.axis));
      dims.push_back({found - axes.begin()});
    }
    Layout result(layout.rank(), std::move(dims));
    if (result.IsInitial()) return false;
    states_[binding->var.get()] = {InPlace(call->args[0]), std::move(result)};
    return true;
  }

  /// Nothing unless the axes that the reshape merges stand side by side in `layout`.
  std::optional<LayoutAnswer> ReshapedAsItLies(const Call& call, const Layout& layout) {
    const auto groups = AxisGroups(call->args[0].ty(), call.ty(), &builder_.analyzer());
    if (!groups) return std::nullopt;
    std::vector<Layout::Dim> dims;
    Array<PrimExpr> lengths;
    for (size_t at = 0; at < layout.dims().size();) {
      const auto group = std::find_if(groups->begin(), groups->end(),
                                      [&](const AxisGroup& one) { return one.before[0] == layout.dims()[at].axis; });
      if (group == groups->end()) return std::nullopt;
      for (const int64_t axis : group->before) {
        if (at == layout.dims().size() || layout.dims()[at++].axis != axis) return std::nullopt;
      }
      for (const int64_t axis : group->after) {
        dims.push_back({axis});
        lengths.push_back((*call.ty().as<TensorTypeNode>()->shape)[axis]);
      }
    }
    LayoutAnswer answer;
    answer.args = {layout};
    const auto rank = static_cast<int64_t>(dims.size());
    answer.result = Layout(rank, std::move(dims));
    answer.new_args.emplace_back(1, ShapeExpr(lengths));
    return answer;
  }

  static Call WithCallAttrs(const Call& call, const Attrs& attrs) {
    Call changed(call->op, call->args, attrs, call->ty_args, call->span);
    changed->ty = call->ty;
    return changed;
  }

  void Rewrite(const Binding& binding, const Call& call, const LayoutAnswer& answer) {
    Array<Expr> args;
    bool changed = answer.attrs.defined() && !StructuralEqual::Equal(answer.attrs, call->attrs);
    changed |= !call.same_as(BoundValue(binding));
    for (size_t i = 0; i < call->args.size(); ++i) {
      args.push_back(InLayout(call->args[i], i < answer.args.size() ? answer.args[i] : ValueLayout()));
    }
    for (const auto& [index, arg] : answer.new_args) args.Set(static_cast<int64_t>(index), arg);
    for (size_t i = 0; i < args.size(); ++i) changed |= !SameLeaves(args[i], call->args[i]);
    const Expr callee = InLayout(call->op, ValueLayout());
    changed |= !callee.same_as(call->op);
    const Expr value =
        !changed
            ? BoundValue(binding)
            : Expr(Call(callee, args, answer.attrs.defined() ? answer.attrs : call->attrs, call->ty_args, call->span));
    Bind(binding, value, answer.result);
  }

  static bool SameLeaves(const Expr& a, const Expr& b) {
    if (a.same_as(b)) return true;
    const auto* x = a.as<TupleNode>();
    const auto* y = b.as<TupleNode>();
    if (x == nullptr || y == nullptr || x->fields.size() != y->fields.size()) return StructuralEqual::Equal(a, b);
    for (size_t i = 0; i < x->fields.size(); ++i) {
      if (!SameLeaves(x->fields[i], y->fields[i])) return false;
    }
    return true;
  }

  /// Binds `value`, which is laid out as `layout`, for `binding`.
  void Bind(const Binding& binding, const Expr& value, const ValueLayout& layout) {
    if (value.same_as(BoundValue(binding)) && layout.IsInitial()) return builder_.EmitNormalized(binding);
    const Expr normal = builder_.Normalize(value);
    const Var& var = binding->var;
    if (layout.IsInitial()) return EmitAs(binding, normal);
    if (var->kind == RelaxKind::kDataflowVar) {
      const DataflowVar moved(var->name_hint, normal.ty(), var->span);
      builder_.EmitNormalized(VarBinding(moved, normal, binding->span));
      states_[var.get()] = {moved, layout};
      return;
    }
    // Seen from outside: as the graph was written.
    const Var moved = builder_.Emit(normal, "", binding->span);
    const ValueLayout initial = ValueLayout::Initial(var.ty());
    EmitAs(binding, builder_.Normalize(ConvertedValue(moved, layout, initial)));
    const Expr back = VisitExpr(var);
    states_[var.get()] = {moved, layout};
    converted_[var.get()].emplace_back(initial, back);
  }

  /// The conversion itself, not a variable bound to it.
  Expr ConvertedValue(const Expr& value, const ValueLayout& from, const ValueLayout& to) {
    return from.is_tuple ? Converted(value, from, to) : Relayout(value, from.tensor, to.tensor);
  }

  void EmitAs(const Binding& binding, const Expr& value) {
    Var var = binding->var;
    if (!TypesIdentical(var.ty(), value.ty())) {
      var = var->kind == RelaxKind::kDataflowVar ? Var(DataflowVar(var->name_hint, value.ty(), var->span))
                                                 : Var(var->name_hint, value.ty(), var->span);
      Remap(binding->var, var);
    }
    builder_.EmitNormalized(VarBinding(var, value, binding->span));
  }

  void Log(const Binding& binding, const Call& call, const LayoutRow* row, bool asked, bool answered) const {
    if (!asked && answered) return;
    using transform::Reason;
    transform::Decision decision{.reason = answered         ? Reason::kConverted
                                           : asked          ? Reason::kLayoutDoesNotFit
                                           : row == nullptr ? Reason::kNoLayoutRule
                                                            : Reason::kKeepsItsLayout};
    decision.pass = pass_;
    decision.function = function_;
    decision.subject = binding->var->name_hint;
    decision.object = OpName(call);
    decision.subject_span = binding->span;
    context_.decisions->Add(std::move(decision));
  }

  const String function_;
  const ChooseLayout& choose_;
  const char* pass_;
  const transform::PassContext& context_;
  const FollowedCalls& followed_;
  bool in_dataflow_ = false;
  std::unordered_map<const Object*, State> states_;
  /// Values in other layouts than they are at hand, by the expression of the graph as it was written.
  std::unordered_map<const Object*, std::vector<std::pair<ValueLayout, Expr>>> converted_;
};

/// Walks from operators with the channels last to the transpositions before them.
class TransposeFinder : public ExprVisitor {
 public:
  TransposeFinder(const ChooseLayout& choose, FollowedCalls* found) : choose_(choose), found_(found) {}

 protected:
  void VisitBinding(const Binding& binding) override {
    const auto* call = BoundValue(binding).as<CallNode>();
    if (call != nullptr && binding->IsInstance<VarBindingNode>()) {
      calls_[binding->var.get()] = call;
      const auto* op = call->op.as<OpNode>();
      const LayoutRow* row = op == nullptr ? nullptr : FindLayoutRow(GetRef<Op>(op));
      if (row != nullptr && row->takes_desired) {
        const LayoutChoice choice = choose_(GetRef<Call>(call));
        if (!choice.layouts.empty() && choice.layouts[0].back() == 'C') WalkBack(call->args[0]);
      }
    }
    ExprVisitor::VisitBinding(binding);
  }

 private:
  /// Finds what `expr` is computed from. True if there is a transposition to be followed.
  bool WalkBack(const Expr& expr) {
    if (const auto* tuple = expr.as<TupleNode>()) {
      bool any = false;
      for (const Expr& field : tuple->fields) any = WalkBack(field) || any;
      return any;
    }
    const auto bound = calls_.find(expr.get());
    if (bound == calls_.end()) return false;
    const auto [known, is_new] = walked_.emplace(expr.get(), false);
    if (!is_new) return known->second;
    const bool leads = LeadsToTranspose(bound->second);
    return walked_[expr.get()] = leads;
  }

  bool LeadsToTranspose(const CallNode* call) {
    static const Op permute = Op::Get("relax.permute_dims"), reshape = Op::Get("relax.reshape");
    if (call->op.same_as(permute)) {
      const auto* type = call->args[0].ty().as<TensorTypeNode>();
      if (type == nullptr || type->ndim < 3) return false;
      // From the channels behind the pixels to the channels before them.
      const std::vector<size_t> axes = PermutationOf(GetRef<Call>(call), type->ndim);
      for (size_t i = 0; i < axes.size(); ++i) {
        if (axes[i] != (i == 0 ? 0 : i == 1 ? axes.size() - 1 : i - 1)) return false;
      }
      found_->insert(call);
      return true;
    }
    if (call->op.same_as(reshape)) {
      const bool leads = WalkBack(call->args[0]);
      if (leads) found_->insert(call);
      return leads;
    }
    const auto* op = call->op.as<OpNode>();
    const LayoutRow* row = op == nullptr ? nullptr : FindLayoutRow(GetRef<Op>(op));
    // An operator that has a layout of its own has been asked already.
    if (row == nullptr || row->takes_desired) return false;
    bool any = false;
    for (const Expr& arg : call->args) any = WalkBack(arg) || any;
    return any;
  }

  const ChooseLayout& choose_;
  FollowedCalls* found_;
  std::unordered_map<const Object*, const CallNode*> calls_;
  std::unordered_map<const Object*, bool> walked_;
};

}  // namespace

FollowedCalls TransposesBeforeChannelsLast(const IRModule& module, const ChooseLayout& choose) {
  FollowedCalls found;
  for (const auto& [var, func] : module->functions) {
    const auto function = As<Function>(func);
    if (function.defined()) TransposeFinder(choose, &found).VisitExpr(function);
  }
  return found;
}

IRModule ConvertLayouts(IRModule module, const ChooseLayout& choose, const char* pass,
                        const transform::PassContext& context, const FollowedCalls& followed) {
  return UpdateFunctions(std::move(module), [&](const GlobalVar& var, const Function& function) {
    return Downcast<Function>(LayoutConverter(var->name_hint, choose, pass, context, followed).VisitExpr(function));
  });
}

}  // namespace deuteron::relax
