/// \file
/// Functions of the module under construction: sharing of structurally equal ones, and call_tir of
/// PrimFuncs made from tensor expressions.
#include <unordered_set>

#include "deuteron/relax/block_builder_impl.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/op_info.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/support/element.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/structure_hash.h"

namespace deuteron::relax {
namespace {

/// The literal of a constant of rank 0, null for types without literals.
PrimExpr ScalarLiteral(const ConstantNode* constant) {
  if (!constant->is_scalar()) return PrimExpr();
  const DataType dtype(constant->data.dtype());
  const void* data = constant->data.data_ptr();
  if (dtype.is_bool()) return tir::IntImm(dtype, LoadInteger(data, dtype) != 0);
  if (dtype.is_integer()) return tir::IntImm(dtype, LoadInteger(data, dtype));
  return dtype.is_float() ? tir::FloatImm(dtype, LoadFloat(data, dtype)) : PrimExpr();
}

/// The arguments of CallTE as tensors; `passed` are those that become buffers.
struct TEArguments {
  Array<te::Tensor> tensors;
  Array<te::Tensor> placeholders;
  Array<Expr> passed;

  /// `tensor_of`: the tensor that a variable stands for, which becomes no buffer; null of others.
  void Add(const Expr& arg, const std::function<te::Tensor(const Expr&)>& tensor_of) {
    if (te::Tensor tensor = tensor_of(arg); tensor.defined()) {
      tensors.push_back(std::move(tensor));
      return;
    }
    switch (arg->kind) {
      case RelaxKind::kShapeExpr:
      case RelaxKind::kStringImm:
      case RelaxKind::kDataTypeImm:
        return;
      case RelaxKind::kPrimValue:
        tensors.push_back(te::ScalarTensor(static_cast<const PrimValueNode*>(arg.get())->value));
        return;
      case RelaxKind::kTuple:
        for (const Expr& field : static_cast<const TupleNode*>(arg.get())->fields) Add(field, tensor_of);
        return;
      case RelaxKind::kConstant:
        if (PrimExpr literal = ScalarLiteral(static_cast<const ConstantNode*>(arg.get())); literal.defined()) {
          tensors.push_back(te::ScalarTensor(std::move(literal)));
          return;
        }
        break;
      default:
        break;
    }
    if (arg.ty().as<PrimTypeNode>() != nullptr) {
      DEUTERON_THROW(UnsupportedError) << "a scalar that is a value of the graph, of type " << Describe(arg.ty())
                                       << ", cannot be an operand of a kernel: pass a tensor of shape ()";
    }
    const auto* type = arg.ty().as<TensorTypeNode>();
    DEUTERON_CHECK(type != nullptr && type->has_shape()) << "an argument of CallTE has type " << Describe(arg.ty());
    const auto* var = arg.as<VarNode>();
    const std::string name =
        var != nullptr ? std::string(var->name_hint) : std::string(1, static_cast<char>('A' + tensors.size() % 26));
    te::Tensor placeholder = te::Placeholder(*type->shape, type->dtype, name);
    tensors.push_back(placeholder);
    placeholders.push_back(placeholder);
    passed.push_back(arg);
  }
};

/// A tensor that is computed, and by nobody else in `seen`: a copy of one that is not.
te::Tensor AsOutput(const te::Tensor& tensor, const Array<te::Tensor>& seen) {
  bool is_fresh = !tensor->op->is_placeholder();
  for (const te::Tensor& other : seen) {
    is_fresh = is_fresh && !(other->op.same_as(tensor->op) && other->value_index == tensor->value_index);
  }
  if (is_fresh) return tensor;
  return te::Compute(tensor.shape(),
                     [&](const Array<tir::Var>& axes) { return tensor(Array<PrimExpr>(axes.begin(), axes.end())); });
}

/// Of a value that holds these: a tensor, or a tuple of several.
Type TypeOf(const Array<te::Tensor>& tensors, const VDevice& device) {
  Array<Type> types;
  for (const te::Tensor& tensor : tensors) types.push_back(TensorType(tensor.shape(), tensor.dtype(), device));
  return types.size() == 1 ? types[0] : Type(TupleType(types));
}

/// Symbolic variables that the tensors use and no buffer's shape defines, in order of use; `any` tells
/// whether there are symbolic variables at all.
Array<tir::Var> UndefinedVars(const Array<te::Tensor>& buffers, const Array<te::Tensor>& outputs, bool* any) {
  std::unordered_set<const Object*> bound;
  std::unordered_set<const Object*> seen;
  std::vector<tir::Var> used;
  const auto use = [&](const PrimExpr& expr) {
    PostOrderVisit(expr, [&](const PrimExpr& node) {
      if (node->kind == ExprKind::kLet) bound.insert(static_cast<const tir::LetNode*>(node.get())->var.get());
      if (node->kind == ExprKind::kVar && seen.insert(node.get()).second) used.push_back(Downcast<tir::Var>(node));
    });
  };
  for (const te::Tensor& buffer : buffers) {
    for (const PrimExpr& dim : buffer.shape()) {
      if (dim->kind == ExprKind::kVar) bound.insert(dim.get());
      if (dim->kind != ExprKind::kIntImm) use(dim);
    }
  }
  for (const te::ComputeOp& op : te::PostOrder(outputs)) {
    for (const tir::IterVar& axis : op->axis) {
      seen.insert(axis->var.get());
      use(axis->dom->extent);
    }
    for (const PrimExpr& value : op->body) {
      if (const auto* reduce = value.as<tir::ReduceNode>()) {
        for (const tir::IterVar& axis : reduce->axis) seen.insert(axis->var.get());
      }
      use(value);
    }
  }
  *any = !used.empty();
  Array<tir::Var> undefined;
  for (const tir::Var& var : used) {
    if (bound.count(var.get()) == 0) undefined.push_back(var);
  }
  return undefined;
}

}  // namespace

Call BlockBuilder::CallTE(const std::string& name, const Array<Expr>& args,
                          const std::function<Array<te::Tensor>(const Array<te::Tensor>&)>& compute) {
  TEArguments arguments;
  for (const Expr& arg : args) arguments.Add(arg, [this](const Expr& each) { return impl_->TensorOf(each); });
  Array<te::Tensor> outputs;
  for (const te::Tensor& tensor : compute(arguments.tensors)) outputs.push_back(AsOutput(tensor, outputs));
  if (impl_->computation != nullptr) {
    Call call = CallTIR(GlobalVar(String(name)), Tuple(arguments.passed), TypeOf(outputs, VDevice()), Expr());
    impl_->computation->computed[call.get()] = outputs;
    return call;
  }
  Array<te::Tensor> buffers = arguments.placeholders;
  for (const te::Tensor& output : outputs) buffers.push_back(output);

  bool is_symbolic = false;
  const Array<tir::Var> scalars = UndefinedVars(buffers, outputs, &is_symbolic);
  tir::PrimFunc func = te::CreatePrimFunc(buffers, scalars);
  if (is_symbolic) func = tir::RenewDefs(func);

  VDevice device;
  for (const Expr& arg : arguments.passed) {
    if (!device.defined()) device = arg.ty().as<TensorTypeNode>()->vdevice;
  }
  const Type out_ty = TypeOf(outputs, device);
  Expr tir_vars;
  if (!scalars.empty()) tir_vars = ShapeExpr(Array<PrimExpr>(scalars.begin(), scalars.end()));
  return CallTIR(AddFunction(func, name), Tuple(arguments.passed), out_ty, tir_vars);
}

te::Tensor BlockBuilder::Impl::TensorOf(const Expr& expr) const {
  if (computation == nullptr) return te::Tensor();
  if (const te::Tensor* given = computation->tensors.Find(expr.get())) return *given;
  const Expr* bound = bindings.Find(expr.get());
  const auto* computed = bound == nullptr ? nullptr : computation->computed.Find(bound->get());
  return computed != nullptr && computed->size() == 1 ? (*computed)[0] : te::Tensor();
}

Array<te::Tensor> BlockBuilder::ComputationOf(const Call& call, const Array<Var>& vars,
                                              const Array<te::Tensor>& tensors) {
  BlockBuilder builder;
  builder.impl_->computation = std::make_unique<Impl::Computation>();
  builder.BeginScope(vars);
  builder.BeginDataflowBlock();
  for (size_t i = 0; i < vars.size(); ++i) builder.impl_->computation->tensors[vars[i].get()] = tensors[i];
  const Call typed = Downcast<Call>(builder.Normalize(call));
  const auto* op = typed->op.as<OpNode>();
  const OpInfo* info = op == nullptr ? nullptr : FindOpInfo(GetRef<Op>(op));
  const Expr value = info == nullptr || info->legalize == nullptr ? Expr(typed) : info->legalize(builder, typed);
  const Array<te::Tensor>* computed = builder.impl_->computation->computed.Find(value.get());
  if (computed == nullptr) DEUTERON_THROW(UnsupportedError) << OpName(typed) << " is no computation of tensors";
  return *computed;
}

Var BlockBuilder::EmitTE(const std::string& name, const Array<Expr>& args,
                         const std::function<Array<te::Tensor>(const Array<te::Tensor>&)>& compute) {
  Array<Expr> leaves = args.Map([this](const Expr& arg) { return Normalizer(this).Leaf(arg); });
  return Emit(CallTE(name, leaves, compute));
}

std::optional<uint64_t> BlockBuilder::Impl::HashOf(const BaseFunc& func) {
  // Graph functions hold constants, which a structural hash would read; only kernels are shared.
  if (func->kind != RelaxKind::kPrimFunc) return std::nullopt;
  return tir::StructureHash(Downcast<tir::PrimFunc>(func));
}

void BlockBuilder::Impl::Remember(const GlobalVar& var, std::optional<uint64_t> hash) {
  if (!hash) return;
  functions_by_hash.emplace(*hash, var);
  hash_of[var.get()] = *hash;
}

void BlockBuilder::Impl::IndexFunctions() {
  if (functions_indexed) return;
  functions_indexed = true;
  for (const auto& [var, func] : module->functions) Remember(var, HashOf(func));
}

GlobalVar BlockBuilder::AddFunction(const BaseFunc& func, const std::string& name) {
  impl_->IndexFunctions();
  const auto hash = Impl::HashOf(func);
  if (hash) {
    const auto [begin, end] = impl_->functions_by_hash.equal_range(*hash);
    for (auto it = begin; it != end; ++it) {
      if (StructurallyEqual(impl_->module.Lookup(it->second), func)) return it->second;
    }
  }
  GlobalVar var{String(impl_->global_names.Unique(name)), func.ty()};
  impl_->module.Update(var, func);
  impl_->Remember(var, hash);
  return var;
}

void BlockBuilder::UpdateFunction(const GlobalVar& var, const BaseFunc& func) {
  impl_->IndexFunctions();
  if (const auto known = impl_->hash_of.find(var.get()); known != impl_->hash_of.end()) {
    auto [it, end] = impl_->functions_by_hash.equal_range(known->second);
    while (it != end && !it->second.same_as(var)) ++it;
    if (it != end) impl_->functions_by_hash.erase(it);
    impl_->hash_of.erase(known);
  }
  impl_->global_names.Reserve(std::string(var->name_hint));
  impl_->module.Update(var, func);
  impl_->Remember(var, Impl::HashOf(func));
}

}  // namespace deuteron::relax
