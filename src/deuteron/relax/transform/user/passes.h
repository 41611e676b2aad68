/// \file
/// The passes that no pipeline runs: for users' own (README.md).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/expr.h"
#include "deuteron/runtime/tensor.h"

namespace deuteron::relax {

using transform::Pass;

/// Brings functions that were built by hand into A-normal form and infers missing types.
Pass Normalize();
/// Computes what is written twice once: later bindings become names of the first. `call_only`: only calls.
Pass EliminateCommonSubexpr(bool call_only = false);
/// Replaces parameters of a function, by name, by constants.
Pass BindParams(std::string func_name, std::map<std::string, Tensor> params);
/// Replaces symbolic variables, by name, by numbers: in one function, or in all.
Pass BindSymbolicVars(std::map<std::string, int64_t> binding_map, std::string func_name = "");

/// Moves what functions with the attribute num_input compute from weights alone to `<name>_transform_params`. With
/// `shared_transform`, to one `transform_params` for all of them, or for those in `functions`.
Pass LiftTransformParams(bool shared_transform = false, std::vector<std::string> functions = {});
/// Removes fields of private functions' results that nothing uses, then what is trivial or dead.
Pass RemoveUnusedOutputs();

/// Whether products of `lhs` with all of `rhs` (followed by additions of `bias`, none or one each) may be combined.
/// `value_of` gives the value bound to a variable near them, or null.
using CombineMatmulCheck = std::function<bool(const Expr& lhs, const Array<Expr>& rhs, const Array<Expr>& bias,
                                              const std::function<Expr(const Var&)>& value_of)>;
/// Combines products of the same left operand into one, with their biases and activations; `check` may refuse.
Pass CombineParallelMatmul(CombineMatmulCheck check = nullptr);

/// Computes exp, tanh, erf and softmax of float32 and shorter floats by approximations (topi/fast_math.h).
Pass FastMathTransform();

/// Computes scalar expressions of symbolic variables in functions of their own, which are called instead.
Pass ComputePrimValue();
/// The text of a type, for messages of the run time.
using TypePrinter = std::function<std::string(const Type&)>;
/// Replaces shapes by cells of a heap, and calls of the run time that match, fill and read them. Ours does that by
/// itself.
Pass VMShapeLower(TypePrinter print);
/// Turns what is left of builtin.alloc_tensor into a storage and a tensor in it.
Pass LowerAllocTensor();

}  // namespace deuteron::relax
