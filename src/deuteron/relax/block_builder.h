/// \file
/// Builds functions in A-normal form, binding by binding, with types inferred.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "deuteron/arith/analyzer.h"
#include "deuteron/relax/expr.h"
#include "deuteron/te/tensor.h"

namespace deuteron::relax {

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
