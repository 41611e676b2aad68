/// \file
/// Passes over one loop-level function at a time.
#pragma once

#include <concepts>
#include <functional>
#include <utility>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/tir/function.h"

namespace deuteron::tir {

using transform::Pass;
using transform::PassContext;
using transform::PassInfo;

/// A pass from a function over the PrimFuncs of a module; `module` is the module as it was before the pass. A null
/// result removes the function.
Pass PrimFuncPass(PassInfo info, std::function<PrimFunc(PrimFunc, const IRModule& module, const PassContext&)> body);

/// A class that is such a pass: `PrimFunc TransformFunction(PrimFunc, const IRModule&, const PassContext&) const`.
template <typename T>
concept TransformsPrimFunc = requires(const T& pass, PrimFunc func, const IRModule& module,
                                      const PassContext& context) {
  { pass.TransformFunction(std::move(func), module, context) } -> std::convertible_to<PrimFunc>;
};

/// A pass from a class; without a name in `info` it has the name of the class.
template <TransformsPrimFunc T>
Pass PrimFuncPass(PassInfo info, T pass) {
  if (info.name.empty()) info.name = transform::ClassName(typeid(T));
  return PrimFuncPass(std::move(info),
                      [pass = std::move(pass)](PrimFunc func, const IRModule& module, const PassContext& context) {
                        return PrimFunc(pass.TransformFunction(std::move(func), module, context));
                      });
}

}  // namespace deuteron::tir
