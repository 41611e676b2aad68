#include "deuteron/driver/verify.h"

#include <cmath>
#include <sstream>

#include "deuteron/driver/pipeline.h"
#include "deuteron/driver/random_tensor.h"
#include "deuteron/ir/expr_functor.h"
#include "deuteron/interpreter/interpreter.h"
#include "deuteron/interpreter/scalar.h"
#include "deuteron/relax/analysis/well_formed.h"
#include "deuteron/relax/expr.h"

namespace deuteron {
namespace {

std::vector<interpreter::Value> RandomInputs(const IRModule& module, const VerifyOptions& options) {
  std::mt19937_64 random(options.seed);
  std::vector<interpreter::Value> inputs;
  for (const relax::Var& param : Downcast<relax::Function>(module.Lookup("main"))->params) {
    const auto* type = param->ty.as<TensorTypeNode>();
    if (type == nullptr || !type->has_shape()) {
      DEUTERON_THROW(UnsupportedError) << "parameter " << param->name_hint << " has no known shape to make an input of";
    }
    std::vector<int64_t> shape;
    for (const PrimExpr& dim : type->shape.value()) {
      ExprVarMap symbols;
      for (const tir::Var& var : FreeVars(dim)) symbols[var] = MakeConst(var.dtype(), options.symbolic_extent);
      shape.push_back(AsConstInt(Substitute(dim, symbols)).value_or(options.symbolic_extent));
    }
    inputs.emplace_back(RandomTensor(shape, type->dtype, &random));
  }
  return inputs;
}

/// The tensors of a result, tuples flattened.
void Flatten(const interpreter::Value& value, std::vector<Tensor>* tensors) {
  if (const auto fields = value.as<Array<Any>>()) {
    for (const Any& field : *fields) Flatten(field, tensors);
  } else {
    tensors->push_back(value.cast<Tensor>());
  }
}

std::vector<Tensor> Interpret(const IRModule& module, const std::vector<interpreter::Value>& inputs) {
  std::vector<Tensor> tensors;
  Flatten(interpreter::Run(module, "main", inputs), &tensors);
  return tensors;
}

std::string ShapeText(const Tensor& tensor) {
  std::ostringstream text;
  text << DataType(tensor.dtype()) << "[";
  for (int i = 0; i < tensor.ndim(); ++i) text << (i == 0 ? "" : ", ") << tensor.shape()[i];
  text << "]";
  return text.str();
}

/// Compares one output; fills error and problem.
void Compare(const Tensor& expected, const Tensor& actual, size_t index, double tolerance, VerifiedStage* stage) {
  std::ostringstream problem;
  if (ShapeText(expected) != ShapeText(actual)) {
    problem << "output " << index << " is " << ShapeText(actual) << " instead of " << ShapeText(expected);
    stage->problem = problem.str();
    return;
  }
  const DataType dtype(expected.dtype());
  const auto load = [&](const Tensor& tensor, int64_t i) {
    const interpreter::Scalar scalar = interpreter::LoadScalar(tensor.data_ptr(), dtype, i);
    return dtype.is_float() ? scalar.f : static_cast<double>(scalar.i);
  };
  double greatest = 0;
  double difference = 0;
  for (int64_t i = 0; i < expected.numel(); ++i) {
    const double a = load(expected, i);
    const double b = load(actual, i);
    const bool both_nan = std::isnan(a) && std::isnan(b);
    if (both_nan || a == b) {
      if (std::isfinite(a)) greatest = std::max(greatest, std::fabs(a));
      continue;
    }
    if (!std::isfinite(a) || !std::isfinite(b)) {
      problem << "element " << i << " of output " << index << " is " << b << " instead of " << a;
      stage->problem = problem.str();
      return;
    }
    greatest = std::max(greatest, std::fabs(a));
    difference = std::max(difference, std::fabs(a - b));
  }
  const double error = difference == 0 ? 0 : difference / greatest;
  stage->error = std::max(stage->error, error);
  const bool exact = !dtype.is_float();
  if (exact ? difference != 0 : !(error <= tolerance)) {
    problem << "output " << index << " differs by " << error << " of its greatest value (allowed: " << (exact ? 0 : tolerance)
            << ")";
    stage->problem = problem.str();
  }
}

void CompareAll(const std::vector<Tensor>& expected, const std::vector<Tensor>& actual, double tolerance,
                VerifiedStage* stage) {
  if (expected.size() != actual.size()) {
    stage->problem = "there are " + std::to_string(actual.size()) + " outputs instead of " + std::to_string(expected.size());
    return;
  }
  for (size_t i = 0; i < expected.size() && stage->problem.empty(); ++i) {
    Compare(expected[i], actual[i], i, tolerance, stage);
  }
}

}  // namespace

std::vector<VerifiedStage> Verify(IRModule module, const VerifyOptions& options) {
  const std::vector<interpreter::Value> inputs = RandomInputs(module, options);
  const std::vector<Tensor> expected = Interpret(module, inputs);
  const IRModule imported = module;
  Target target = Target::Parse(options.compile.target);
  if (options.compile.threads > 0) target.threads = options.compile.threads;
  const TargetScope target_scope(target);
  const transform::PassContext::Scope scope(MakeContext(options.compile));

  std::vector<transform::Pass> passes = GraphPasses(options.compile.fuse && options.compile.opt_level > 0);
  passes.push_back(SchedulePass(target));
  for (const transform::Pass& pass : MemoryPasses()) passes.push_back(pass);
  std::vector<VerifiedStage> stages;
  const auto run_stage = [&](const std::string& name, const std::function<std::vector<Tensor>()>& compute) {
    VerifiedStage stage{.name = name};
    try {
      CompareAll(expected, compute(), options.tolerance, &stage);
    } catch (const ffi::Error& error) {
      stage.problem = error.kind() + ": " + error.message();
    }
    stages.push_back(stage);
    return stage.problem.empty();
  };
  for (const transform::Pass& pass : passes) {
    const bool good = run_stage(pass->info.name, [&] {
      module = pass(std::move(module));
      relax::CheckWellFormed(module);
      return Interpret(module, inputs);
    });
    if (!good) return stages;
  }
  run_stage("compiled code", [&] {
    std::vector<Tensor> tensors;
    for (const interpreter::Value& input : inputs) Flatten(input, &tensors);
    return Compile(imported, options.compile).Run(tensors);
  });
  return stages;
}

}  // namespace deuteron
