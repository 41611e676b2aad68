#include "deuteron/driver/equivalence.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <unordered_map>

#include "deuteron/codegen/machine_code.h"
#include "deuteron/codegen/vm/artifact.h"
#include "deuteron/codegen/vm/compile.h"
#include "deuteron/driver/demanded_extents.h"
#include "deuteron/driver/kernel_passes.h"
#include "deuteron/driver/main_slice.h"
#include "deuteron/interpreter/interpreter.h"
#include "deuteron/interpreter/scalar.h"
#include "deuteron/ir/expr_functor.h"
#include "deuteron/ir/transform/precision.h"
#include "deuteron/relax/analysis/kernel_cost.h"
#include "deuteron/relax/expr.h"
#include "deuteron/relax/functor.h"
#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/runtime/instance.h"
#include "deuteron/runtime/random_tensor.h"
#include "deuteron/support/element.h"

namespace deuteron {
namespace {

class ArgumentMaker {
 public:
  ArgumentMaker(const IRModule& module, uint64_t seed, int64_t symbolic_extent)
      : random_(seed), symbolic_extent_(symbolic_extent), demanded_(DemandedExtents(module)) {}

  Any Make(const Type& type, const std::string& name) {
    if (const auto* tuple = type.as<TupleTypeNode>()) {
      Array<Any> fields;
      for (const Type& field : tuple->fields) fields.push_back(Make(field, name));
      return fields;
    }
    if (const auto* shape = type.as<ShapeTypeNode>(); shape && shape->values.has_value()) {
      return ffi::Shape(Extents(*shape->values));
    }
    const auto* tensor = type.as<TensorTypeNode>();
    if (tensor == nullptr || !tensor->has_shape()) {
      DEUTERON_THROW(UnsupportedError) << "parameter " << name << " has no known shape to make an input of";
    }
    return RandomTensor(Extents(*tensor->shape), tensor->dtype, &random_);
  }

 private:
  std::vector<int64_t> Extents(const Array<PrimExpr>& dims) const {
    std::vector<int64_t> extents;
    for (const PrimExpr& dim : dims) {
      ExprVarMap symbols;
      for (const tir::Var& var : FreeVars(dim)) {
        const auto it = demanded_.find(var.get());
        symbols[var] = MakeConst(var.dtype(), it == demanded_.end() ? symbolic_extent_ : it->second);
      }
      extents.push_back(AsConstInt(Substitute(dim, symbols)).value_or(symbolic_extent_));
    }
    return extents;
  }

  std::mt19937_64 random_;
  int64_t symbolic_extent_;
  const std::unordered_map<const Object*, int64_t> demanded_;
};

std::string ShapeText(const Tensor& tensor) {
  std::ostringstream text;
  text << DataType(tensor.dtype()) << "[";
  for (int i = 0; i < tensor.ndim(); ++i) text << (i == 0 ? "" : ", ") << tensor.shape()[i];
  text << "]";
  return text.str();
}

/// The less precise of two types; one that is no float says nothing.
DataType LessPrecise(DataType a, DataType b) {
  if (!b.is_float()) return a;
  if (!a.is_float()) return b;
  return ToleranceOf(a, 1) >= ToleranceOf(b, 1) ? a : b;
}

DataType LeastPreciseOf(const Type& type) {
  if (const auto* tensor = type.as<TensorTypeNode>()) return tensor->dtype;
  DataType least = DataType::Void();
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    for (const Type& field : tuple->fields) least = LessPrecise(least, LeastPreciseOf(field));
  }
  return least;
}

/// Compares one output, within `allowed`; keeps the greatest error in `difference`.
void CompareOutput(const Tensor& expected, const Tensor& actual, size_t index, double allowed, Difference* difference) {
  std::ostringstream problem;
  const auto fail = [&] {
    difference->output = index;
    difference->problem = problem.str();
  };
  if (ShapeText(expected) != ShapeText(actual)) {
    problem << "output " << index << " is " << ShapeText(actual) << " instead of " << ShapeText(expected);
    return fail();
  }
  const DataType dtype(expected.dtype());
  const auto load = [&](const Tensor& tensor, int64_t i) {
    const interpreter::Scalar scalar = interpreter::LoadScalar(tensor.data_ptr(), dtype, i);
    return dtype.is_float() ? scalar.f : static_cast<double>(scalar.i);
  };
  double greatest = 0;
  double most = 0;
  for (int64_t i = 0; i < expected.numel(); ++i) {
    const double a = load(expected, i);
    const double b = load(actual, i);
    if (std::isfinite(a)) greatest = std::max(greatest, std::fabs(a));
    if ((std::isnan(a) && std::isnan(b)) || a == b) continue;
    if (!std::isfinite(a) || !std::isfinite(b)) {
      problem << "element " << i << " of output " << index << " is " << b << " instead of " << a;
      return fail();
    }
    most = std::max(most, std::fabs(a - b));
  }
  const double error = most == 0 ? 0 : greatest == 0 ? INFINITY : most / greatest;
  if (error > difference->error) {
    difference->error = error;
    difference->output = index;
  }
  if (!(error <= allowed)) {
    problem << "output " << index << " differs by " << error << " of its greatest value (allowed: " << allowed << ")";
    fail();
  }
}

/// `module` without attribute `name` on its functions.
IRModule WithoutFunctionAttr(IRModule module, const char* name) {
  std::vector<std::pair<GlobalVar, relax::Function>> changed;
  for (const auto& [var, func] : module->functions) {
    const auto function = As<relax::Function>(func);
    if (function.defined() && function->attrs.defined() && function->attrs->dict.count(name) != 0)
      changed.emplace_back(var, WithoutAttr(function, name));
  }
  for (auto& [var, function] : changed) module.Update(var, std::move(function));
  return module;
}

/// Groups that are not merged yet, and what is meant for a library that has made no code of it yet, become functions
/// like any other, which call their operators one by one.
IRModule OpenGroups(IRModule module) {
  module = relax::LambdaLift()(WithoutFunctionAttr(std::move(module), "Codegen"));
  return WithoutFunctionAttr(WithoutFunctionAttr(std::move(module), "Composite"), "Primitive");
}

}  // namespace

Arguments RandomArguments(const IRModule& module, uint64_t seed, int64_t symbolic_extent) {
  ArgumentMaker maker(module, seed, symbolic_extent);
  Arguments arguments;
  for (const relax::Var& param : Downcast<relax::Function>(module.Lookup("main"))->params) {
    arguments.push_back(maker.Make(param->ty, std::string(param->name_hint)));
  }
  return arguments;
}

std::vector<Tensor> FlattenValue(const Any& value) {
  std::vector<Tensor> tensors;
  if (const auto fields = value.as<Array<Any>>()) {
    for (const Any& field : *fields) {
      for (Tensor& tensor : FlattenValue(field)) tensors.push_back(std::move(tensor));
    }
  } else if (const auto tensor = value.as<Tensor>()) {
    tensors.push_back(*tensor);
  }
  return tensors;
}

std::vector<Tensor> Interpret(const IRModule& module, const Arguments& arguments) {
  return FlattenValue(interpreter::Run(module, "main", arguments));
}

std::vector<Tensor> RunCompiled(IRModule module, const Arguments& arguments, const CompileOptions& options,
                                const std::function<IRModule(IRModule)>& after_lowering) {
  const Target target = Target::Parse(options.target, options.threads);
  const TargetScope target_scope(target);
  // Instruments of a walk over passes that is under way have not asked for these.
  const transform::PassContext::Scope scope(MakeContext(options));
  module = relax::LegalizeOps()(OpenGroups(std::move(module)));
  codegen::CompiledProgram compiled = codegen::CompileProgram(module);
  IRModule kernels = LowerKernels(target)(std::move(module));
  if (after_lowering) kernels = after_lowering(std::move(kernels));
  const auto code = std::make_shared<const codegen::CompiledKernels>(codegen::CompileInMemory(kernels, target));
  const auto executable = codegen::MakeExecutable(
      std::move(compiled), [&](const std::string& symbol) { return code->Lookup(symbol); }, code);
  runtime::Instance instance(executable, {.threads = options.threads});
  return FlattenValue(instance.Invoke("main", arguments));
}

namespace {

/// Operations (two a multiplication with addition) of all convolutions and matrix products; symbolic dimensions count
/// as `symbolic_extent`.
double HeavyWork(const IRModule& module, int64_t symbolic_extent) {
  double work = 0;
  for (const auto& [var, func] : module->functions) {
    const auto function = As<relax::Function>(func);
    if (!function.defined()) continue;
    relax::VisitValues(function->body, [&](const relax::Expr& value) {
      const auto* call = value.as<relax::CallNode>();
      if (call != nullptr) work += relax::OpsOfProduct(GetRef<relax::Call>(call), symbolic_extent);
    });
  }
  return work;
}

}  // namespace

Oracle::Oracle(const IRModule& imported, const CompileOptions& options, int64_t symbolic_extent,
               double most_interpreted)
    : options_(options), interprets_(HeavyWork(imported, symbolic_extent) <= most_interpreted) {
  if (const std::string why = Target::Parse(options.target, options.threads).WhyNotHere(); !why.empty()) {
    DEUTERON_THROW(UnsupportedError) << "results of code for a machine " << why << " cannot be computed here";
  }
  options_.precision = "f32";
}

std::vector<Tensor> Oracle::Run(const IRModule& module, const Arguments& arguments) const {
  return interprets_ ? Interpret(module, arguments) : RunCompiled(module, arguments, options_);
}

double ToleranceOf(DataType dtype, double tolerance) {
  if (!dtype.is_float()) return 0;
  if (dtype.bits() == 64) return tolerance * 1e-5;
  if (dtype.bits() == 32) return tolerance;
  // One step of the narrowest; half precision: 11 bits instead of 24; bfloat16: 8.
  if (dtype.bits() <= 8) return std::exp2(-FindFloatFormat(dtype)->mantissa_bits);
  return tolerance * (dtype.is_bfloat16() ? 1000 : 200);
}

namespace {

bool IsProduct(const relax::Expr& value) {
  static const Op matmul = Op::Get("relax.matmul"), dense = Op::Get("relax.nn.dense");
  const auto* call = value.as<relax::CallNode>();
  return call != nullptr &&
         (call->op.same_as(matmul) || call->op.same_as(dense) || call->attrs.as<relax::ConvAttrsNode>() != nullptr ||
          call->attrs.as<relax::ConvTransposeAttrsNode>() != nullptr);
}

}  // namespace

std::vector<DataType> LeastPrecisions(const IRModule& module, const std::string& products) {
  const DataType precision = transform::ParsePrecision(products);
  std::unordered_map<const Object*, DataType> least;
  std::unordered_map<const Object*, relax::Expr> tuples;
  const auto main = Downcast<relax::Function>(module.Lookup("main"));
  for (const relax::Var& param : main->params) least[param.get()] = DataType::Void();
  const auto of = [&](const relax::Expr& value) {
    DataType found = DataType::Void();
    relax::PostOrderVisit(value, [&](const relax::Expr& used) {
      if (used.as<relax::VarNode>() == nullptr) return;
      const auto it = least.find(used.get());
      found = LessPrecise(found, it != least.end() ? it->second : LeastPreciseOf(used.ty()));
    });
    return found;
  };
  for (const relax::Binding& binding : MainBindings(module)) {
    const relax::Expr& value = relax::BoundValue(binding);
    DataType& of_value = least[binding->var.get()];
    of_value = LessPrecise(of(value), LeastPreciseOf(binding->var->ty));
    if (LeastPreciseOf(binding->var->ty) == DataType::Float(32) && IsProduct(value))
      of_value = LessPrecise(of_value, precision);
    if (value.as<relax::TupleNode>() != nullptr) tuples.insert_or_assign(binding->var.get(), value);
  }
  relax::Expr result = main->body->body;
  if (const auto it = tuples.find(result.get()); it != tuples.end()) result = it->second;
  std::vector<DataType> precisions;
  if (const auto* tuple = result.as<relax::TupleNode>()) {
    for (const relax::Expr& field : tuple->fields) precisions.push_back(of(field));
  } else {
    precisions.push_back(of(result));
  }
  return precisions;
}

Difference CompareResults(const std::vector<Tensor>& expected, const std::vector<Tensor>& actual, double tolerance,
                          const std::vector<DataType>& through) {
  Difference difference;
  if (expected.size() != actual.size()) {
    difference.problem =
        "there are " + std::to_string(actual.size()) + " outputs instead of " + std::to_string(expected.size());
    return difference;
  }
  for (size_t i = 0; i < expected.size() && difference.problem.empty(); ++i) {
    double allowed = ToleranceOf(DataType(expected[i].dtype()), tolerance);
    // Tuples within tuples have more tensors than there are results.
    if (allowed > 0 && through.size() == expected.size())
      allowed = std::max(allowed, ToleranceOf(through[i], tolerance));
    CompareOutput(expected[i], actual[i], i, allowed, &difference);
  }
  return difference;
}

}  // namespace deuteron
