/// \file
/// CheckExtents: dimensions that operators demand to be equal are compared at run time where types do not show it, and
/// none is negative.
///
/// Purpose: `matmul` of (n, k) and (j, 4) is well-typed, and its kernel reads as many rows of the second as the first
/// has columns. A match_cast of the argument to the type that it has to have says so, and every later stage knows it.
///
/// What a reshape is given, (n, m) to (k, 4), is flattened for that. What has no elements that could be compared,
/// R.full of (n - 10, n - 10), is checked by itself (length_checks.h).
///
/// What it must not do: check what types show, or change what a constant is where the other side can be cast.
///
/// Place: after import, before passes that rewrite operators; a call that it has seen has nothing left to check.
#include "deuteron/relax/op/extent_demands.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/function_pass.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/transform/cleanup/passes.h"
#include "deuteron/relax/transform/operators/length_checks.h"
#include "deuteron/relax/transform/operators/passes.h"

namespace deuteron::relax {
namespace {

class ExtentChecker : public SeqRewriter {
 public:
  explicit ExtentChecker(const IRModule& module) : builder_(module) {}

  Function Run(const Function& function) {
    builder_.BeginScope(function->params);
    const auto names = function->GetAttr<Array<String>>("input_names");
    for (size_t i = 0; i < function->params.size(); ++i) {
      const auto index = static_cast<int64_t>(i);
      const Var& param = function->params[index];
      inputs_[param.get()] = names && i < names->size() ? (*names)[index] : param->name_hint;
    }
    LengthChecks lengths(function, &builder_.analyzer());
    lengths_ = &lengths;
    Function checked = RewriteBody(function);
    builder_.EndScope();
    if (lengths.at_entry().empty()) return checked;
    std::vector<BindingBlock> blocks(checked->body->blocks.begin(), checked->body->blocks.end());
    blocks.emplace(blocks.begin(), Array<Binding>(lengths.at_entry().begin(), lengths.at_entry().end()));
    return WithBody(checked, SeqExpr(JoinBlocks(blocks), checked->body->body, checked->body->span));
  }

  SeqExpr RewriteSeq(const SeqExpr& seq) override {
    ++depth_;
    SeqExpr rewritten = SeqRewriter::RewriteSeq(seq);
    --depth_;
    return rewritten;
  }

 protected:
  BindingBlock RewriteBlock(const BindingBlock& block) override {
    const bool outer = in_dataflow_;
    in_dataflow_ = block->IsInstance<DataflowBlockNode>();
    BindingBlock rewritten = SeqRewriter::RewriteBlock(block);
    in_dataflow_ = outer;
    return rewritten;
  }

  void RewriteBinding(const Binding& binding, Bindings* out) override {
    if (binding->span.defined()) places_[binding->var.get()] = binding->span;
    const Binding check = lengths_->Pass(binding, depth_ > 1, in_dataflow_);
    if (check.defined()) out->push_back(check);
    const auto* node = BoundValue(binding).as<CallNode>();
    const auto* op = node == nullptr ? nullptr : node->op.as<OpNode>();
    const OpInfo* info = op == nullptr ? nullptr : FindOpInfo(GetRef<Op>(op));
    if (info == nullptr || info->infer_type == nullptr) return SeqRewriter::RewriteBinding(binding, out);
    Call call = GetRef<Call>(node);
    const ExtentDemands demands;
    info->infer_type(call, builder_);
    if (demands.list().empty()) return SeqRewriter::RewriteBinding(binding, out);
    const Span span = node->span.defined() ? node->span : binding->span;
    Array<Expr> args = call->args;
    for (const ExtentDemand& demand : demands.list()) {
      const auto index = static_cast<int64_t>(demand.arg);
      if (demand.relation == ExtentDemand::Relation::kElements) {
        args.Set(index, Recount(call, args[index], demand, span, out));
        continue;
      }
      if (!demand.field) {
        args.Set(index, Cast(call, args[index], demand, span, out));
        continue;
      }
      Array<Expr> fields = Fields(args[index], out);
      const auto field = static_cast<int64_t>(*demand.field);
      fields.Set(field, Cast(call, fields[field], demand, span, out));
      args.Set(index, TypedTuple(fields));
    }
    CopyOnWrite(&call)->args = std::move(args);
    out->push_back(WithValue(binding, call));
  }

 private:
  Var NewVar(const std::string& name, const Type& type) const {
    return in_dataflow_ ? Var(DataflowVar(name, type)) : Var(name, type);
  }

  /// `value` as a tensor with the dimension that is demanded.
  Expr Cast(const Call& call, const Expr& value, const ExtentDemand& demand, const Span& span, Bindings* out) {
    const Type& old = value.ty();
    const auto* tensor = old.as<TensorTypeNode>();
    Array<PrimExpr> shape = *tensor->shape;
    const auto axis = static_cast<int64_t>(demand.axis);
    using Relation = ExtentDemand::Relation;
    PrimExpr wanted = demand.extent;
    if (demand.relation == Relation::kAtMost) wanted = Min(shape[axis], wanted);
    if (demand.relation == Relation::kAtLeast) wanted = Max(shape[axis], wanted);
    if (demand.relation == Relation::kEqualOrOne) {
      wanted = SelectExpr(deuteron::Equal(shape[axis], I64(1)), I64(1), wanted);
    }
    shape.Set(axis, wanted);
    const TensorType type(std::move(shape), tensor->dtype, tensor->vdevice);
    const std::string name = NameOf(call, value, demand.arg, span);
    if (demand.relation != Relation::kEqual) {
      // That it is the smaller or the greater of both, or one of the two, is checked; then it is what it was.
      const Var checked = NewVar(name, type);
      out->push_back(MatchCast(checked, value, type, span));
      Var var = NewVar(name, old);
      out->push_back(MatchCast(var, checked, old, span));
      Remember(value, var);
      return var;
    }
    if (!out->empty()) {
      // Several dimensions of one argument are one cast.
      const auto* last = out->back().as<MatchCastNode>();
      if (last != nullptr && last->var.same_as(value) && made_.count(last->var.get())) {
        const Expr inner = last->value;
        made_.erase(last->var.get());
        out->pop_back();
        return Bind(name, inner, type, span, out);
      }
    }
    return Bind(name, value, type, span, out);
  }

  /// `value`'s elements in a row, as many as are demanded: how many there are is a dimension then, which can be
  /// checked.
  Expr Recount(const Call& call, const Expr& value, const ExtentDemand& demand, const Span& span, Bindings* out) {
    Expr row = value;
    const auto* tensor = value.ty().as<TensorTypeNode>();
    if (tensor->shape->size() != 1) {
      const Expr flat = builder_.Normalize(Flatten(value));
      row = NewVar(span.defined() ? "the elements of " + NameOf(call, value, demand.arg, span) : "elements", flat.ty());
      out->push_back(VarBinding(Downcast<Var>(row), flat, span));
      Remember(value, row);
    }
    return Cast(call, row, {demand.arg, 0, demand.extent}, span, out);
  }

  Expr Bind(const std::string& name, const Expr& value, const TensorType& type, const Span& span, Bindings* out) {
    Var var = NewVar(name, type);
    made_.insert(var.get());
    out->push_back(MatchCast(var, value, type, span));
    Remember(value, var);
    return var;
  }

  /// What errors call `value`: in a model, whose node they tell by the span, what the model calls it.
  std::string NameOf(const Call& call, const Expr& value, size_t arg, const Span& span) const {
    if (span.defined()) {
      if (const auto* var = value.as<VarNode>()) {
        const std::string own(var->name_hint);
        if (own.find(' ') != std::string::npos) return own;
      }
      const auto input = inputs_.find(value.get());
      if (input != inputs_.end()) return "input '" + std::string(input->second) + "'";
      const auto place = places_.find(value.get());
      if (place != places_.end()) return "result of '" + std::string(place->second->source) + "'";
    }
    return "argument " + std::to_string(arg) + " of " + OpName(call);
  }

  /// `var` is `value` under another name.
  void Remember(const Expr& value, const Expr& var) {
    const auto input = inputs_.find(value.get());
    if (input != inputs_.end()) inputs_[var.get()] = String(input->second);
    const auto place = places_.find(value.get());
    if (place != places_.end()) places_[var.get()] = Span(place->second);
  }

  Array<Expr> Fields(const Expr& tuple, Bindings* out) {
    if (const auto* literal = tuple.as<TupleNode>()) return literal->fields;
    Array<Expr> fields;
    const auto& types = tuple.ty().as<TupleTypeNode>()->fields;
    for (size_t i = 0; i < types.size(); ++i) {
      TupleGetItem item(tuple, static_cast<int64_t>(i));
      item->ty = types[static_cast<int64_t>(i)];
      const Var var = NewVar("field", item->ty);
      out->push_back(VarBinding(var, item));
      fields.push_back(var);
    }
    return fields;
  }

  static Expr TypedTuple(const Array<Expr>& fields) {
    Array<Type> types;
    for (const Expr& field : fields) types.push_back(field.ty());
    Tuple tuple(fields);
    tuple->ty = TupleType(types);
    return tuple;
  }

  BlockBuilder builder_;
  LengthChecks* lengths_ = nullptr;
  /// Of sequences within each other: above 1 in a branch.
  int depth_ = 0;
  bool in_dataflow_ = false;
  std::unordered_set<const Object*> made_;
  std::unordered_map<const Object*, String> inputs_;
  /// Of the nodes that values come from.
  std::unordered_map<const Object*, Span> places_;
};

}  // namespace

Pass CheckExtents() {
  return FunctionPass({.name = "CheckExtents", .opt_level = 0},
                      [](const Function& function, const IRModule& module, const PassContext&) {
                        return ExtentChecker(module).Run(function);
                      });
}

}  // namespace deuteron::relax
