/// \file
/// The state of a BlockBuilder. Private to block_builder.cc, normalizer.cc and call_te.cc.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "deuteron/relax/block_builder.h"
#include "deuteron/support/pointer_map.h"

namespace deuteron::relax {

/// Distinct names from hints: `lv`, `lv1`, `lv2`, … Amortised constant time.
class NameTable {
 public:
  std::string Unique(const std::string& hint);
  void Reserve(std::string_view name) { Ask(name); }
  void Clear() { used_.Clear(); }

 private:
  /// How often a name was asked for before now; it counts as asked for from now on.
  struct Count {
    int value = 1;
  };
  std::pair<Count*, bool> Ask(std::string_view name) { return used_.Insert(Hash(name)); }
  static uint64_t Hash(std::string_view name) { return std::hash<std::string_view>()(name) | 1; }

  /// By the hash of the name: two names of one hash would cost a number, and nothing else.
  FlatMap<Count> used_;
};

struct BlockBuilder::Impl {
  explicit Impl(IRModule module) : module(std::move(module)) {}

  /// A binding block under construction.
  struct BlockFrame {
    bool is_dataflow = false;
    std::vector<Binding> bindings;
  };
  /// A function under construction (BuildFunction).
  struct FunctionFrame {
    Array<Var> params;
    std::vector<BindingBlock> blocks;
    /// The plain block that Emit opened by itself is the top of `frames`.
    bool in_implicit_block = false;
    Expr output;
  };

  IRModule module;
  arith::Analyzer analyzer;
  std::vector<BlockFrame> frames;
  std::unique_ptr<FunctionFrame> function;
  /// Depth of BeginScope; names and bindings are forgotten when it returns to 0.
  int scope_depth = 0;
  NameTable names;
  PointerMap<Expr> bindings;
  PointerSet known_symbols;

  NameTable global_names;
  bool functions_indexed = false;
  std::unordered_multimap<uint64_t, GlobalVar> functions_by_hash;
  std::unordered_map<const Object*, uint64_t> hash_of;

  /// While an operator is asked for what it computes (ComputationOf): the tensors that variables stand for, and what
  /// was computed of them by calls that CallTE returned.
  struct Computation {
    PointerMap<te::Tensor> tensors;
    PointerMap<Array<te::Tensor>> computed;
  };
  std::unique_ptr<Computation> computation;
  /// The tensor that a variable stands for while a computation is asked for; else null.
  te::Tensor TensorOf(const Expr& expr) const;

  void DefineSymbols(const Type& type);
  BlockFrame& Frame();
  void AppendBinding(const Binding& binding, const Expr& value);
  void CloseImplicitBlock();
  /// Fills the index of functions from the module, once.
  void IndexFunctions();
  /// The hash by which a function is shared; nothing for those that are not.
  static std::optional<uint64_t> HashOf(const BaseFunc& func);
  void Remember(const GlobalVar& var, std::optional<uint64_t> hash);
};

/// Brings expressions into A-normal form and infers their types; emits what must be bound first.
class Normalizer {
 public:
  explicit Normalizer(BlockBuilder* builder) : builder_(builder) {}
  /// A leaf, or one operation of leaves, with its type.
  Expr Value(const Expr& expr);
  /// A leaf with its type.
  Expr Leaf(const Expr& expr);

 private:
  Expr CallValue(const Call& call);
  Expr IfValue(const If& branch);
  Expr FlattenSeq(const SeqExpr& seq);
  SeqExpr Branch(const SeqExpr& seq);
  Array<Expr> Leaves(const Array<Expr>& exprs);
  Type InferCallType(const Call& call);

  BlockBuilder* builder_;
};

}  // namespace deuteron::relax
