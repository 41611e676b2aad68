/// \file
/// Every access to memory of a function, with what encloses it: the common ground of the verifier's checks.
/// Internal to tir/analysis/verify*.cc.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "deuteron/tir/analysis/index_eval.h"
#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// One thing that encloses a statement or expression. Frames form a tree; a site keeps its innermost.
struct Frame {
  enum class Kind : uint8_t {
    kRoot,
    kLoop,   ///< `loop`
    kBlock,  ///< `realize`: binds its iterators, if its predicate holds
    kBind,   ///< `var` = `expr`, from here on
    kGuard,  ///< reached only where `expr` is `expected`
  };
  Kind kind = Kind::kRoot;
  const Frame* parent = nullptr;
  int depth = 0;
  const ForNode* loop = nullptr;
  const SBlockRealizeNode* realize = nullptr;
  Var var;
  PrimExpr expr;
  bool expected = true;

  /// Whether `frame` is this one or encloses it.
  bool IsWithin(const Frame* frame) const {
    const Frame* cursor = this;
    while (cursor->depth > frame->depth) cursor = cursor->parent;
    return cursor == frame;
  }
};

/// One load or store.
struct AccessSite {
  const Frame* frame = nullptr;
  Buffer buffer;
  Array<PrimExpr> indices;
  bool is_store = false;
  /// What is stored; null for a load.
  PrimExpr value;
};

/// Where a buffer is defined, and how often used.
struct BufferInfo {
  const Frame* frame = nullptr;
  bool is_param = false;
  std::vector<size_t> sites;
};

struct FunctionAccesses {
  std::deque<Frame> frames;
  std::vector<AccessSite> sites;
  /// By the data pointer: flat views share it with what they are views of.
  std::unordered_map<const Object*, BufferInfo> buffers;
};

FunctionAccesses CollectAccesses(const PrimFunc& func);

/// Values given to the symbolic variables of a function: what is reported must go wrong under each assignment of
/// `SymbolAssignments`, so that relations between dimensions that a kernel does not know cannot make it wrong.
using SymbolValues = std::vector<std::pair<Var, int64_t>>;
std::vector<SymbolValues> SymbolAssignments(const PrimFunc& func);

/// One concrete way to a site: each loop on it stands at one of its iterations.
class Instance {
 public:
  explicit Instance(const SymbolValues& symbols);

  /// Positions of loops, by loop: an iteration counted from 0, kLast or kMiddle. Loops without one are at kFirst.
  static constexpr int64_t kFirst = 0;
  static constexpr int64_t kLast = -1;
  static constexpr int64_t kMiddle = -2;
  using Choices = std::unordered_map<const ForNode*, int64_t>;

  /// Gives all variables on `path` their values; false if that iteration does not exist, a guard keeps it out, or
  /// something cannot be evaluated.
  bool Enter(const std::vector<const Frame*>& path, const Choices& choices, int64_t lane = 0) {
    return Walk(path, choices, lane, true);
  }
  /// The same whatever guards say.
  bool EnterUnguarded(const std::vector<const Frame*>& path, const Choices& choices) {
    return Walk(path, choices, 0, false);
  }
  std::optional<int64_t> Eval(const PrimExpr& expr) { return values_.Eval(expr); }
  /// `i = 3, j = 0`: the loops of `path`, and the symbols.
  std::string Describe(const std::vector<const Frame*>& path);

 private:
  bool Walk(const std::vector<const Frame*>& path, const Choices& choices, int64_t lane, bool guarded);

  SymbolValues symbols_;
  IndexEvaluator values_;
};

/// The frames from the root's child down to `frame`.
std::vector<const Frame*> PathOf(const Frame* frame);
/// The innermost block around `frame`, null if there is none.
const SBlockRealizeNode* EnclosingBlock(const Frame* frame);

}  // namespace deuteron::tir
