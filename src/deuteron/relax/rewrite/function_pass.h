/// \file
/// Passes over one graph-level function, or one dataflow block, at a time.
#pragma once

#include <concepts>
#include <functional>
#include <utility>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/expr.h"
#include "deuteron/relax/rewrite/pass_utils.h"

namespace deuteron::relax {

using transform::Pass;
using transform::PassContext;
using transform::PassInfo;

/// A pass from a function over graph-level functions. It runs on each that is not Primitive, Composite or Codegen;
/// `module` is the module as it was before the pass.
Pass FunctionPass(PassInfo info, std::function<Function(Function, const IRModule& module, const PassContext&)> body);

/// A pass from a function over dataflow blocks, those in the branches of an `if` too. The result must bind the
/// variables that are visible outside of the block (those that are no DataflowVars), the same ones; an InternalError
/// otherwise.
Pass DataflowBlockPass(PassInfo info,
                       std::function<DataflowBlock(DataflowBlock, const IRModule& module, const PassContext&)> body);

/// Shows `mutator` every graph-level function of `module` that is not Primitive, Composite or Codegen, by `Run(name,
/// function)`; the module that it then makes by `Finish()`.
template <typename Mutator>
IRModule MutateFunctions(const IRModule& module, Mutator mutator) {
  for (const auto& [name, func] : module->functions) {
    if (const auto function = As<Function>(func); function.defined() && !IsSealed(function))
      mutator.Run(name, function);
  }
  return mutator.Finish();
}

/// A class that is a function pass: `Function TransformFunction(Function, const IRModule&, const PassContext&) const`.
template <typename T>
concept TransformsFunction = requires(const T& pass, Function func, const IRModule& module,
                                      const PassContext& context) {
  { pass.TransformFunction(std::move(func), module, context) } -> std::convertible_to<Function>;
};
/// One that is a dataflow-block pass: `DataflowBlock TransformDataflowBlock(DataflowBlock, const IRModule&, …) const`.
template <typename T>
concept TransformsDataflowBlock = requires(const T& pass, DataflowBlock block, const IRModule& module,
                                           const PassContext& context) {
  { pass.TransformDataflowBlock(std::move(block), module, context) } -> std::convertible_to<DataflowBlock>;
};

/// A pass from a class; without a name in `info` it has the name of the class.
template <TransformsFunction T>
Pass FunctionPass(PassInfo info, T pass) {
  if (info.name.empty()) info.name = transform::ClassName(typeid(T));
  return FunctionPass(std::move(info),
                      [pass = std::move(pass)](Function func, const IRModule& module, const PassContext& context) {
                        return Function(pass.TransformFunction(std::move(func), module, context));
                      });
}
template <TransformsDataflowBlock T>
Pass DataflowBlockPass(PassInfo info, T pass) {
  if (info.name.empty()) info.name = transform::ClassName(typeid(T));
  return DataflowBlockPass(std::move(info), [pass = std::move(pass)](DataflowBlock block, const IRModule& module,
                                                                     const PassContext& context) {
    return DataflowBlock(pass.TransformDataflowBlock(std::move(block), module, context));
  });
}

}  // namespace deuteron::relax
