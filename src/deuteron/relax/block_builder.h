/// \file
/// Builds functions in A-normal form, binding by binding, with types inferred.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "deuteron/arith/analyzer.h"
#include "deuteron/relax/expr.h"
#include "deuteron/te/tensor.h"

namespace deuteron::relax {

/// A tensor, whatever `T` is: as many tensors as there are types.
template <typename T>
using RepeatTensor = const te::Tensor&;

/// `compute`, a function of `count` tensors that gives a tensor or an array of them, as one of arrays.
template <size_t count, typename Compute>
auto SpreadTensors(const Compute& compute) {
  return [compute](const Array<te::Tensor>& tensors) {
    DEUTERON_CHECK(tensors.size() == count) << "an argument that is no tensor; pass a function of arrays";
    const auto spread = [&]<size_t... index>(std::index_sequence<index...>) {
      return compute(tensors[static_cast<int64_t>(index)]...);
    };
    const auto result = spread(std::make_index_sequence<count>());
    if constexpr (std::convertible_to<decltype(result), te::Tensor>) {
      return Array<te::Tensor>{te::Tensor(result)};
    } else {
      return Array<te::Tensor>(result);
    }
  };
}

/// Emits bindings into nested scopes: function → binding blocks (plain or dataflow).
///
/// Nesting errors (a dataflow block in a dataflow block, an output outside of one, …) are ModelErrors;
/// scopes are left correctly when an exception passes through them.
class BlockBuilder {
 public:
  /// Functions are added to a copy of `module`.
  explicit BlockBuilder(IRModule module = IRModule::Empty());
  ~BlockBuilder();
  BlockBuilder(BlockBuilder&&) noexcept;

  /// Opens a function; `body` emits its bindings and must call EmitFuncOutput once.
  GlobalVar BuildFunction(const std::string& name, const Array<Var>& params, const std::function<void()>& body,
                          DictAttrs attrs = DictAttrs(), bool is_private = false);
  /// Opens a dataflow block around `body`.
  void Dataflow(const std::function<void()>& body);

  /// Lower-level scopes, for mutators. Every Begin has its End.
  void BeginDataflowBlock();
  void BeginBindingBlock();
  BindingBlock EndBlock();
  /// `params` come into scope, with the symbolic variables of their types.
  void BeginScope(const Array<Var>& params);
  void EndScope();
  bool InDataflowBlock() const;

  /// Binds `expr` to a fresh variable (lv, lv1, … in a dataflow block, gv, gv1, … outside), normalised.
  Var Emit(const Expr& expr, const std::string& name_hint = "", Span span = Span());
  /// Binds in a dataflow block to a variable that is visible after it.
  Var EmitOutput(const Expr& expr, const std::string& name_hint = "", Span span = Span());
  Var EmitMatchCast(const Expr& value, const Type& ty, const std::string& name_hint = "", Span span = Span());
  /// A binding as it is; its value is normalised.
  void EmitNormalized(const Binding& binding);
  /// Ends the current function's body with `output`.
  void EmitFuncOutput(const Expr& output);

  /// `expr` in A-normal form with `ty` set; nested calls are bound to fresh variables first.
  Expr Normalize(const Expr& expr);
  /// The value bound to `var` in the scopes open now (through nothing else); null if not known.
  Expr LookupBinding(const Var& var) const;

  /// A call_tir of a PrimFunc made from tensor expressions: `compute` maps placeholders of the tensor
  /// arguments to result tensors. Tensor arguments become buffers; symbolic dimensions that no buffer
  /// defines become scalar parameters. The PrimFunc is added to the module as `name` (deduplicated
  /// structurally).
  Call CallTE(const std::string& name, const Array<Expr>& args,
              const std::function<Array<te::Tensor>(const Array<te::Tensor>&)>& compute);
  Var EmitTE(const std::string& name, const Array<Expr>& args,
             const std::function<Array<te::Tensor>(const Array<te::Tensor>&)>& compute);
  /// The same with a function of tensors: `CallTE("add", topi::Add, a, b)`.
  template <typename Compute, std::convertible_to<Expr>... Exprs>
  requires std::invocable<Compute, const te::Tensor&, RepeatTensor<Exprs>...> Call CallTE(const std::string& name,
                                                                                          const Compute& compute,
                                                                                          const Expr& first,
                                                                                          const Exprs&... rest) {
    return CallTE(name, Array<Expr>{first, rest...}, SpreadTensors<1 + sizeof...(Exprs)>(compute));
  }
  template <typename Compute, std::convertible_to<Expr>... Exprs>
  requires std::invocable<Compute, const te::Tensor&, RepeatTensor<Exprs>...> Var EmitTE(const std::string& name,
                                                                                         const Compute& compute,
                                                                                         const Expr& first,
                                                                                         const Exprs&... rest) {
    return EmitTE(name, Array<Expr>{first, rest...}, SpreadTensors<1 + sizeof...(Exprs)>(compute));
  }

  /// What the operator of `call` computes, as its legalisation says: `vars`, which are arguments of the call, stand for
  /// `tensors` of their types. A ModelError if the call's types are wrong, an UnsupportedError of an operator that is
  /// no computation of tensors.
  static Array<te::Tensor> ComputationOf(const Call& call, const Array<Var>& vars, const Array<te::Tensor>& tensors);

  /// Adds a function to the module under `name` or `name1`, …; structurally equal functions are shared.
  GlobalVar AddFunction(const BaseFunc& func, const std::string& name);
  void UpdateFunction(const GlobalVar& var, const BaseFunc& func);
  const IRModule& module() const;
  /// The module; the builder is empty afterwards.
  IRModule Finalize();

  std::string UniqueName(const std::string& prefix);
  arith::Analyzer& analyzer() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace deuteron::relax
