/// \file
/// The passes over graph-level functions. Each is described at the top of the file that implements it.
///
/// Rules common to all: a pass takes any module that the verifier accepts and returns one that computes the
/// same; functions with the attribute Primitive, Composite or Codegen are left alone unless the pass says
/// otherwise; the work is near-linear in the number of bindings.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/block_builder.h"
#include "deuteron/relax/expr.h"
#include "deuteron/relax/transform/constant_evaluator.h"
#include "deuteron/target/target.h"

namespace deuteron::relax {

using transform::Pass;

/// Removes trivial bindings (`y = x`, projections of known tuples, match_casts that check nothing).
Pass CanonicalizeBindings();
/// Gathers runs of at least `min_size` pure bindings into dataflow blocks.
Pass ConvertToDataflow(int64_t min_size = 2);
/// Has dimensions compared at run time that operators demand to be equal and types do not show to be.
Pass CheckExtents();
/// Brings functions that were built by hand into A-normal form and infers missing types.
Pass Normalize();
/// Opens every dataflow block: its variables become plain ones.
Pass ToNonDataflow();
/// Removes pure bindings whose values nothing uses, and functions that neither public ones nor `entry_functions`
/// reach.
Pass DeadCodeElimination(std::vector<std::string> entry_functions = {});

/// Computes what is written twice once: later bindings become names of the first. `call_only`: only calls.
Pass EliminateCommonSubexpr(bool call_only = false);

/// Replaces parameters of a function, by name, by constants.
Pass BindParams(std::string func_name, std::map<std::string, Tensor> params);
/// Replaces symbolic variables, by name, by numbers: in one function, or in all.
Pass BindSymbolicVars(std::map<std::string, int64_t> binding_map, std::string func_name = "");
/// Puts the bodies of private functions in place of their calls.
Pass InlinePrivateFunctions();
/// Makes local functions functions of the module.
Pass LambdaLift();
/// Moves what functions with the attribute num_input compute from weights alone to `<name>_transform_params`. With
/// `shared_transform`, to one `transform_params` for all of them, or for those in `functions`.
Pass LiftTransformParams(bool shared_transform = false, std::vector<std::string> functions = {});

/// Writes batch_norm, dropout and other composite operators out in simpler ones, as inference computes them.
/// `func_name`: only in that function.
Pass DecomposeOpsForInference(std::string func_name = "");
/// Folds an inference batch_norm into the constant weights of the convolution before it.
Pass FoldBatchnormToConv2D();
/// Evaluates what depends on constants only. `evaluator` computes kernels on tensors. Operators in `skip_ops`
/// ("relax.dequantize") stay.
Pass FoldConstant(ConstantEvaluator evaluator, std::vector<std::string> skip_ops = {});
/// Moves what rearranges or selects elements before their dequantisation, and drops a quantisation that undoes it.
Pass SinkDequantize();

/// Whether products of `lhs` with all of `rhs` (followed by additions of `bias`, none or one each) may be combined.
/// `value_of` gives the value bound to a variable near them, or null.
using CombineMatmulCheck = std::function<bool(const Expr& lhs, const Array<Expr>& rhs, const Array<Expr>& bias,
                                              const std::function<Expr(const Var&)>& value_of)>;
/// Combines products of the same left operand into one, with their biases and activations; `check` may refuse.
Pass CombineParallelMatmul(CombineMatmulCheck check = nullptr);

/// Layouts by operator ("relax.nn.conv2d"): of the data, the kernel and the result ("NHWC", "OHWI", "NHWC"), the last
/// two optional.
using DesiredLayouts = std::map<std::string, std::vector<std::string>>;
/// The layouts for one call, instead of `desired_layouts`.
using LayoutCallback = std::function<DesiredLayouts(const Call& call)>;
/// Gives operators the layouts asked for and lets the others follow. A UsageError for an operator that takes no
/// layouts.
Pass ConvertLayout(DesiredLayouts desired_layouts, LayoutCallback layout_cb = nullptr);

/// Returns a call of the operator with other layouts in its attributes, or null: as it is. `types` are those of
/// `inputs`.
using AlterOpLayoutFunc =
    std::function<Expr(const Attrs& attrs, const Array<Expr>& inputs, const Array<Type>& types, const Type& out_type)>;
struct OpLayoutChoice {
  /// "relax.nn.conv2d"
  std::string op;
  AlterOpLayoutFunc alter;
  /// The highest one for an operator is asked.
  int level = 10;
};
/// Lets operators choose their layouts for `target` (none: the current one): by `choices`, what is registered, and
/// blocks of channels for convolutions (level 10).
Pass AlterOpLayout(std::vector<OpLayoutChoice> choices = {}, std::optional<Target> target = std::nullopt);
/// Adds a choice for all later AlterOpLayout. A UsageError for an operator that takes no layouts.
void RegisterAlterOpLayout(OpLayoutChoice choice);

/// Computes exp, tanh, erf and softmax of float32 and shorter floats by approximations (topi/fast_math.h).
Pass FastMathTransform();

/// Replaces operators by call_tir of kernels: by `custom` (operator name → function), else as the operator's
/// row in the table says. `skip_ops` are left as they are. `enable_warning`: says on standard error which have no rule.
using LegalizeMap = std::map<std::string, std::function<Expr(BlockBuilder&, const Call&)>>;
Pass LegalizeOps(LegalizeMap custom = {}, std::vector<std::string> skip_ops = {}, bool enable_warning = false);

/// Sets the attribute op_pattern of every PrimFunc that has none or 0.
Pass AnnotateTIROpPattern();

/// Gives each result of an injective kernel (split) a kernel of its own where that fuses into its uses.
Pass SeparateOutputs();

/// How FuseOps fuses.
struct FuseOpsOptions {
  /// 0 fuses nothing; -1: the context's opt_level.
  int fuse_opt_level = -1;
  /// Wraps each single call_tir in a function too, as the Relay article does.
  bool wrap_single = false;
  /// The Relay article's rules: a broadcast between equal shapes is elementwise; tuples take part.
  bool relay_rules = false;
};
/// Groups the calls of kernels in dataflow blocks into Primitive functions.
Pass FuseOps(FuseOpsOptions options = {});
/// Merges the functions and kernels of chains of reductions along the same rows (softmax, norms, written out).
Pass FuseReductions();
/// Merges kernels that read the same tensor in the same order into one with several results.
Pass FuseSiblings();
/// Merges the kernels of each Primitive function into one: ExpandTupleArguments, RemoveUnusedParameters, the
/// merge itself, DeadCodeElimination.
Pass FuseTIR();

/// Computes scalar expressions of symbolic variables in functions of their own, which are called instead.
Pass ComputePrimValue();
/// The text of a type, for messages of the run time.
using TypePrinter = std::function<std::string(const Type&)>;
/// Replaces shapes by cells of a heap, and calls of the run time that match, fill and read them. Ours does that by
/// itself.
Pass VMShapeLower(TypePrinter print);

/// Passes the fields of tuple parameters of private functions one by one.
Pass ExpandTupleArguments();
/// Removes parameters of private functions that nothing uses.
Pass RemoveUnusedParameters();
/// Removes fields of private functions' results that nothing uses, then what is trivial or dead.
Pass RemoveUnusedOutputs();

/// Products of several inputs of few rows with the same weight become one product.
Pass CombineMatmulsOfOneWeight();
/// Lays constant convolution weights out for the kernels that read them.
Pass PackConvWeights();

}  // namespace deuteron::relax
