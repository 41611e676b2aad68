/// \file
/// Calls: kernels, functions of the module, external functions, allocations.
#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "deuteron/arith/analyzer.h"
#include "deuteron/codegen/vm/function_compiler.h"
#include "deuteron/ir/expr_functor.h"
#include "deuteron/relax/op/memory.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/tir/analysis/kernel_signature.h"

namespace deuteron::codegen {

using relax::Expr;
using relax::MemoryCall;
using runtime::Opcode;

void FunctionCompiler::CompileCall(const relax::Var& var, const relax::CallNode* call) {
  switch (relax::MemoryCallOf(GetRef<relax::Call>(call))) {
    case MemoryCall::kBuiltinAlloc:
      return CompileAlloc(var, call);
    case MemoryCall::kAllocStorage:
      return CompileStorage(var, call);
    case MemoryCall::kAllocTensor:
      return CompileTensorInStorage(var, call);
    case MemoryCall::kKill: {
      if (!call->args[0].as<relax::VarNode>()) return;
      const Value& value = Find(call->args[0]);
      // Memory of its own is freed early; the arena's is free when the plan says so.
      if (value.object != kNone && !value.borrowed) Emit(Opcode::kRelease, {value.object});
      return;
    }
    case MemoryCall::kNone:
      break;
  }
  if (const auto* global = call->op.as<GlobalVarNode>()) {
    const BaseFunc callee = module_.Lookup(GetRef<GlobalVar>(global));
    const std::string name(global->name_hint);
    if (const auto kernel = As<tir::PrimFunc>(callee); kernel.defined()) {
      if (tir::ReturnedValue(kernel).defined()) return CompileScalarCall(var, kernel, call->args);
      CompileKernel(call, name, kernel);
      Value nothing;
      nothing.fields = std::make_shared<std::vector<Expr>>();
      return Set(var, std::move(nothing));
    }
    const auto function = builder_->FindFunction(name);
    if (!function) Unsupported("a call of " + name, span_);
    std::vector<uint32_t> operands = {kNone, *function};
    for (const Expr& arg : call->args) operands.push_back(ObjectOf(arg));
    operands[0] = NewObject();
    Emit(Opcode::kCall, operands);
    Value value;
    value.object = operands[0];
    value.type = var->ty;
    Set(var, std::move(value));
    return MatchResult(var, operands[0]);
  }
  if (const Expr viewed = relax::ViewedTensor(GetRef<relax::Call>(call)); viewed.defined()) {
    Value value;
    value.slot = SlotOf(viewed);
    value.type = var->ty;
    value.borrowed = true;
    return Set(var, std::move(value));
  }
  if (const auto* external = call->op.as<relax::ExternFuncNode>()) {
    return CompilePacked(var, std::string(external->global_symbol), call->args);
  }
  if (call->op.as<relax::VarNode>() != nullptr) return CompileInvoke(var, call->op, call->args);
  if (call->op.as<OpNode>() == nullptr) Unsupported("a call of a function value", span_);
  CompileOperator(var, call);
}

/// A call of a value that is a function.
void FunctionCompiler::CompileInvoke(const relax::Var& var, const Expr& callee, const Array<Expr>& args) {
  EmitOutsideCall(var, Opcode::kInvoke, ObjectOf(callee), args);
}

/// A function of the module as a value, to be called with `captured` after its arguments.
uint32_t FunctionCompiler::ClosureObject(const Expr& function, const Array<Expr>& captured) {
  const auto* global = function.as<GlobalVarNode>();
  const auto index = global == nullptr ? std::nullopt : builder_->FindFunction(std::string(global->name_hint));
  if (!index) Unsupported("a closure of something else than a graph-level function of the module", span_);
  const auto callee = As<relax::Function>(module_.Lookup(GetRef<GlobalVar>(global)));
  if (captured.size() > callee->params.size()) {
    DEUTERON_THROW(ModelError) << "a closure of function " << std::string(global->name_hint) << " with "
                               << captured.size() << " values, which takes " << callee->params.size();
  }
  std::vector<uint32_t> operands = {kNone, *index};
  for (const Expr& value : captured) operands.push_back(ObjectOf(value));
  operands[0] = NewObject();
  Emit(Opcode::kClosure, operands);
  return operands[0];
}

/// The fields of a tuple, written out or bound to a variable.
Array<Expr> FunctionCompiler::FieldsOf(const Expr& tuple) {
  if (const auto* literal = tuple.as<relax::TupleNode>()) return literal->fields;
  const Value& value = Find(tuple);
  if (value.fields == nullptr) Unsupported("a closure of a tuple that is not known field by field", span_);
  return Array<Expr>(value.fields->begin(), value.fields->end());
}

/// A function of scalars is compiled as the expression that it returns.
void FunctionCompiler::CompileScalarCall(const relax::Var& var, const tir::PrimFunc& func, const Array<Expr>& args) {
  Array<PrimExpr> values;
  for (const Expr& arg : args) {
    const auto* literal = arg.as<relax::PrimValueNode>();
    if (literal == nullptr) Unsupported("a function of scalars that is called with something else", span_);
    values.push_back(literal->value);
  }
  Value value;
  value.object = ObjectOf(relax::PrimValue(tir::ReturnedValue(func, values)));
  value.type = var->ty;
  Set(var, std::move(value));
}

/// R.loop(body, trips, states, condition?)
void FunctionCompiler::CompileLoop(const relax::Var& var, const relax::CallNode* call) {
  const auto* trips = call->args[1].as<relax::PrimValueNode>();
  if (trips == nullptr) Unsupported("a loop whose number of steps is no expression of dimensions", span_);
  const Array<Expr> states = FieldsOf(call->args[2]);
  const bool is_conditional = call->args.size() > 3;
  std::vector<uint32_t> operands = {kNone,
                                    ObjectOf(call->args[0]),
                                    cells_->Get(CastTo(DataType::Int(64), trips->value), &code_),
                                    TypeIndex(var->ty, MatchMode::kCheck),
                                    is_conditional ? 1U : 0U,
                                    static_cast<uint32_t>(states.size())};
  if (is_conditional) operands.push_back(ObjectOf(call->args[3]));
  for (const Expr& state : states) operands.push_back(ObjectOf(state));
  operands[0] = NewObject();
  MarkSource(span_);
  Emit(Opcode::kLoop, operands);
  const uint32_t what = builder_->String("the result of a loop" + PlaceText(span_));
  Emit(Opcode::kMatch, {operands[0], operands[3], what, 0});
  Value value;
  value.object = operands[0];
  value.type = var->ty;
  Set(var, std::move(value));
}

namespace {

/// Why an operator is left when byte code is made, and what to do about it.
std::string WhyNotCompiled(const std::string& name) {
  if (name == "call_builtin_with_ctx") {
    return "hands the state of TVM's virtual machine to what it calls (there is none here: use R.call_packed)";
  }
  if (name.rfind("vm.", 0) == 0)
    return "is an instruction of TVM's virtual machine (start from the module before VM lowering)";
  return "no kernel was made for: LegalizeOps has not run, or knows too little of its shapes or scalars (give its "
         "arguments shapes by R.match_cast, BindSymbolicVars or --shape; where they do not tell how arguments "
         "broadcast, say so by R.broadcast_to)";
}

}  // namespace

void FunctionCompiler::CompileOperator(const relax::Var& var, const relax::CallNode* call) {
  const std::string name = relax::OpName(GetRef<relax::Call>(call));
  if (name == "call_pure_packed" || name == "call_inplace_packed") {
    const auto* external = call->args[0].as<relax::ExternFuncNode>();
    if (external == nullptr) Unsupported("call_pure_packed of something else than an external function", span_);
    Array<Expr> args;
    for (size_t i = 1; i < call->args.size(); ++i) args.push_back(call->args[i]);
    return CompilePacked(var, std::string(external->global_symbol), args);
  }
  if (name == "make_closure") {
    Value value;
    value.object = ClosureObject(call->args[0], FieldsOf(call->args[1]));
    value.type = var->ty;
    return Set(var, std::move(value));
  }
  if (name == "invoke_closure" || name == "invoke_pure_closure") {
    return CompileInvoke(var, call->args[0], FieldsOf(call->args[1]));
  }
  if (name == "loop") return CompileLoop(var, call);
  if (name == "shape_of") return CompileShapeOf(var, call->args[0]);
  if (name == "shape_to_tensor" || name == "tensor_to_shape") {
    return CompilePacked(var, "deuteron.vm." + name, call->args);
  }
  if (name == "memory.ensure_zero_offset") {
    Value value;
    value.object = ObjectOf(call->args[0]);
    value.type = TypeOf(call->args[0]);
    value.borrowed = IsBorrowed(call->args[0]);
    return Set(var, std::move(value));
  }
  if (name == "null_value") {
    Value value;
    value.object = LiteralObject({.kind = runtime::Literal::kNone});
    value.type = var->ty;
    return Set(var, std::move(value));
  }
  // A node of a model; other places are lines of text.
  if (span_.defined() && span_->line == 0) {
    const auto has_shape = [](const relax::Expr& arg) {
      const auto* tensor = arg.ty().as<TensorTypeNode>();
      return tensor == nullptr || tensor->has_shape();
    };
    if (has_shape(var) && std::all_of(call->args.begin(), call->args.end(), has_shape)) {
      DEUTERON_THROW(UnsupportedError) << "node '" << std::string(span_->source) << "': no kernel was made for " << name
                                       << ": LegalizeOps did not run, or passes before it that `--bisect-limit`, or "
                                       << "`--disable-pass`, leaves out";
    }
    DEUTERON_THROW(UnsupportedError) << "node '" << std::string(span_->source)
                                     << "': too little is known of the shapes "
                                     << "of its operands to compute " << name << "; fix them with --shape";
  }
  Unsupported("operator " + name + ", which " + WhyNotCompiled(name) + ",", span_);
}

void FunctionCompiler::CompileKernel(const relax::CallNode* call, const std::string& name,
                                     const tir::PrimFunc& kernel) {
  std::vector<Expr> tensors;
  std::vector<PrimExpr> scalar_args;
  for (const Expr& arg : call->args) {
    if (const auto* shape = arg.as<relax::ShapeExprNode>()) {
      scalar_args.insert(scalar_args.end(), shape->values.begin(), shape->values.end());
    } else if (const auto* scalar = arg.as<relax::PrimValueNode>()) {
      scalar_args.push_back(scalar->value);
    } else {
      tensors.push_back(arg);
    }
  }
  const Array<tir::Buffer> buffers = tir::ParamBuffers(kernel);
  DEUTERON_CHECK(tensors.size() == buffers.size())
      << "kernel " << name << " takes " << buffers.size() << " buffers, given " << tensors.size();
  // Cells of the kernel's variables: scalar parameters by order, dimensions from the arguments' types.
  std::unordered_map<const Object*, uint32_t> bound;
  ExprVarMap values;
  size_t next = 0;
  for (const tir::Var& param : kernel->params) {
    if (kernel->buffer_map.count(param)) continue;
    DEUTERON_CHECK(next < scalar_args.size()) << "kernel " << name << " misses scalar arguments";
    values.emplace(param, scalar_args[next]);
    bound[param.get()] = cells_->Get(scalar_args[next++], &code_);
  }
  const std::vector<tir::Var> scalars = tir::KernelScalars(kernel);
  std::vector<uint32_t> operands = {kNone};
  for (const Expr& tensor : tensors) operands.push_back(SlotOf(tensor));
  for (size_t i = 0; i < tensors.size() && bound.size() < scalars.size(); ++i) {
    const Type type = TypeOf(tensors[i]);
    const auto* tensor = type.as<TensorTypeNode>();
    const auto& shape = buffers[i]->shape;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis]->kind != ExprKind::kVar || bound.count(shape[axis].get())) continue;
      if (tensor == nullptr || !tensor->has_shape() || tensor->shape.value().size() != shape.size()) {
        Unsupported("an argument of kernel " + name + " of unknown shape (match_cast it first)", span_);
      }
      bound[shape[axis].get()] = cells_->Get(tensor->shape.value()[axis], &code_);
    }
  }
  for (const tir::Var& scalar : scalars) {
    const auto it = bound.find(scalar.get());
    if (it == bound.end()) {
      Unsupported(
          "dimension " + std::string(scalar->name_hint) + " of kernel " + name + ", which no argument has as it is,",
          span_);
    }
    operands.push_back(it->second);
  }
  for (size_t i = 0; i < tensors.size(); ++i) CheckBuffer(name, i, tensors[i], buffers[i], &values);
  operands[0] = builder_->Kernel(KernelSymbol(name), tensors.size(), scalars.size());
  MarkSource(span_);
  Emit(Opcode::kKernel, operands);
}

/// Kernels trust the shapes of their buffers: what the argument's type does not show to be so is checked before the
/// call. `values`: what the kernel's variables are here; those that `buffer` defines are added.
void FunctionCompiler::CheckBuffer(const std::string& kernel, size_t index, const Expr& arg, const tir::Buffer& buffer,
                                   ExprVarMap* values) {
  const Type type = TypeOf(arg);
  const auto* tensor = type.as<TensorTypeNode>();
  const bool known = tensor != nullptr && tensor->has_shape() && tensor->shape->size() == buffer->shape.size();
  bool fits = known;
  Array<PrimExpr> expected;
  for (size_t axis = 0; axis < buffer->shape.size(); ++axis) {
    const PrimExpr& extent = buffer->shape[axis];
    if (const auto* var = extent.as<tir::VarNode>(); var != nullptr && known) {
      values->emplace(GetRef<tir::Var>(var), (*tensor->shape)[axis]);
    }
    expected.push_back(Substitute(extent, *values));
    fits = fits && (ExprEqual(expected.back(), (*tensor->shape)[axis]) ||
                    arith::Analyzer().CanProveEqual(expected.back(), (*tensor->shape)[axis]));
  }
  if (fits) return;
  const uint32_t what =
      builder_->String("argument " + std::to_string(index) + " of kernel " + kernel + PlaceText(span_));
  const uint32_t object = ObjectOf(arg);
  const TensorType wanted(std::move(expected), tensor != nullptr ? tensor->dtype : buffer->dtype);
  Emit(Opcode::kMatch, {object, TypeIndex(wanted, MatchMode::kDescribe), what, 0});
}

void FunctionCompiler::CompilePacked(const relax::Var& var, const std::string& name, const Array<Expr>& args) {
  EmitOutsideCall(var, Opcode::kCallPacked, builder_->String(name), args);
}

void FunctionCompiler::EmitOutsideCall(const relax::Var& var, Opcode opcode, uint32_t callee, const Array<Expr>& args) {
  std::vector<uint32_t> operands = {kNone, callee};
  for (const Expr& arg : args) operands.push_back(ObjectOf(arg));
  operands[0] = NewObject();
  MarkSource(span_);
  Emit(opcode, operands);
  Value value;
  value.object = operands[0];
  value.type = var->ty;
  // It may return what it was given.
  for (const Expr& arg : args) value.borrowed |= IsBorrowed(arg);
  Set(var, std::move(value));
  MatchResult(var, operands[0]);
}

/// A result from outside is checked against the type that the module says it has; that binds the symbols that only it
/// defines.
void FunctionCompiler::MatchResult(const relax::Var& var, uint32_t object) {
  const Type& type = var->ty;
  if (!type.defined() || (type->kind != TypeKind::kTensor && type->kind != TypeKind::kShape)) return;
  const uint32_t what = builder_->String("result '" + std::string(var->name_hint) + "'" + PlaceText(span_));
  Emit(Opcode::kMatch, {object, TypeIndex(type, MatchMode::kBind), what, 0});
  if (HasExpressions(type)) {
    const uint32_t check = TypeIndex(type, MatchMode::kDescribe);
    Emit(Opcode::kMatch, {object, check, what, 0});
  }
}

void FunctionCompiler::CompileAlloc(const relax::Var& var, const relax::CallNode* call) {
  const TensorType type = relax::AllocatedType(GetRef<relax::Call>(call));
  if (!type->has_shape()) Unsupported("an allocation of unknown shape", span_);
  RequireExtents(type);
  Value value;
  value.type = type;
  value.slot = NewSlot();
  value.object = NewObject();
  const uint32_t index = TypeIndex(type, MatchMode::kCheck);
  Emit(Opcode::kAlloc, {value.slot, value.object, index, 0});
  if (branch_depth_ == 0) value.output_word = static_cast<uint32_t>(code_.size() - 1);
  Set(var, std::move(value));
}

void FunctionCompiler::RequireExtents(const TensorType& type) {
  for (const PrimExpr& extent : *type->shape) cells_->RequireExtent(extent, &code_, branch_depth_ > 0);
}

void FunctionCompiler::CompileStorage(const relax::Var& var, const relax::CallNode* call) {
  const auto* shape = call->args[0].as<relax::ShapeExprNode>();
  if (shape == nullptr || shape->values.size() != 1) Unsupported("a storage of unknown size", span_);
  const PrimExpr bytes = CastTo(DataType::Int(64), shape->values[0]);
  Value value;
  value.borrowed = true;
  if (cells_->IsKnownAtEntry(bytes)) {
    value.storage_offset = arena_;
    // Of a branch that is not taken, too: nothing else is to become shorter for it.
    const PrimExpr taken = MayBeNegative(bytes) ? Max(bytes, I64(0)) : bytes;
    arena_ = arena_ + CeilDiv(taken, I64(runtime::kAlignment)) * I64(runtime::kAlignment);
    return Set(var, std::move(value));
  }
  value.type = TensorType({bytes}, DataType::UInt(8));
  value.slot = NewSlot();
  value.object = NewObject();
  value.borrowed = false;
  const uint32_t index = TypeIndex(value.type, MatchMode::kCheck);
  Emit(Opcode::kAlloc, {value.slot, value.object, index, 0});
  Set(var, std::move(value));
}

void FunctionCompiler::CompileTensorInStorage(const relax::Var& var, const relax::CallNode* call) {
  const TensorType type = relax::AllocatedType(GetRef<relax::Call>(call));
  const Value storage = Find(call->args[0]);
  const auto* at = call->args[1].as<relax::PrimValueNode>();
  if (!type->has_shape() || at == nullptr) Unsupported("an allocation of unknown shape or offset", span_);
  RequireExtents(type);
  const PrimExpr offset = CastTo(DataType::Int(64), at->value);
  Value value;
  value.type = type;
  value.borrowed = true;
  if (storage.storage_offset.defined()) {
    if (!cells_->IsKnownAtEntry(offset)) Unsupported("an offset that is not known at entry", span_);
    value.slot = NewSlot();
    arena_slots_.emplace_back(value.slot, storage.storage_offset + offset);
  } else {
    if (!IsZero(offset)) Unsupported("a tensor inside of a storage of late size", span_);
    value.slot = storage.slot;
  }
  Set(var, std::move(value));
}

void FunctionCompiler::CompileShapeOf(const relax::Var& var, const Expr& tensor) {
  const Type type = TypeOf(tensor);
  const auto* known = type.as<TensorTypeNode>();
  if (known == nullptr || !known->has_shape()) return CompilePacked(var, "deuteron.vm.shape_of", {tensor});
  Value value;
  value.object = ObjectOf(relax::ShapeExpr(known->shape.value()));
  value.type = var->ty;
  Set(var, std::move(value));
}

}  // namespace deuteron::codegen
