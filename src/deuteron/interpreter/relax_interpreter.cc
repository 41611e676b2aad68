/// \file
/// Runs graph-level functions binding by binding.
///
/// An operator call is run through its legalisation: the call is rebuilt with the concrete values' types, its
/// loop-level code is made by the operator's row of the table and run by the loop-level interpreter.
#include <cstring>
#include <optional>
#include <unordered_map>

#include "deuteron/interpreter/frame.h"
#include "deuteron/interpreter/tir_program.h"
#include "deuteron/relax/block_builder.h"
#include "deuteron/relax/op_info.h"
#include "deuteron/relax/transform/cleanup/passes.h"
#include "deuteron/relax/transform/library/library_codegen.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/runtime/loop.h"
#include "deuteron/runtime/plugin.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/tir/analysis/kernel_signature.h"

namespace deuteron::interpreter {
namespace {

using namespace relax;  // NOLINT(build/namespaces): the nodes of this level

std::string Where(const Span& span) {
  return span.defined() ? " at \"" + std::string(span->source) + "\"" : std::string();
}

/// A local function as a value, with the variables around it.
class LocalFunctionObj : public Object {
 public:
  LocalFunctionObj(Function function, Var name, Frame around)
      : function(std::move(function)), name(std::move(name)), around(std::move(around)) {}
  Function function;
  /// The variable that it is bound to: it may call itself.
  Var name;
  Frame around;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("deuteron.interpreter.LocalFunction", LocalFunctionObj, Object);
};

class RelaxInterpreter {
 public:
  RelaxInterpreter(const IRModule& module, const Options& options) : module_(module), options_(options) {}

  Value Call(const Function& function, const std::vector<Value>& inputs, const std::string& name) {
    if (inputs.size() != function->params.size()) {
      DEUTERON_THROW(UsageError) << name << " takes " << function->params.size() << " arguments, given "
                                 << inputs.size();
    }
    if (++depth_ > 200) DEUTERON_THROW(UnsupportedError) << "calls nest deeper than 200 in " << name;
    Frame frame;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Var& param = function->params[i];
      frame.Match(param->ty, inputs[i], "parameter " + std::string(param->name_hint) + " of " + name);
      frame.values[param.get()] = inputs[i];
    }
    Value result = EvalSeq(function->body, &frame);
    --depth_;
    return result;
  }

 private:
  Value EvalSeq(const SeqExpr& seq, Frame* frame) {
    for (const BindingBlock& block : seq->blocks) {
      for (const Binding& binding : block->bindings) {
        if (const auto* match = binding.as<MatchCastNode>()) {
          Value value = Eval(match->value, frame);
          frame->Match(match->ty, value, DescribeMatched(GetRef<MatchCast>(match)));
          frame->values[match->var.get()] = std::move(value);
        } else {
          const auto* bound = binding.as<VarBindingNode>();
          if (const auto* function = bound->value.as<FunctionNode>()) {
            const auto local = MakeNode<LocalFunctionObj>(GetRef<Function>(function), bound->var, *frame);
            frame->values[bound->var.get()] = ObjectRef(local);
            continue;
          }
          Value value = Eval(bound->value, frame);
          // Symbols that only the result defines (data-dependent shapes).
          frame->Match(bound->var->ty, value, std::string(bound->var->name_hint) + Where(bound->span));
          frame->values[bound->var.get()] = std::move(value);
        }
      }
    }
    return Eval(seq->body, frame);
  }

  Value Eval(const Expr& expr, Frame* frame) {
    switch (expr->kind) {
      case RelaxKind::kVar:
      case RelaxKind::kDataflowVar: {
        auto it = frame->values.find(expr.get());
        DEUTERON_CHECK(it != frame->values.end())
            << "variable " << expr.as<VarNode>()->name_hint << " is used before it is bound";
        return it->second;
      }
      case RelaxKind::kConstant:
        return expr.as<ConstantNode>()->data;
      case RelaxKind::kTuple: {
        Array<Any> fields;
        for (const Expr& field : expr.as<TupleNode>()->fields) fields.push_back(Eval(field, frame));
        return fields;
      }
      case RelaxKind::kTupleGetItem: {
        const auto* get = expr.as<TupleGetItemNode>();
        return Eval(get->tuple, frame).cast<Array<Any>>()[get->index];
      }
      case RelaxKind::kCall:
        return EvalCall(expr.as<CallNode>(), frame);
      case RelaxKind::kShapeExpr:
        return ffi::Shape(frame->EvalInts(expr.as<ShapeExprNode>()->values));
      case RelaxKind::kPrimValue: {
        const PrimExpr value = expr.as<PrimValueNode>()->value;
        if (const auto* imm = value.as<tir::FloatImmNode>()) return imm->value;
        if (value.dtype().is_bool()) return frame->EvalInt(value) != 0;
        return frame->EvalInt(value);
      }
      case RelaxKind::kStringImm:
        return expr.as<StringImmNode>()->value;
      case RelaxKind::kDataTypeImm:
        return static_cast<DLDataType>(expr.as<DataTypeImmNode>()->value);
      case RelaxKind::kSeqExpr:
        return EvalSeq(GetRef<SeqExpr>(expr.as<SeqExprNode>()), frame);
      case RelaxKind::kIf: {
        const auto* branch = expr.as<IfNode>();
        return EvalSeq(Truth(Eval(branch->cond, frame)) ? branch->true_branch : branch->false_branch, frame);
      }
      case RelaxKind::kFunction:
      case RelaxKind::kExternFunc:
      case RelaxKind::kGlobalVar:
      case RelaxKind::kPrimFunc:
      case RelaxKind::kOp:
        return ObjectRef(expr);
    }
    DEUTERON_UNREACHABLE();
  }

  static bool Truth(const Value& value) {
    if (const auto tensor = value.as<Tensor>()) {
      const Scalar scalar = LoadScalar((*tensor).data_ptr(), DataType((*tensor).dtype()), 0);
      return scalar.i != 0 || scalar.f != 0;
    }
    return value.cast<int64_t>() != 0;
  }

  /// A call of a function of scalars.
  Value EvalScalarCall(const tir::PrimFunc& func, const Array<Expr>& args, Frame* frame) {
    Array<PrimExpr> values;
    for (const Expr& arg : args) {
      const auto* literal = arg.as<PrimValueNode>();
      if (literal == nullptr) DEUTERON_THROW(UnsupportedError) << "a function of scalars is called with something else";
      values.push_back(literal->value);
    }
    return Eval(PrimValue(tir::ReturnedValue(func, values)), frame);
  }

  Value EvalCall(const CallNode* call, Frame* frame) {
    if (const auto* var = call->op.as<GlobalVarNode>()) {
      const BaseFunc callee = module_.Lookup(GetRef<GlobalVar>(var));
      if (const auto func = As<tir::PrimFunc>(callee); func.defined()) {
        if (tir::ReturnedValue(func).defined()) return EvalScalarCall(func, call->args, frame);
        CallPrimFunc(func, EvalArgs(call->args, frame), {});
        return Array<Any>();
      }
      return Call(Downcast<Function>(callee), EvalArgs(call->args, frame), std::string(var->name_hint));
    }
    if (const auto* external = call->op.as<ExternFuncNode>()) {
      return CallPacked(std::string(external->global_symbol), EvalArgs(call->args, frame));
    }
    if (call->op.as<VarNode>() != nullptr) return CallValue(Eval(call->op, frame), EvalArgs(call->args, frame));
    const auto* op = call->op.as<OpNode>();
    DEUTERON_CHECK(op != nullptr) << "call of a " << call->op.GetTypeKey();
    const std::string name(op->name);
    if (name == "relax.call_tir") return CallTir(call, frame);
    if (name == "relax.call_tir_inplace") return CallTirInplace(call, frame);
    if (name == "relax.call_dps_packed") return CallDpsPacked(call, frame);
    if (name == "relax.call_pure_packed") {
      std::vector<Value> args = EvalArgs(call->args, frame);
      args.erase(args.begin());
      return CallPacked(std::string(Downcast<ExternFunc>(call->args[0])->global_symbol), args);
    }
    if (name == "relax.call_inplace_packed") return CallInplacePacked(call, frame);
    if (name == "relax.null_value") return nullptr;
    if (name == "relax.make_closure") return Array<Any>{ObjectRef(call->args[0]), Eval(call->args[1], frame)};
    if (name == "relax.invoke_closure" || name == "relax.invoke_pure_closure") return InvokeClosure(call, frame);
    if (name == "relax.loop") return EvalLoop(call, frame);
    if (name == "relax.shape_of") {
      const auto tensor = Eval(call->args[0], frame).cast<Tensor>();
      return ffi::Shape(std::vector<int64_t>(tensor.shape().begin(), tensor.shape().end()));
    }
    if (name == "relax.builtin.alloc_tensor" || name == "relax.memory.alloc_tensor") {
      return AllocTensor(call, name, frame);
    }
    if (name == "relax.memory.alloc_storage" || name == "relax.memory.kill_storage" ||
        name == "relax.memory.kill_tensor" || name == "relax.vm.kill_object") {
      return Array<Any>();
    }
    return CallOperator(call, frame);
  }

  /// R.loop(body, trips, states, condition?)
  Value EvalLoop(const CallNode* call, Frame* frame) {
    const Value body = Eval(call->args[0], frame);
    const auto states = Eval(call->args[2], frame).cast<Array<Any>>();
    runtime::LoopSpec loop;
    loop.trips = Eval(call->args[1], frame).cast<int64_t>();
    loop.is_conditional = call->args.size() > 3;
    loop.num_states = states.size();
    const auto& results = call->ty_args[0].as<TupleTypeNode>()->fields;
    for (size_t i = loop.num_states; i < results.size(); ++i) {
      const auto* output = results[i].as<TensorTypeNode>();
      DEUTERON_CHECK(output != nullptr) << "an output of a loop is no tensor";
      std::vector<int64_t> row(output->ndim > 1 ? output->ndim - 1 : 0, 0);
      if (output->has_shape()) {
        const auto dims = frame->EvalInts(output->shape.value());
        row.assign(dims.begin() + 1, dims.end());
      }
      loop.outputs.push_back({output->dtype, std::move(row)});
    }
    std::vector<Value> initial(states.begin(), states.end());
    if (loop.is_conditional) initial.insert(initial.begin(), Eval(call->args[3], frame));
    return runtime::RunLoop(
        loop, std::move(initial),
        [&](const std::vector<Value>& arguments, std::span<const Tensor>) { return CallValue(body, arguments); });
  }

  Value InvokeClosure(const CallNode* call, Frame* frame) {
    const auto args = Eval(call->args[1], frame).cast<Array<Any>>();
    return CallValue(Eval(call->args[0], frame), std::vector<Value>(args.begin(), args.end()));
  }

  /// Calls a value: a local function, a function of the module, or a closure, which is a pair of one and what it was
  /// made with.
  Value CallValue(const Value& callee, std::vector<Value> args) {
    if (const auto pair = callee.as<Array<Any>>()) {
      const auto captured = (*pair)[1].cast<Array<Any>>();
      args.insert(args.end(), captured.begin(), captured.end());
      return CallValue((*pair)[0], std::move(args));
    }
    const auto function = callee.as<ObjectRef>();
    if (function.has_value()) {
      if (const auto* local = (*function).as<LocalFunctionObj>()) {
        Frame around = local->around;
        around.values[local->name.get()] = callee;
        return CallLocal(local->function, args, std::move(around));
      }
      if (const auto* var = (*function).as<GlobalVarNode>()) {
        const auto name = GetRef<GlobalVar>(var);
        return Call(Downcast<Function>(module_.Lookup(name)), args, std::string(name->name_hint));
      }
    }
    DEUTERON_THROW(ModelError) << "a call of " << callee.GetTypeKey() << ", which is no function";
  }

  Value CallLocal(const Function& function, const std::vector<Value>& inputs, Frame frame) {
    if (++depth_ > 200) DEUTERON_THROW(UnsupportedError) << "calls nest deeper than 200";
    for (size_t i = 0; i < inputs.size(); ++i) {
      frame.Match(function->params[i]->ty, inputs[i], std::string(function->params[i]->name_hint));
      frame.values[function->params[i].get()] = inputs[i];
    }
    Value result = EvalSeq(function->body, &frame);
    --depth_;
    return result;
  }

  std::vector<Value> EvalArgs(const Array<Expr>& args, Frame* frame) {
    std::vector<Value> values;
    for (const Expr& arg : args) values.push_back(Eval(arg, frame));
    return values;
  }

  /// Tensors of the result type(s) of a destination-passing call.
  std::vector<Tensor> AllocOutputs(const Type& type, const Frame& frame) {
    if (const auto* tuple = type.as<TupleTypeNode>()) {
      std::vector<Tensor> outputs;
      for (const Type& field : tuple->fields) {
        for (Tensor& output : AllocOutputs(field, frame)) outputs.push_back(std::move(output));
      }
      return outputs;
    }
    const auto* tensor = type.as<TensorTypeNode>();
    DEUTERON_CHECK(tensor != nullptr && tensor->has_shape()) << "output of a destination-passing call has no shape";
    return {AllocPoisoned(frame.EvalInts(tensor->shape.value()), tensor->dtype)};
  }
  /// Elements that nobody writes are NaN, or -1: that shows, and is the same in every run.
  static Tensor AllocPoisoned(const std::vector<int64_t>& shape, DataType dtype) {
    Tensor tensor = runtime::AllocTensor(shape, dtype);
    std::memset(tensor.data_ptr(), 0xFF, static_cast<size_t>(runtime::TensorBytes(shape, dtype)));
    return tensor;
  }

  static Value Pack(const Type& type, const std::vector<Tensor>& outputs) {
    if (type->kind != TypeKind::kTuple) return outputs[0];
    Array<Any> fields;
    for (const Tensor& output : outputs) fields.push_back(output);
    return fields;
  }

  static void Flatten(const Value& value, std::vector<Tensor>* tensors, std::vector<int64_t>* scalars) {
    if (const auto tensor = value.as<Tensor>()) {
      tensors->push_back(*tensor);
    } else if (const auto shape = value.as<ffi::Shape>()) {
      scalars->insert(scalars->end(), (*shape).begin(), (*shape).end());
    } else if (const auto fields = value.as<Array<Any>>()) {
      for (const Any& field : *fields) Flatten(field, tensors, scalars);
    } else {
      scalars->push_back(value.cast<int64_t>());
    }
  }

  void CallPrimFunc(const tir::PrimFunc& func, const std::vector<Value>& args, const std::vector<Tensor>& outputs) {
    std::vector<Tensor> tensors;
    std::vector<int64_t> scalars;
    for (const Value& arg : args) Flatten(arg, &tensors, &scalars);
    tensors.insert(tensors.end(), outputs.begin(), outputs.end());
    auto& program = programs_[func.get()];
    if (program == nullptr) program = Prepare(func);
    Execute(*program, tensors, scalars, options_);
  }

  tir::PrimFunc Callee(const CallNode* call) {
    return Downcast<tir::PrimFunc>(module_.Lookup(Downcast<GlobalVar>(call->args[0])));
  }

  /// call_tir(callee, (args...), [tir_vars], ty_args=[result])
  Value CallTir(const CallNode* call, Frame* frame) {
    const std::vector<Tensor> outputs = AllocOutputs(call->ty_args[0], *frame);
    std::vector<Value> args = EvalArgs(call->args, frame);
    args.erase(args.begin());
    CallPrimFunc(Callee(call), args, outputs);
    return Pack(call->ty_args[0], outputs);
  }

  /// Output i is argument inplace_indices[i], or new where that is -1. The argument is copied: a value is never
  /// seen to change.
  Value CallTirInplace(const CallNode* call, Frame* frame) {
    std::vector<Value> args = EvalArgs(call->args, frame);
    args.erase(args.begin());
    std::vector<Tensor> tensors;
    std::vector<int64_t> scalars;
    Flatten(args[0], &tensors, &scalars);
    for (size_t i = 1; i < args.size(); ++i) Flatten(args[i], &tensors, &scalars);
    const Array<int64_t> indices = InplaceIndices(call);
    const std::vector<Tensor> fresh = AllocOutputs(call->ty_args[0], *frame);
    std::vector<Tensor> results;
    std::vector<Value> all;
    for (size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] >= 0) {
        std::memcpy(fresh[i].data_ptr(), tensors[indices[i]].data_ptr(), ffi::GetDataSize(fresh[i]));
        tensors[indices[i]] = fresh[i];
      }
      results.push_back(fresh[i]);
    }
    std::vector<Tensor> trailing;
    for (size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] < 0) trailing.push_back(fresh[i]);
    }
    for (const Tensor& tensor : tensors) all.emplace_back(tensor);
    for (int64_t scalar : scalars) all.emplace_back(scalar);
    CallPrimFunc(Callee(call), all, trailing);
    return Pack(call->ty_args[0], results);
  }

  /// What the function overwrites is copied: a value is never seen to change.
  Value CallInplacePacked(const CallNode* call, Frame* frame) {
    std::vector<Value> args = EvalArgs(call->args, frame);
    args.erase(args.begin());
    for (const int64_t index : InplaceIndices(call)) {
      if (index < 0) continue;
      Value& overwritten = args.at(static_cast<size_t>(index));
      overwritten = runtime::CopyCompact(*overwritten.cast<Tensor>().GetDLTensorPtr());
    }
    return CallPacked(std::string(Downcast<ExternFunc>(call->args[0])->global_symbol), args);
  }

  static Array<int64_t> InplaceIndices(const CallNode* call) {
    Array<int64_t> indices;
    ffi::reflection::ForEachFieldInfo(TVMFFIGetTypeInfo(call->attrs->type_index()), [&](const TVMFFIFieldInfo* field) {
      if (std::string_view(field->name.data, field->name.size) == "inplace_indices") {
        indices = ffi::reflection::FieldGetter(field)(call->attrs).cast<Array<int64_t>>();
      }
    });
    return indices;
  }

  /// A function that a library's generator has made (RunCodegen).
  std::optional<ffi::Function> FindExternal(const std::string& name) {
    if (!externals_) {
      externals_.emplace();
      const auto constants = relax::ExternalConstants(module_);
      for (const relax::ExternalFunction& external : relax::ExternalFunctions(module_)) {
        std::vector<Tensor> tensors = external.packed.value_or(std::vector<Tensor>());
        for (size_t i = tensors.size(); i < external.constants.size(); ++i) {
          tensors.push_back(constants.at(external.constants[i]));
        }
        const runtime::ExternalSpec spec{external.symbol, external.plugin, external.code, external.constants, {}};
        externals_->emplace(external.symbol, runtime::LoadExternal(spec, tensors));
      }
    }
    const auto it = externals_->find(name);
    if (it == externals_->end()) return std::nullopt;
    return it->second;
  }

  Value CallPacked(const std::string& name, const std::vector<Value>& args) {
    std::optional<ffi::Function> function = FindExternal(name);
    if (!function) function = ffi::Function::GetGlobal(name);
    if (!function) {
      DEUTERON_THROW(UsageError) << "the function \"" << name << "\" is called but not registered in this process";
    }
    std::vector<AnyView> views(args.begin(), args.end());
    Any result;
    (*function).CallPacked(views.data(), static_cast<int32_t>(views.size()), &result);
    // What writes its results into arguments returns nothing: the empty tuple.
    if (result == nullptr) return Array<Any>();
    return result;
  }

  Value CallDpsPacked(const CallNode* call, Frame* frame) {
    const std::vector<Tensor> outputs = AllocOutputs(call->ty_args[0], *frame);
    std::vector<Value> args;
    const Value packed = Eval(call->args[1], frame);
    if (const auto fields = packed.as<Array<Any>>()) {
      for (const Any& field : *fields) args.push_back(field);
    } else {
      args.push_back(packed);
    }
    for (const Tensor& output : outputs) args.emplace_back(output);
    if (const auto* var = call->args[0].as<GlobalVarNode>()) {
      Call(Downcast<Function>(module_.Lookup(GetRef<GlobalVar>(var))), args, std::string(var->name_hint));
    } else {
      CallPacked(std::string(Downcast<ExternFunc>(call->args[0])->global_symbol), args);
    }
    return Pack(call->ty_args[0], outputs);
  }

  Value AllocTensor(const CallNode* call, const std::string& name, Frame* frame) {
    // builtin.alloc_tensor(shape, dtype, …); memory.alloc_tensor(storage, offset, shape, dtype, …)
    const size_t first = name == "relax.builtin.alloc_tensor" ? 0 : 2;
    const auto shape = Eval(call->args[first], frame).cast<ffi::Shape>();
    const DataType dtype = Downcast<DataTypeImm>(call->args[first + 1])->value;
    return AllocPoisoned(std::vector<int64_t>(shape.begin(), shape.end()), dtype);
  }

  /// An expression of the concrete type of `value`; tensors become parameters.
  static Expr Reify(const Value& value, Array<Var>* params, std::vector<Value>* inputs) {
    if (value == nullptr) return Tuple(Array<Expr>());  // says as little as R.null_value()
    if (const auto tensor = value.as<Tensor>()) {
      Array<PrimExpr> shape;
      for (int64_t dim : (*tensor).shape()) shape.push_back(I64(dim));
      Var param("p" + std::to_string(params->size()), TensorType(shape, DataType((*tensor).dtype())));
      params->push_back(param);
      inputs->push_back(value);
      return param;
    }
    if (const auto shape = value.as<ffi::Shape>()) {
      Array<PrimExpr> dims;
      for (int64_t dim : *shape) dims.push_back(I64(dim));
      return ShapeExpr(dims);
    }
    if (const auto fields = value.as<Array<Any>>()) {
      Array<Expr> exprs;
      for (const Any& field : *fields) exprs.push_back(Reify(field, params, inputs));
      return Tuple(exprs);
    }
    if (const auto text = value.as<String>()) return relax::StringImm(*text);
    if (value.type_index() == ffi::TypeIndex::kTVMFFIFloat) {
      return PrimValue(MakeConst(DataType::Float(32), value.cast<double>()));
    }
    if (value.type_index() == ffi::TypeIndex::kTVMFFIBool) return PrimValue(value.cast<bool>() ? True() : False());
    if (value.type_index() == ffi::TypeIndex::kTVMFFIInt) return PrimValue::Int64(value.cast<int64_t>());
    if (value.type_index() == ffi::TypeIndex::kTVMFFIDataType) {
      return DataTypeImm(DataType(value.cast<DLDataType>()));
    }
    return Downcast<Expr>(value.cast<ObjectRef>());
  }

  Value CallOperator(const CallNode* call, Frame* frame) {
    const Op op = Downcast<Op>(call->op);
    const OpInfo* info = FindOpInfo(op);
    if (info == nullptr || info->legalize == nullptr) {
      DEUTERON_THROW(UnsupportedError) << "the interpreter cannot run " << op->name << Where(call->span);
    }
    Array<Var> params;
    std::vector<Value> inputs;
    Array<Expr> args;
    for (size_t i = 0; i < call->args.size(); ++i) {
      // Scalar constants and literals stay: legalisation may look at their values.
      const Expr& arg = call->args[i];
      const bool keep = arg->kind == RelaxKind::kConstant && arg.as<ConstantNode>()->is_scalar();
      args.push_back(keep ? arg : Reify(Eval(arg, frame), &params, &inputs));
    }
    Array<Type> ty_args = call->ty_args.Map([&](const Type& type) { return frame->Concrete(type); });
    BlockBuilder builder;
    const GlobalVar entry = builder.BuildFunction("main", params, [&] {
      const Expr normal = builder.Normalize(relax::Call(op, args, call->attrs, ty_args, call->span));
      const Expr legal = info->legalize(builder, Downcast<relax::Call>(normal));
      if (legal.same_as(normal)) {
        DEUTERON_THROW(UnsupportedError) << "the interpreter cannot run " << op->name << Where(call->span);
      }
      builder.EmitFuncOutput(builder.Emit(legal));
    });
    const IRModule module = builder.Finalize();
    return RelaxInterpreter(module, options_)
        .Call(Downcast<Function>(module.Lookup(entry)), inputs, std::string(op->name));
  }

  const IRModule module_;
  const Options options_;
  int depth_ = 0;
  std::unordered_map<const Object*, std::shared_ptr<const TirProgram>> programs_;
  /// By symbol; filled at the first call of an external function.
  std::optional<std::unordered_map<std::string, ffi::Function>> externals_;
};

}  // namespace

Value Run(const IRModule& module, std::string_view name, const std::vector<Value>& inputs, const Options& options) {
  const auto function = As<Function>(module.Lookup(name));
  if (!function.defined()) DEUTERON_THROW(UsageError) << std::string(name) << " is not a graph-level function";
  return RelaxInterpreter(module, options).Call(function, inputs, std::string(name));
}

}  // namespace deuteron::interpreter
