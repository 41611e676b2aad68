/// \file
/// Finding and replacing parts of the statement tree of a function's root scope. Internal to schedule/.
#pragma once

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/analysis/block_analysis.h"
#include "deuteron/tir/analysis/conjunction.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/schedule.h"

namespace deuteron::tir::schedule {

/// Statements from the body of the root scope (first) down to the one looked for (last).
using Path = std::vector<Stmt>;

/// The root scope's statement.
Stmt ScopeBody(const PrimFunc& func);
PrimFunc WithScopeBody(const PrimFunc& func, Stmt body);
/// Calls `visit` on every statement of the scope, parents before children, not entering blocks; stops where it
/// returns true, with the path there. Empty if nowhere.
Path FindStmt(const Stmt& body, const std::function<bool(const Stmt&)>& visit);
/// A ScheduleError names the blocks that exist.
Path FindBlock(const PrimFunc& func, const std::string& block);
Path FindLoop(const PrimFunc& func, const Var& loop);
/// The root with the last statement of `path` replaced; a null replacement removes it and the loops and
/// sequences that become empty. Null if nothing is left.
Stmt Replace(const Path& path, const Stmt& replacement);
/// `func` with the last statement of `path` replaced.
PrimFunc ReplaceIn(const PrimFunc& func, const Path& path, const Stmt& replacement);
/// `func` with `block` in the place of that of `old`, at the same values of its iterators.
PrimFunc ReplaceBlock(const PrimFunc& func, const SBlockRealize& old, SBlock block);

inline SBlockRealize RealizeOf(const Path& path) { return Downcast<SBlockRealize>(path.back()); }
/// Loops among the statements of `path`, outermost first.
std::vector<For> LoopsOf(const Path& path);

/// Allocates, or no longer allocates, a buffer in the root block.
PrimFunc AddBuffer(const PrimFunc& func, const Buffer& buffer);
PrimFunc RemoveBuffer(const PrimFunc& func, const Buffer& buffer);
bool IsAllocated(const PrimFunc& func, const Buffer& buffer);
/// Every use of `from` in a statement becomes a use of `to`, at the same indices.
Stmt ReplaceBuffer(const Stmt& stmt, const Buffer& from, const Buffer& to);
SBlock ReplaceBuffer(const SBlock& block, const Buffer& from, const Buffer& to);

/// Rewrites loads (indices already rewritten) and stores of one buffer in statements, regions left alone.
using LoadRewrite = std::function<PrimExpr(const BufferLoad&)>;
using StoreRewrite = std::function<Stmt(const BufferStore&)>;
Stmt RewriteAccesses(const Stmt& stmt, const Buffer& buffer, const LoadRewrite& load, const StoreRewrite& store);

/// A name that no block of the function has: `name`, `name_1`, ….
std::string UniqueBlockName(const PrimFunc& func, const std::string& name);

/// Tells the analyzer what is known of the function's dimensions and of these loops.
void BindShapes(const PrimFunc& func, arith::Analyzer* analyzer);
void BindLoops(const std::vector<For>& loops, arith::Analyzer* analyzer);

/// Plain serial loops over the iterators of `block`, one each (none for those of extent 1, unless `unit_loops`), around
/// its realisation.
Stmt MakeNest(const SBlock& block, bool unit_loops = false);
/// to[first..., i...] = from[i...] over all of `from`.
SBlock CopyBlock(const std::string& name, const Buffer& from, const Buffer& to, const Array<PrimExpr>& first = kEmpty);

/// The variables that a statement's loops define.
bool UsesAny(const PrimExpr& expr, const std::unordered_set<const Object*>& vars);

/// Whether different values of the loops give different values, for the loops that occur in `value` (a sum of
/// loops in mixed radix) and where `condition` holds. False where that is not seen.
bool IsInjective(const PrimExpr& value, const std::vector<For>& loops, arith::Analyzer* analyzer,
                 const PrimExpr& condition = True());

/// Blocks (positions in the scope) that the statement contains.
std::vector<SBlockRealize> BlocksIn(const Stmt& stmt);

/// Path to the child of the scope (or the scope's only statement) that holds the last statement of `path`.
Path TopOf(const Path& path);

/// Why a block at position `from` of the scope may not run at position `to` instead: a block in between, or one
/// of `others` (where it lands), overwrites what it reads, or uses what it writes. Empty if it may. What flows
/// from and to the block itself is for the caller to keep in order: buffers in `flows` are left out.
std::string WhyNotMove(const ScopeInfo& scope, size_t from, size_t to, const std::unordered_set<const Object*>& flows);
/// Position of a block in the scope.
size_t PositionOf(const ScopeInfo& scope, const SBlockRealize& realize);

/// The body of a block with expressions simplified, its iterators bound to their domains.
SBlock SimplifyBlock(const PrimFunc& func, SBlock block);

}  // namespace deuteron::tir::schedule
