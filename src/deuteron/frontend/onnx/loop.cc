#include "deuteron/frontend/onnx/loop.h"

#include <algorithm>
#include <unordered_set>

#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/loop_appends.h"
#include "deuteron/frontend/onnx/sequence_ragged.h"
#include "deuteron/frontend/onnx/sequence_rows.h"
#include "deuteron/relax/op/call.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/support/letters.h"

namespace deuteron::onnx {
namespace {

using relax::Expr;

tir::Var NewSymbol(const NodeContext& node, const char* what) {
  return tir::Var(String(std::string(node.node().op_type) + "_" + what));
}

/// "lstm_step" for a node of operator LSTM.
std::string NameOf(const NodeContext& node, const char* suffix) {
  return SmallLetters(Identifier(node.node().op_type, "node") + suffix);
}

/// A result of a call, its dimensions bound to new symbols where its type has none, except those (not null) that
/// `known` has.
Value WithDims(const NodeContext& node, const Expr& result, const Array<Optional<PrimExpr>>& known = {}) {
  const auto* type = result.ty().as<TensorTypeNode>();
  if (type == nullptr || type->has_shape() || type->ndim == kUnknownNDim) return result;
  Array<PrimExpr> dims;
  for (int64_t axis = 0; axis < type->ndim; ++axis) {
    const bool is_known = !known.empty() && known[axis].has_value();
    dims.push_back(is_known ? known[axis].value() : PrimExpr(NewSymbol(node, "dim")));
  }
  return node.WithShape(result, dims);
}

/// One loop under conversion.
class LoopBuilder {
 public:
  /// Nothing where the states cannot be carried on in the form that they have.
  using Body = std::function<std::optional<LoopStep>(const PrimExpr& step, const Results& states)>;
  LoopBuilder(const NodeContext& node, const Results& initial, const Body& body)
      : node_(node), initial_(initial), body_(body) {
    for (const Value& state : initial) {
      const Expr expr = node.importer()->ExprOf(state, Span());
      states_.push_back(expr);
      types_.push_back(
          Widened(TensorType::WithNDim(kUnknownNDim, node.DType(expr)), expr.ty(), DimsOf(expr.ty()), /*first=*/true));
    }
    is_carried_.assign(initial.size(), true);
  }

  /// The last states, then the outputs; nothing where the body gives none.
  std::optional<Results> Emit(const PrimExpr& trips, const Value& condition) {
    is_conditional_ = condition.defined();
    relax::Function step = CheckedStep();
    while (!is_given_up_ && !Settle(step)) step = CheckedStep();
    if (is_given_up_) return std::nullopt;
    const std::vector<size_t> appended = TakeAppendedStates(&step);
    const relax::Var function = node_.builder().Emit(step, NameOf(node_, "_step"));
    Array<Expr> states;
    Array<Type> results;
    for (size_t i = 0; i < states_.size(); ++i) {
      if (!is_carried_[i]) continue;
      states.push_back(states_[i]);
      results.push_back(Outside(types_[i]));
    }
    const auto& given = step->ret_ty.as<TupleTypeNode>()->fields;
    for (size_t i = results.size() + (is_conditional_ ? 1 : 0); i < given.size(); ++i) {
      results.push_back(Stacked(Outside(given[i]), trips));
    }
    Expr first;
    if (is_conditional_) {
      first = condition.defined() ? node_.Reshaped(node_.importer()->ExprOf(condition, Span()), {})
                                  : Expr(relax::Constant::Scalar(DataType::Bool(), int64_t{1}));
    }
    const relax::Var loop = node_.Emit(relax::Loop(function, trips, states, first, TupleType(results)));
    Results values;
    int64_t field = 0;
    for (size_t i = 0; i < states_.size(); ++i) {
      values.push_back(is_carried_[i] ? WithDims(node_, node_.Field(loop, field++), KnownDims(types_[i]))
                                      : initial_[i]);
    }
    for (; field < static_cast<int64_t>(results.size()); ++field) {
      const Type row = Outside(given[field + (is_conditional_ ? 1 : 0)]);
      values.push_back(WithRowsOf(WithDims(node_, node_.Field(loop, field)), row));
    }
    // What was appended is stacked behind the other outputs.
    const size_t num_outputs = values.size() - appended.size();
    for (size_t i = 0; i < appended.size(); ++i) {
      values[appended[i]] = Joined(states_[appended[i]], values[num_outputs + i]->expr);
    }
    values.resize(num_outputs);
    return values;
  }

 private:
  using Dims = std::vector<Optional<PrimExpr>>;

  /// Makes outputs of the states to which `step` only appends, and says which ones they are. They are carried no more.
  std::vector<size_t> TakeAppendedStates(relax::Function* step) {
    std::vector<size_t> appended;
    int64_t at = 0;
    for (size_t i = 0; i < states_.size(); ++i) {
      if (!is_carried_[i]) continue;
      const auto outside = [&](const Type& type) { return Outside(type); };
      const auto without = WithoutAppendedState(*step, 1 + at, at + (is_conditional_ ? 1 : 0), outside);
      if (!without) {
        ++at;
        continue;
      }
      *step = without->step;
      is_carried_[i] = false;
      appended.push_back(i);
    }
    return appended;
  }

  /// A state as it was before a loop, and behind it what each step appended.
  Value Joined(const Expr& initial, const Expr& stacked) const {
    const Array<PrimExpr> rows = node_.Shape(stacked);
    Array<PrimExpr> shape = {rows[0] * rows[1]};
    shape.insert(shape.end(), rows.begin() + 2, rows.end());
    const Expr joined = node_.Reshaped(stacked, shape);
    const PrimExpr before = node_.Shape(initial)[0];
    if (IsZero(before)) return joined;
    return node_.Emit(relax::Concat(Array<Expr>{initial, joined}, 0));
  }

  /// The dimensions of a type, null where it has none.
  static Dims DimsOf(const Type& type) {
    const auto* tensor = type.as<TensorTypeNode>();
    if (tensor == nullptr || !tensor->has_shape()) return {};
    return {tensor->shape.value().begin(), tensor->shape.value().end()};
  }

  /// The dimensions of a state after `step`, null those that only the step knows.
  Dims DimsAfter(const relax::Function& step, const Value& state) const {
    Dims dims = DimsOf(state->expr.ty());
    const auto body = Downcast<relax::SeqExpr>(step->body);
    for (Optional<PrimExpr>& dim : dims) {
      const Type outside = Importer::TypeOutside(body, ShapeType({dim.value()}));
      if (!outside.as<ShapeTypeNode>()->values.has_value()) dim = std::nullopt;
    }
    return dims;
  }

  /// The type of a state that is `type` before a step and `next` after it, with the dimensions `then_dims` as far as
  /// they are known. Of a first value all dimensions are taken.
  Type Widened(const Type& type, const Type& next, const Dims& then_dims, bool first = false) {
    const auto* before = type.as<TensorTypeNode>();
    const auto* after = next.as<TensorTypeNode>();
    if (after == nullptr || before->dtype != after->dtype) {
      node_.Fail("a value that its steps carry on is " + relax::Describe(type) + " before a step and " +
                 relax::Describe(next) + " after it");
    }
    if (after->ndim == kUnknownNDim || (!first && before->ndim != after->ndim)) {
      if (!first && before->ndim != kUnknownNDim) {
        changes_rank_ = relax::Describe(type) + " before a step and " + relax::Describe(next) + " after it";
      }
      return TensorType::WithNDim(kUnknownNDim, before->dtype);
    }
    Array<PrimExpr> dims;
    for (int64_t axis = 0; axis < after->ndim; ++axis) {
      const PrimExpr then = then_dims.empty() ? PrimExpr() : then_dims[axis].value_or(PrimExpr());
      const PrimExpr now = first ? then : before->shape.value()[axis];
      const bool holds = now.defined() &&
                         (own_.count(now.get()) != 0 || (then.defined() && node_.analyzer().CanProveEqual(now, then)));
      if (holds) {
        dims.push_back(now);
        continue;
      }
      const tir::Var symbol = NewSymbol(node_, "dim");
      own_.insert(symbol.get());
      dims.push_back(symbol);
    }
    return TensorType(dims, before->dtype);
  }

  /// Step; where it needs the rank of a state that has none, the error says which one that is.
  relax::Function CheckedStep() {
    if (changes_rank_.empty()) return Step();
    try {
      return Step();
    } catch (const tvm::ffi::Error& error) {
      if (error.kind() != "UnsupportedError") throw;
      node_.Unsupported(
          "a value that its steps carry on is " + changes_rank_ +
          ", so that its rank is not known; bring it to one rank by Reshape, or give the loop a constant, "
          "small number of steps (" +
          std::string(error.message()) + ")");
    }
  }

  /// Converts a step on states of the types as they are now.
  relax::Function Step() {
    const tir::Var number = NewSymbol(node_, "step");
    Array<relax::Var> params = {relax::Var(node_.builder().UniqueName("step"), ShapeType({number}))};
    params_.clear();
    Results states;
    for (size_t i = 0; i < states_.size(); ++i) {
      params_.emplace_back();
      if (!is_carried_[i]) {
        states.push_back(initial_[i].Copy());
        continue;
      }
      params_[i] = relax::Var(node_.builder().UniqueName("state"), types_[i]);
      params.push_back(params_[i]);
      states.emplace_back(params_[i]);
    }
    Importer* importer = node_.importer();
    return importer->LocalFunction(params, [&] {
      auto made = body_(number, states);
      is_given_up_ = !made;
      if (is_given_up_) return Results();
      step_ = std::move(*made);
      const Symbolic known = step_.condition.defined() ? importer->SymbolicOf(step_.condition) : nullptr;
      const bool goes_on = !step_.condition.defined() ||
                           (known != nullptr && known->values.size() == 1 && AsConstInt(known->values[0]) == 1);
      is_conditional_ |= !goes_on;
      Results results;
      if (is_conditional_) {
        const Expr again = goes_on ? Expr(relax::Constant::Scalar(DataType::Bool(), int64_t{1}))
                                   : node_.Reshaped(importer->ExprOf(step_.condition, Span()), {});
        results.emplace_back(again);
      }
      for (size_t i = 0; i < states_.size(); ++i) {
        if (is_carried_[i]) results.push_back(step_.states[i]);
      }
      results.insert(results.end(), step_.outputs.begin(), step_.outputs.end());
      return results;
    });
  }

  /// Whether the states are after `step` what they were taken for before it. If not, changes what they are taken for.
  bool Settle(const relax::Function& step) {
    bool settled = true;
    const auto& given = step->ret_ty.as<TupleTypeNode>()->fields;
    size_t field = is_conditional_ ? 1 : 0;
    for (size_t i = 0; i < states_.size(); ++i) {
      if (!is_carried_[i]) continue;
      if (step_.states[i]->expr.same_as(params_[i])) {
        // No step changes it.
        is_carried_[i] = false;
        settled = false;
        ++field;
        continue;
      }
      const Type type = Widened(types_[i], given[field++], DimsAfter(step, step_.states[i]));
      settled = settled && relax::TypesIdentical(type, types_[i]);
      types_[i] = type;
    }
    return settled;
  }

  /// A type without the symbols of the states.
  Type Outside(const Type& type) const {
    return relax::EraseToWellDefined(type, [&](const tir::Var& symbol) { return own_.count(symbol.get()) == 0; });
  }

  /// The dimensions of a type, null those that steps change.
  Array<Optional<PrimExpr>> KnownDims(const Type& type) const {
    const auto* tensor = type.as<TensorTypeNode>();
    Array<Optional<PrimExpr>> known;
    if (!tensor->has_shape()) return known;
    for (const PrimExpr& dim : tensor->shape.value()) {
      const Type one = Outside(TensorType({dim}, tensor->dtype));
      known.push_back(one.as<TensorTypeNode>()->has_shape() ? Optional<PrimExpr>(dim) : Optional<PrimExpr>());
    }
    return known;
  }

  Type Stacked(const Type& row, const PrimExpr& trips) const {
    const auto* tensor = row.as<TensorTypeNode>();
    if (tensor == nullptr) node_.Fail("what a step gives is no tensor");
    if (tensor->ndim == kUnknownNDim) return row;
    if (is_conditional_ || !tensor->has_shape()) return TensorType::WithNDim(tensor->ndim + 1, tensor->dtype);
    Array<PrimExpr> shape = {trips};
    for (const PrimExpr& dim : tensor->shape.value()) shape.push_back(dim);
    return TensorType(shape, tensor->dtype);
  }

  /// Rows that are known to be of type `row`. Of no rows a loop that its steps end does not tell what each would be.
  Value WithRowsOf(const Value& rows, const Type& row) const {
    const auto* tensor = row.as<TensorTypeNode>();
    if (!is_conditional_ || !tensor->has_shape()) return rows;
    Array<PrimExpr> shape = {node_.Shape(rows->expr)[0]};
    for (const PrimExpr& dim : tensor->shape.value()) shape.push_back(dim);
    return node_.Reshaped(rows->expr, shape);
  }

  const NodeContext& node_;
  const Results& initial_;
  const Body& body_;
  std::vector<Expr> states_;
  std::vector<Type> types_;
  std::vector<bool> is_carried_;
  /// Of the last conversion of a step.
  std::vector<relax::Var> params_;
  LoopStep step_;
  bool is_conditional_ = false;
  bool is_given_up_ = false;
  /// A state of which steps change the rank: its types; else empty.
  std::string changes_rank_;
  std::unordered_set<const Object*> own_;
};

using Body = std::function<LoopStep(const PrimExpr& step, const Results& states)>;

/// The states before the first step; sequences whose length a step changes as rows.
Results StatesOf(const NodeContext& node, const Results& initial, const Body& body) {
  const bool has_sequences = std::any_of(initial.begin(), initial.end(), [](const Value& state) {
    return state.defined() && (state->elements || state->is_rows) && !state->is_none;
  });
  if (!has_sequences) return initial;
  // What one step makes of them is converted to learn the types of their elements, and not used.
  const tir::Var number = NewSymbol(node, "step");
  Results next;
  const relax::SeqExpr step = node.importer()->Sequence([&] {
    Results copies;
    for (const Value& state : initial) copies.push_back(state.Copy());
    next = body(number, copies).states;
    return Flattened(next);
  });
  return WithRowsWhereLengthsDiffer(node, initial, next, [&](const Type& type) {
    return relax::EraseToWellDefined(Importer::TypeOutside(step, type),
                                     [&](const tir::Var& symbol) { return !symbol.same_as(number); });
  });
}

}  // namespace

Results EmitLoop(const NodeContext& node, const PrimExpr& trips, const Value& condition, const Results& before,
                 const Body& body) {
  Results initial = StatesOf(node, before, body);
  for (;;) {
    // A state that is a sequence is as many states as it has elements.
    const Results states = Flattened(initial);
    std::vector<std::optional<TensorType>> ragged;
    const LoopBuilder::Body flat = [&](const PrimExpr& number, const Results& given) -> std::optional<LoopStep> {
      LoopStep step = body(number, PutTogether(initial, given));
      ragged = RaggedThen(node, initial, step.states);
      if (!ragged.empty()) return std::nullopt;
      step.states = WithRowsWhereLengthsDiffer(node, step.states, initial, [](const Type& type) { return type; });
      if (!AreAlike(step.states, initial)) {
        node.Unsupported(
            "a sequence whose length its steps change, in a loop whose number of steps the run tells; give the loop a "
            "constant number of steps");
      }
      step.states = Flattened(step.states);
      return step;
    };
    if (const auto last = LoopBuilder(node, states, flat).Emit(trips, condition)) {
      Results results = PutTogether(initial, std::span(*last).subspan(0, states.size()));
      results.insert(results.end(), last->begin() + static_cast<int64_t>(states.size()), last->end());
      return results;
    }
    // The first step, whose states are known, gave elements of one shape; others do not.
    for (size_t i = 0; i < initial.size(); ++i) {
      if (ragged[i]) initial[i] = AsRagged(node, initial[i], *ragged[i]);
    }
  }
}

namespace {

/// A branch that the run cannot take, for `reason`: an error, of the types of the other one.
relax::SeqExpr Impossible(const NodeContext& node, const std::string& reason, const relax::SeqExpr& other) {
  const Array<Expr> message = {relax::StringImm("a branch that cannot be computed was taken: " + reason)};
  const Type type = Importer::TypeOutside(other);
  return node.importer()->Sequence([&] {
    Results results;
    for (const Type& field : type.as<TupleTypeNode>()->fields) {
      results.emplace_back(node.Emit(relax::CallPurePacked(relax::ExternFunc("deuteron.vm.fail"), message, {field})));
    }
    return results;
  });
}

/// A branch, as a function that it calls: operators fuse in functions.
relax::SeqExpr Called(const NodeContext& node, const relax::SeqExpr& branch, const Type& type) {
  relax::BlockBuilder& builder = node.builder();
  builder.BeginBindingBlock();
  const relax::Var function = builder.Emit(relax::Function({}, branch, type), NameOf(node, "_branch"));
  const relax::Var result = builder.Emit(relax::Call(function, {}));
  relax::SeqExpr body({builder.EndBlock()}, result);
  body->ty = type;
  return body;
}

}  // namespace

Results EmitBranches(const NodeContext& node, const Expr& condition, const std::function<Results()>& then_graph,
                     const std::function<Results()>& else_graph) {
  Importer* importer = node.importer();
  const auto import = [&](const std::function<Results()>& graph, Results* outputs, const Results* other = nullptr,
                          const relax::SeqExpr* branch = nullptr) {
    return importer->Sequence([&] {
      *outputs = graph();
      if (other != nullptr) {
        *outputs = WithRowsWhereLengthsDiffer(node, *outputs, *other,
                                              [&](const Type& type) { return Importer::TypeOutside(*branch, type); });
      }
      return Flattened(*outputs);
    });
  };
  Results then_outputs, else_outputs;
  relax::SeqExpr then_branch, else_branch;
  const auto no_then = importer->WhyImpossible([&] { then_branch = import(then_graph, &then_outputs); });
  if (no_then) {
    else_branch = import(else_graph, &else_outputs);
    then_branch = Impossible(node, *no_then, else_branch);
    then_outputs = else_outputs;
  } else if (const auto no_else = importer->WhyImpossible([&] { else_branch = import(else_graph, &else_outputs); })) {
    else_branch = Impossible(node, *no_else, then_branch);
    else_outputs = then_outputs;
  }
  if (!AreAlike(then_outputs, else_outputs)) {
    // Again, with sequences of different lengths as rows.
    const Results of_then = then_outputs, of_else = else_outputs;
    const relax::SeqExpr first = then_branch;
    then_branch = import(then_graph, &then_outputs, &of_else, &else_branch);
    else_branch = import(else_graph, &else_outputs, &of_then, &first);
  }
  if (!AreAlike(then_outputs, else_outputs))
    node.Unsupported(
        "branches that give sequences of different lengths; bring both to one length, or join each by "
        "ConcatFromSequence in its branch");
  const Type then_type = Importer::TypeOutside(then_branch);
  const Type else_type = Importer::TypeOutside(else_branch);
  const Type type = relax::UnifyTypes(then_type, else_type, &node.analyzer());
  const auto* fields = type.as<TupleTypeNode>();
  for (size_t i = 0; fields != nullptr && i < fields->fields.size(); ++i) {
    const auto* tensor = fields->fields[i].as<TensorTypeNode>();
    if (tensor == nullptr || tensor->dtype.is_void()) fields = nullptr;
  }
  if (fields == nullptr) {
    node.Unsupported("branches that give values of different types: " + relax::Describe(then_type) + " and " +
                     relax::Describe(else_type) + "; bring both to one by Cast or Reshape");
  }
  relax::If branch(condition, Called(node, then_branch, then_type), Called(node, else_branch, else_type));
  branch->ty = type;
  const relax::Var result(node.builder().UniqueName("gv"), type);
  relax::SeqExpr body({relax::BindingBlock({relax::VarBinding(result, branch)})}, result);
  body->ty = type;
  const relax::Var function = node.builder().Emit(relax::Function({}, body, type), NameOf(node, "_branches"));
  const relax::Var results = node.Emit(relax::Call(function, {}));
  Results values;
  for (size_t i = 0; i < fields->fields.size(); ++i) {
    values.push_back(WithDims(node, node.Field(results, static_cast<int64_t>(i))));
    const auto* tensor = fields->fields[i].as<TensorTypeNode>();
    const auto& of_then = then_type.as<TupleTypeNode>()->fields[i];
    const auto& of_else = else_type.as<TupleTypeNode>()->fields[i];
    const auto has_rank = [](const Type& one) { return one.as<TensorTypeNode>()->ndim != kUnknownNDim; };
    if (tensor->ndim != kUnknownNDim || !has_rank(of_then) || !has_rank(of_else)) continue;
    values.back()->by_branch = std::make_shared<const Value::ByBranch>(Value::ByBranch{condition, of_then, of_else});
  }
  return PutTogether(then_outputs, values);
}

std::optional<Results> ConvertByRank(const NodeContext& node, const std::vector<Value>& inputs,
                                     const std::function<Results(const std::vector<Value>& inputs)>& convert) {
  const auto has_branches = [](const Value& input) { return input.defined() && input->by_branch != nullptr; };
  const auto first = std::find_if(inputs.begin(), inputs.end(), has_branches);
  if (first == inputs.end()) return std::nullopt;
  const Expr condition = (*first)->by_branch->condition;
  const auto taken = [&](bool is_then) {
    return [&, is_then] {
      Results given;
      for (const Value& input : inputs) {
        given.push_back(input.defined() ? input.Copy() : input);
        if (!has_branches(input) || !input->by_branch->condition.same_as(condition)) continue;
        const Type type = is_then ? input->by_branch->then_type : input->by_branch->else_type;
        given.back() = WithDims(node, node.WithType(input->expr, type));
      }
      return convert(given);
    };
  };
  return EmitBranches(node, condition, taken(true), taken(false));
}

}  // namespace deuteron::onnx
