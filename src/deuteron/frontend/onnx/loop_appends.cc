#include "deuteron/frontend/onnx/loop_appends.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/relax/functor.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::onnx {
namespace {

using relax::Binding;
using relax::Expr;
using relax::Var;

/// How often each variable is used.
class UseCounter : public relax::ExprVisitor {
 public:
  std::unordered_map<const Object*, int64_t> uses;

 protected:
  void VisitVar_(const relax::VarNode* op) override { ++uses[op]; }
};

/// The bindings that lead from a result back to the concatenation that it is: names of it, and the concatenation last.
std::vector<Binding> LeadingTo(const relax::SeqExpr& body, const Expr& result) {
  std::unordered_map<const Object*, Binding> bound;
  for (const relax::BindingBlock& block : body->blocks) {
    for (const Binding& binding : block->bindings) bound.emplace(binding->var.get(), binding);
  }
  static const Op concat = Op::Get("relax.concat");
  std::vector<Binding> chain;
  for (Expr at = result;;) {
    const auto found = bound.find(at.get());
    if (found == bound.end() || !found->second->IsInstance<relax::VarBindingNode>()) return {};
    chain.push_back(found->second);
    const Expr& value = relax::BoundValue(found->second);
    const auto* call = value.as<relax::CallNode>();
    if (call != nullptr && call->op.same_as(concat)) return chain;
    at = value;
  }
}

/// What `call`, a concatenation, appends to `state` along the first axis; null if it does something else.
Expr AppendedTo(const relax::CallNode* call, const Var& state) {
  const auto* parts = call->args[0].as<relax::TupleNode>();
  const Optional<int64_t>& axis = call->attrs.as<relax::ConcatAttrsNode>()->axis;
  const bool is_first = axis.has_value() && axis.value() == 0;
  if (!is_first || parts == nullptr || parts->fields.size() != 2 || !parts->fields[0].same_as(state)) return Expr();
  return parts->fields[1];
}

/// The shape of what is appended to a state of type `state`, or null.
std::optional<TensorType> AppendedType(const Type& state, const Type& appended) {
  const auto* whole = state.as<TensorTypeNode>();
  const auto* part = appended.as<TensorTypeNode>();
  if (whole == nullptr || part == nullptr || !whole->has_shape() || !part->has_shape() || whole->ndim != part->ndim ||
      whole->dtype != part->dtype || !AsConstInt((*part->shape)[0])) {
    return std::nullopt;
  }
  Array<PrimExpr> shape = *whole->shape;
  shape.Set(0, (*part->shape)[0]);
  return TensorType(shape, part->dtype);
}

}  // namespace

std::optional<AppendingStep> WithoutAppendedState(const relax::Function& step, int64_t param, int64_t field,
                                                  const std::function<Type(const Type&)>& outside) {
  const Var& state = step->params[param];
  const auto body = As<relax::SeqExpr>(step->body);
  const auto* results = body.defined() ? body->body.as<relax::TupleNode>() : nullptr;
  if (results == nullptr) return std::nullopt;
  const std::vector<Binding> chain = LeadingTo(body, results->fields[field]);
  if (chain.empty()) return std::nullopt;
  const Expr appended = AppendedTo(relax::BoundValue(chain.back()).as<relax::CallNode>(), state);
  if (!appended.defined()) return std::nullopt;
  UseCounter counter;
  counter.VisitExpr(body);
  bool is_used_once = counter.uses[state.get()] == 1;
  for (const Binding& binding : chain) is_used_once = is_used_once && counter.uses[binding->var.get()] == 1;
  const auto type = AppendedType(state.ty(), appended.ty());
  if (!is_used_once || !type || !outside(*type).as<TensorTypeNode>()->has_shape()) return std::nullopt;

  // The concatenation and its names go; what was appended gets the shape that it had to have.
  const Var output(results->fields[field].as<relax::VarNode>()->name_hint, *type, chain[0]->span);
  std::unordered_set<const Object*> dropped;
  for (const Binding& binding : chain) dropped.insert(binding.get());
  Array<relax::BindingBlock> blocks;
  for (const relax::BindingBlock& block : body->blocks) {
    Array<Binding> bindings;
    for (const Binding& binding : block->bindings) {
      if (dropped.count(binding.get()) == 0) bindings.push_back(binding);
      if (binding.same_as(chain.back())) {
        bindings.push_back(relax::TypesIdentical(appended.ty(), *type)
                               ? Binding(relax::VarBinding(output, appended, binding->span))
                               : Binding(relax::MatchCast(output, appended, *type, binding->span)));
      }
    }
    blocks.push_back(block->IsInstance<relax::DataflowBlockNode>() ? relax::DataflowBlock(bindings)
                                                                   : relax::BindingBlock(bindings));
  }
  Array<Expr> given = results->fields;
  given.erase(given.begin() + field);
  given.push_back(output);
  const relax::Tuple tuple(given);
  tuple->ty = TupleType(given.Map([](const Expr& one) { return one.ty(); }));
  relax::SeqExpr sequence(blocks, tuple);
  sequence->ty = tuple.ty();
  Array<Var> params = step->params;
  params.erase(params.begin() + param);
  const relax::Function without(params, sequence, Importer::TypeOutside(sequence));
  // Lengths of the state may be used where it is not.
  for (const tir::Var& symbol : relax::FreeSymbolicVars(without)) {
    for (const tir::Var& own : relax::DefinedSymbolicVars(state.ty())) {
      if (symbol.same_as(own)) return std::nullopt;
    }
  }
  return AppendingStep{without, *type};
}

}  // namespace deuteron::onnx
