/// \file
/// Turns the bindings of one group into a function of its own and the call that replaces them.
#pragma once

#include <string>
#include <vector>

#include "deuteron/relax/expr.h"
#include "deuteron/support/pointer_map.h"

namespace deuteron::relax::fusion {

/// Whether a value of the type has a shape whose extents are known before it is computed: else it is no result of a
/// group.
bool HasKnownShape(const Type& type);

/// Collects a group's bindings, in order, and then its outputs; derives its parameters, its name and a key
/// under which structurally equal groups meet without their functions being built.
///
/// Rules (docs/fusion.md): parameters in order of first use, one per distinct value; each constant is a
/// parameter of its own unless `bind_constants`; static shapes and scalars stay inside; a tuple of which only
/// items are used is passed as those items; free symbolic variables come last in a shape parameter
/// `tir_vars`, and are renewed in the function.
class GroupFunction {
 public:
  struct Options {
    /// Constants stay in the function.
    bool bind_constants = false;
    /// Begins the name of the function.
    std::string prefix = "fused";
    /// Attributes of the function beside Primitive. Groups with the same map share functions by key.
    Map<String, Any> attrs;
  };
  explicit GroupFunction(Options options) : options_(std::move(options)) {}

  /// A binding of the group. One whose variable is not a DataflowVar is an output at once.
  void Append(const Binding& binding);
  /// Marks `var`, bound in the group, as used outside; its index among the outputs.
  int64_t AddOutput(const Var& var);
  /// After the last binding and output: fixes parameters and key. Nothing may be added afterwards.
  void Finish();

  const std::vector<Binding>& bindings() const { return bindings_; }
  const std::vector<Var>& outputs() const { return outputs_; }
  /// "fused_add_relu", not yet made unique.
  std::string name() const;

  /// Equal keys: structurally equal functions. (Not the converse.)
  const std::string& key() const { return key_; }
  /// The values to call the function with; TupleGetItems among them are to be bound first.
  const std::vector<Expr>& arguments() const { return arguments_; }
  /// The type of the call: that of the output, or a tuple of them.
  Type ReturnType() const;
  /// The function, its attributes Primitive, those of the options and `more`.
  Function Build(const Map<String, Any>& more = {}) const;

 private:
  struct Param {
    Expr argument;
    std::string name;
    Type type;
    /// Items used by TupleGetItem, in order of first use, if it is a tuple used in no other way.
    std::vector<int64_t> items;
    bool used_whole = false;
  };
  /// Scalars, strings, dtypes and shapes without variables are part of the function, not arguments.
  static bool IsInlined(const Expr& expr);
  void Use(const Expr& expr, bool whole);
  void ExpandTuples();
  void CollectSymbols();
  void MakeKey();
  class Key;
  class Builder;

  Options options_;
  std::vector<Binding> bindings_;
  std::vector<Var> outputs_;
  PointerMap<int64_t> output_index_;
  PointerMap<int64_t> defined_;
  std::vector<Param> params_;
  PointerMap<int64_t> param_of_;
  int64_t num_constants_ = 0;
  std::vector<tir::Var> free_symbols_;
  std::vector<Expr> arguments_;
  std::string key_;
};

}  // namespace deuteron::relax::fusion
