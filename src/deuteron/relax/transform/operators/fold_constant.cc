/// \file
/// FoldConstant: computes at compile time what depends on constants only.
///
/// Purpose: weights that are transposed, scaled or reshaped before use cost nothing at run time. Calls of
/// kernels whose arguments are all constants are evaluated, anywhere; in dataflow blocks also operators
/// that legalise to exactly one kernel, shape_to_tensor of a known shape and tensor_to_shape of a constant. What only
/// moves or widens elements, and simple arithmetic of float32, takes no kernel (constant_data.h,
/// constant_arithmetic.h).
/// Results replace the uses of the variable, and what is not used any more is let go at once.
///
/// What it must not do: fold calls with side effects, or of kernels that take symbols; materialise large tensors out of
/// nothing (operators without a tensor input over relax.FoldConstant.max_creation_elements), or of little; fold
/// `skip_ops` (weights that a library takes quantised, until it has taken them).
///
/// Place: once on operators, and again after AnnotateTIROpPattern on kernels. `evaluator` may decline.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "deuteron/relax/analysis/purity.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/functor.h"
#include "deuteron/relax/legalize_cache.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/constant_arithmetic.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/relax/rewrite/operator_names.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/operators/passes.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/support/limits.h"
#include "deuteron/tir/analysis/cost.h"

namespace deuteron::relax {
namespace {

/// The extents and dtype of a tensor type, if they are known numbers.
std::optional<OutputSpec> SpecOf(const Type& type) {
  const auto* tensor = type.as<TensorTypeNode>();
  if (tensor == nullptr || !tensor->has_shape() || tensor->dtype.is_void()) return std::nullopt;
  auto shape = AsConstInts(*tensor->shape);
  if (!shape) return std::nullopt;
  return OutputSpec{std::move(*shape), tensor->dtype};
}

std::optional<std::vector<OutputSpec>> SpecsOf(const Type& type) {
  std::vector<OutputSpec> specs;
  const auto add = [&](const Type& field) {
    auto spec = SpecOf(field);
    if (spec) specs.push_back(std::move(*spec));
    return spec.has_value();
  };
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    for (const Type& field : tuple->fields) {
      if (!add(field)) return std::nullopt;
    }
  } else if (!add(type)) {
    return std::nullopt;
  }
  return specs;
}

/// A constant may have that many elements, or be that much larger than what it is computed of (filters that are
/// transformed are).
constexpr double kMostMade = 1 << 24;
constexpr double kMostGrowth = 16;

class Folder {
 public:
  Folder(const IRModule& module, const ConstantEvaluator& evaluator, const transform::PassContext& context,
         const std::unordered_set<std::string>& skip_ops)
      : module_(module),
        evaluator_(evaluator),
        max_creation_(context.GetInt("relax.FoldConstant.max_creation_elements")),
        skip_ops_(skip_ops) {}

  Function Fold(const Function& function) {
    CountUses(function->body);
    return WithBody(function, Visit(function->body));
  }

 private:
  SeqExpr Visit(const SeqExpr& seq) {
    Array<BindingBlock> blocks = seq->blocks.Map([this](const BindingBlock& block) {
      const bool is_dataflow = block->IsInstance<DataflowBlockNode>();
      Array<Binding> bindings;
      bool changed = false;
      for (const Binding& binding : block->bindings) {
        const Binding visited = Visit(binding, is_dataflow);
        ForgetLastUses(binding);
        // Its constant stands where it was used, and nothing holds it longer than that.
        const bool is_done = !visited.same_as(binding) && visited->IsInstance<VarBindingNode>() &&
                             visited->var->kind == RelaxKind::kDataflowVar &&
                             BoundValue(visited)->kind == RelaxKind::kConstant;
        changed |= is_done || !visited.same_as(binding);
        if (!is_done) bindings.push_back(visited);
      }
      return changed ? WithBindings(block, std::move(bindings)) : block;
    });
    const Expr body = replacer_.Replace(seq->body);
    if (blocks.same_as(seq->blocks) && body.same_as(seq->body)) return seq;
    return SeqExpr(std::move(blocks), body, seq->span);
  }

  /// The variables that a binding itself uses, those in branches apart.
  static void VisitUses(const Binding& binding, const std::function<void(const Expr&)>& visit) {
    const Expr& value = BoundValue(binding);
    const auto* branch = value.as<IfNode>();
    PostOrderVisit(branch != nullptr ? branch->cond : value, [&](const Expr& expr) {
      if (IsVar(expr)) visit(expr);
    });
  }

  void CountUses(const SeqExpr& seq) {
    for (const BindingBlock& block : seq->blocks) {
      for (const Binding& binding : block->bindings) {
        VisitUses(binding, [this](const Expr& var) { ++uses_[var.get()]; });
        const auto* branch = BoundValue(binding).as<IfNode>();
        if (branch == nullptr) continue;
        CountUses(branch->true_branch);
        CountUses(branch->false_branch);
      }
    }
    PostOrderVisit(seq->body, [this](const Expr& expr) { ++uses_[expr.get()]; });
  }

  /// Lets go of what no later binding uses: large constants are computed of large constants.
  void ForgetLastUses(const Binding& binding) {
    VisitUses(binding, [this](const Expr& var) {
      if (--uses_[var.get()] != 0) return;
      replacer_.Forget(Downcast<Var>(var));
      tuples_.erase(var.get());
    });
  }

  Binding Visit(const Binding& original, bool is_dataflow) {
    if (const auto* branch = BoundValue(original).as<IfNode>()) {
      const Expr cond = replacer_.Replace(branch->cond);
      const SeqExpr true_branch = Visit(branch->true_branch);
      const SeqExpr false_branch = Visit(branch->false_branch);
      if (cond.same_as(branch->cond) && true_branch.same_as(branch->true_branch) &&
          false_branch.same_as(branch->false_branch)) {
        return original;
      }
      const If visited(cond, true_branch, false_branch, branch->span);
      visited->ty = branch->ty;
      return VarBinding(original->var, visited, original->span);
    }
    Binding binding = replacer_.Replace(original);
    if (!binding->IsInstance<VarBindingNode>()) return binding;
    binding = WithKnownShapes(binding);
    binding_ = binding;
    const Expr folded = FoldValue(BoundValue(binding), is_dataflow);
    if (folded.defined()) binding = VarBinding(binding->var, folded, binding->span);
    Remember(binding);
    return binding;
  }

  void Remember(const Binding& binding) {
    const Expr& value = BoundValue(binding);
    if (value->kind == RelaxKind::kTuple) tuples_[binding->var.get()] = Downcast<Tuple>(value);
    if (value->kind == RelaxKind::kConstant) replacer_.Set(binding->var, value);
    if (value->kind == RelaxKind::kShapeExpr) shapes_[binding->var.get()] = value;
  }

  /// `binding` with the known shapes among the arguments of its call in their places.
  Binding WithKnownShapes(const Binding& binding) const {
    const auto* call = BoundValue(binding).as<CallNode>();
    if (call == nullptr || shapes_.empty()) return binding;
    auto args = call->args.Map([this](const Expr& arg) {
      const auto shape = shapes_.find(arg.get());
      return shape == shapes_.end() ? arg : shape->second;
    });
    if (args.same_as(call->args)) return binding;
    const Call known(call->op, std::move(args), call->attrs, call->ty_args, call->span);
    known->ty = call->ty;
    return VarBinding(binding->var, known, binding->span);
  }

  /// The constant (or tuple or shape of constants) that `value` is; null if it is not known.
  Expr FoldValue(const Expr& value, bool is_dataflow) {
    if (const auto* item = value.as<TupleGetItemNode>()) {
      auto it = tuples_.find(item->tuple.get());
      if (it == tuples_.end()) return Expr();
      const Expr& field = it->second->fields[item->index];
      return field->kind == RelaxKind::kConstant ? field : Expr();
    }
    if (value->kind != RelaxKind::kCall) return Expr();
    const auto call = Downcast<Call>(value);
    if (IsCallTIR(call)) return FoldCallTIR(call, module_);
    const auto* op = call->op.as<OpNode>();
    if (op == nullptr || !is_dataflow) return Expr();
    if (op->name == "relax.shape_to_tensor") return FoldShapeToTensor(call);
    if (op->name == "relax.tensor_to_shape") return FoldTensorToShape(call);
    return FoldOperator(call, GetRef<Op>(op));
  }

  Expr FoldCallTIR(const Call& call, const IRModule& module) {
    const CallTIRView view = ViewCallTIR(call);
    if (view.tir_vars.defined()) return Expr();
    std::vector<Tensor> inputs;
    for (const Expr& arg : view.args->fields) {
      const auto* constant = arg.as<ConstantNode>();
      if (constant == nullptr) return Expr();
      inputs.push_back(constant->data);
    }
    const auto specs = SpecsOf(view.out_ty);
    const auto kernel = As<tir::PrimFunc>(module.Lookup(view.func));
    if (!specs || !kernel.defined() || IsOutOfNothing(inputs, *specs)) return Expr();
    CheckBudget("FoldConstant");
    if (const double work = tir::KnownWork(kernel); work > static_cast<double>(CurrentLimits().operations)) {
      CheckLimit(&Limits::operations, work, "the constant " + NameOf(binding_));
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      inputs[i] = CompactData(Downcast<Constant>(view.args->fields[static_cast<int64_t>(i)]));
    }
    // Of results without elements, loops around an empty one may be as long as they like.
    const auto results = HaveElements(*specs) ? evaluator_(kernel, inputs, *specs) : Empty(*specs);
    if (results.empty()) return Expr();
    for (const Expr& arg : view.args->fields) LetGoOfData(Downcast<Constant>(arg));
    DEUTERON_CHECK(results.size() == specs->size())
        << "the evaluator returned " << results.size() << " results for " << specs->size();
    if (!view.out_ty->IsInstance<TupleTypeNode>()) return Constant(results[0], call->span);
    Array<Expr> fields;
    for (const Tensor& result : results) fields.push_back(Constant(result));
    return Tuple(std::move(fields), call->span);
  }

  static bool HaveElements(const std::vector<OutputSpec>& results) {
    return std::any_of(results.begin(), results.end(), [](const OutputSpec& result) {
      return std::find(result.shape.begin(), result.shape.end(), 0) == result.shape.end();
    });
  }
  static std::vector<Tensor> Empty(const std::vector<OutputSpec>& results) {
    std::vector<Tensor> tensors;
    for (const OutputSpec& result : results) tensors.push_back(runtime::AllocTensor(result.shape, result.dtype));
    return tensors;
  }

  /// Whether large results would be made of little.
  static bool IsOutOfNothing(const std::vector<Tensor>& inputs, const std::vector<OutputSpec>& results) {
    double given = 0, made = 0;
    for (const Tensor& input : inputs) given += static_cast<double>(input.numel());
    for (const OutputSpec& result : results) {
      double elements = 1;
      for (const int64_t extent : result.shape) elements *= static_cast<double>(extent);
      made += elements;
    }
    return made > kMostMade && made > kMostGrowth * given;
  }

  /// Operators that take nothing but the shape of their first argument.
  static bool IsShapeOnly(const Op& op) {
    static const Op ops[] = {Op::Get("relax.full_like"), Op::Get("relax.ones_like"), Op::Get("relax.zeros_like"),
                             Op::Get("relax.eye_like")};
    return IsOneOf(op, ops);
  }

  Expr FoldOperator(const Call& call, const Op& op) {
    const OpInfo* info = FindOpInfo(op);
    if (info == nullptr || info->legalize == nullptr || !info->pure) return Expr();
    if (!skip_ops_.empty() && skip_ops_.count(std::string(op->name)) != 0) return Expr();
    bool has_tensor = false;
    for (const Expr& arg : call->args) {
      if (arg->kind == RelaxKind::kConstant) {
        has_tensor = true;
      } else if (const auto* tuple = arg.as<TupleNode>()) {
        for (const Expr& field : tuple->fields) {
          // The axes and bounds of a slice are scalars.
          if (field->kind == RelaxKind::kPrimValue) continue;
          if (field->kind != RelaxKind::kConstant) return Expr();
          has_tensor = true;
        }
      } else if (IsVar(arg) && !IsShapeOnly(op)) {
        return Expr();
      }
    }
    // A constant to fill with is no tensor that comes in.
    has_tensor &= !IsShapeOnly(op);
    const auto specs = SpecsOf(call.ty());
    if (!specs) return Expr();
    if (!has_tensor) {
      for (const OutputSpec& spec : *specs) {
        int64_t elements = 1;
        for (const int64_t extent : spec.shape) elements *= extent;
        if (elements > max_creation_) return Expr();
      }
    }
    if (const Expr moved = FoldMove(call, *specs); moved.defined()) return moved;
    if (IsLessZeros(call, *specs)) return call->args[0];
    if (const Expr computed = FoldArithmetic(call, *specs); computed.defined()) return computed;
    Array<Binding> parts;
    const Expr legal = cache_.RunAlone(scratch_, call, info->legalize, &parts);
    if (!parts.empty() || !IsCallTIR(legal)) return Expr();
    return FoldCallTIR(Downcast<Call>(legal), scratch_.module());
  }

  /// Whether it subtracts zeros, the zero points of most weights, from a constant of integers.
  static bool IsLessZeros(const Call& call, const std::vector<OutputSpec>& results) {
    static const Op kSubtract = Op::Get("relax.subtract");
    if (!call->op.same_as(kSubtract)) return false;
    const auto* minuend = call->args[0].as<ConstantNode>();
    const auto* zeros = call->args[1].as<ConstantNode>();
    if (minuend == nullptr || zeros == nullptr || DataType(zeros->data.dtype()) != DataType::Int(32)) return false;
    const auto shape = minuend->data.shape();
    if (!std::equal(shape.begin(), shape.end(), results[0].shape.begin(), results[0].shape.end())) return false;
    const Tensor data = CompactData(GetRef<Constant>(zeros));
    const auto* const begin = static_cast<const int32_t*>(data.data_ptr());
    return std::all_of(begin, begin + data.numel(), [](int32_t zero) { return zero == 0; });
  }

  /// What ComputedData gives; null where it takes a kernel. FoldMove, which comes first, has checked the budget.
  static Expr FoldArithmetic(const Call& call, const std::vector<OutputSpec>& results) {
    if (results.size() != 1) return Expr();
    std::vector<Tensor> inputs;
    for (const Expr& arg : call->args) {
      if (const auto* constant = arg.as<ConstantNode>()) inputs.push_back(constant->data);
    }
    if (IsOutOfNothing(inputs, results)) return Expr();
    Tensor data = ComputedData(call, results[0].shape);
    if (!data.defined()) return Expr();
    for (const Expr& arg : call->args) LetGoOfData(Downcast<Constant>(arg));
    return Constant(std::move(data), call->span);
  }

  /// A weight that is transposed or seen otherwise, a part of one, rows of a table, one element many times, or integers
  /// in more bits, which is no work for a kernel (what compiles one might not have been opened yet); null where
  /// elements move otherwise.
  static Expr FoldMove(const Call& call, const std::vector<OutputSpec>& results) {
    static const Op kFull = Op::Get("relax.full"), kBroadcast = Op::Get("relax.broadcast_to");
    static const Op kSlice = Op::Get("relax.strided_slice");
    const size_t source = call->op.same_as(kFull) ? 1 : 0;
    const auto* constant = call->args.size() > source ? call->args[source].as<ConstantNode>() : nullptr;
    if (constant == nullptr || results.size() != 1) return Expr();
    CheckBudget("FoldConstant");
    const auto table = GetRef<Constant>(constant);
    const auto is_op = [&](const Op& op) { return call->op.same_as(op); };
    const bool is_same_type = DataType(constant->data.dtype()) == results[0].dtype;
    Tensor data;
    // Not where the result is memory of the constant, or may be.
    bool replaces = true;
    if (call->attrs.as<PermuteDimsAttrsNode>() != nullptr) {
      data = TransposedData(table, PermutationOf(call, constant->data.ndim()));
    } else if (const auto* take = call->attrs.as<TakeAttrsNode>()) {
      const auto* indices = call->args[1].as<ConstantNode>();
      if (indices == nullptr || IsOutOfNothing({table->data, indices->data}, results)) return Expr();
      const int64_t axis = NormalizeAxis(call, take->axis.value_or(0), constant->data.ndim());
      data = TakenData(table, GetRef<Constant>(indices), static_cast<size_t>(axis));
    } else if ((is_op(kFull) || is_op(kBroadcast)) && is_same_type && !IsOutOfNothing({table->data}, results)) {
      data = FilledData(table, results[0].shape);
    } else if (OnlyReshapes(call->op)) {
      replaces = false;
      data = ReshapedData(table, results[0].shape);
    } else if (call->attrs.as<AstypeAttrsNode>() != nullptr) {
      data = WidenedData(table, results[0].dtype);
    } else if (is_op(kSlice)) {
      const auto begins = KnownBegins(call);
      replaces = false;
      if (begins) data = SlicedData(table, *begins, results[0].shape);
    }
    if (!data.defined()) return Expr();
    if (replaces) LetGoOfData(table);
    return Constant(std::move(data), call->span);
  }

  static Expr FoldShapeToTensor(const Call& call) {
    const auto* shape = call->args[0].as<ShapeExprNode>();
    if (shape == nullptr) return Expr();
    const auto values = AsConstInts(shape->values);
    if (!values) return Expr();
    Tensor tensor = runtime::AllocTensor({static_cast<int64_t>(values->size())}, DataType::Int(64));
    std::copy(values->begin(), values->end(), static_cast<int64_t*>(tensor.data_ptr()));
    return Constant(tensor, call->span);
  }

  static Expr FoldTensorToShape(const Call& call) {
    const auto* constant = call->args[0].as<ConstantNode>();
    if (constant == nullptr || constant->data.ndim() != 1 || DataType(constant->data.dtype()) != DataType::Int(64))
      return Expr();
    Array<PrimExpr> values;
    const auto* data = static_cast<const int64_t*>(constant->data.data_ptr());
    for (int64_t i = 0; i < constant->data.shape()[0]; ++i) values.push_back(I64(data[i]));
    return ShapeExpr(std::move(values), call->span);
  }

  const IRModule& module_;
  const ConstantEvaluator& evaluator_;
  const int64_t max_creation_;
  const std::unordered_set<std::string>& skip_ops_;
  VarReplacer replacer_;
  /// The one that is visited.
  Binding binding_{nullptr};
  /// Bindings not yet visited that use a variable; results of functions and branches count as well.
  std::unordered_map<const Object*, int64_t> uses_;
  std::unordered_map<const Object*, Tuple> tuples_;
  std::unordered_map<const Object*, Expr> shapes_;
  BlockBuilder scratch_;
  LegalizeCache cache_;
};

}  // namespace

Pass FoldConstant(ConstantEvaluator evaluator, std::vector<std::string> skip_ops) {
  for (const std::string& name : skip_ops) RequireOperator("FoldConstant: skip_ops", name);
  const std::unordered_set<std::string> skipped(skip_ops.begin(), skip_ops.end());
  return transform::ModulePass({.name = "FoldConstant", .opt_level = 1},
                               [evaluator, skipped](IRModule module, const transform::PassContext& context) {
                                 const IRModule original = module;
                                 Folder folder(original, evaluator, context, skipped);
                                 return UpdateFunctions(std::move(module), [&](const GlobalVar&, const Function& f) {
                                   return RemoveAllUnused(folder.Fold(f), original);
                                 });
                               });
}

}  // namespace deuteron::relax
