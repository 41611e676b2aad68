/// \file
/// Elementwise work on a tensor that is read along another axis than its result is written: tiles that are transposed
/// in registers.
///
/// Element by element, each read or each write would touch a line of its own, and use a fraction of it before another
/// takes its place. A tile is a line of the one axis by a line of the other: its rows are copied to lie together, whole
/// lines as they are stored, and read from there as columns, which code generation makes a transposition of vectors
/// (codegen/llvm/emit_transpose.cc). Where several operands lie the other way (the rotation of positions, of keys that
/// are transposed), rows are not copied but computed of them. Of an axis that no tile divides the last tile is split
/// off.
#include <algorithm>

#include "deuteron/tir/analysis/factors.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/common.h"
#include "deuteron/tir/schedule/rules/merged_pixels.h"

namespace deuteron::tir {
namespace {

/// An axis of the tile, with its share of it.
struct TileAxis {
  size_t iter = 0;
  int64_t length = 0;
  bool divides = true;
};

/// What of a block runs along another axis than its result.
struct Transposed {
  /// The read; nothing where several do, so that what is computed of them is transposed in their place.
  std::optional<size_t> read;
  /// Along which the result is contiguous, and the operand.
  size_t result_axis = 0;
  size_t operand_axis = 0;
};

/// Whether iterator i is loop i, for all of them, or that has but one iteration.
bool HasLoopForEach(const Schedule& schedule, const Block& name) {
  const SBlockRealize realize = schedule.GetRealize(name);
  const std::vector<Loop> loops = schedule.GetLoops(name);
  if (loops.size() != realize->iter_values.size()) return false;
  for (size_t i = 0; i < loops.size(); ++i) {
    const bool is_unit = IsZero(realize->iter_values[i]) && schedule.ConstExtent(loops[i]) == 1;
    if (!is_unit && !realize->iter_values[i].same_as(loops[i])) return false;
  }
  return true;
}

/// The iterator that an index is.
std::optional<size_t> IterOf(const SBlock& block, const PrimExpr& index) {
  for (size_t i = 0; i < block->iter_vars.size(); ++i) {
    if (index.same_as(block->iter_vars[i]->var)) return i;
  }
  return std::nullopt;
}

/// The iterator along which an index goes in steps of one element: one of several, where axes of what is read were
/// split (heads × the elements of each).
std::optional<size_t> IterAlong(const SBlock& block, const PrimExpr& index) {
  std::optional<size_t> found;
  for (size_t i = 0; i < block->iter_vars.size(); ++i) {
    if (StepAlong(index, block->iter_vars[i]) != 1) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

bool HasTransposableSize(const Buffer& buffer) { return buffer->dtype.bytes() == 4 || buffer->dtype.bytes() == 2; }

/// The element of 32 or 16 bits that a block reads along another axis, or the result of which all operands run along
/// another; nothing if there is no such element.
std::optional<Transposed> FindTransposed(const SBlock& block) {
  const auto* store = block->body.as<BufferStoreNode>();
  if (store == nullptr || store->indices.empty()) return std::nullopt;
  const auto result_axis = IterAlong(block, store->indices.back());
  if (!result_axis) return std::nullopt;
  const VarNode* along = block->iter_vars[*result_axis]->var.get();
  const auto varies = [&](const BufferLoadNode* load) {
    return std::any_of(load->indices.begin(), load->indices.end(), [&](const PrimExpr& index) {
      return UsesVar(index, [&](const VarNode* var) { return var == along; });
    });
  };
  // Along which axis a load runs that is transposed.
  const auto operand_axis = [&](const BufferLoadNode* load) -> std::optional<size_t> {
    if (load->indices.empty() || !HasTransposableSize(load->buffer)) return std::nullopt;
    const auto axis = IterAlong(block, load->indices.back());
    return axis && *axis != *result_axis && varies(load) ? axis : std::nullopt;
  };
  std::vector<const BufferLoadNode*> loads;
  PostOrderVisit(store->value, [&](const ObjectRef& node) {
    if (const auto* load = node.as<BufferLoadNode>()) loads.push_back(load);
  });
  const auto found = std::find_if(loads.begin(), loads.end(), operand_axis);
  if (found == loads.end()) return std::nullopt;
  const BufferLoadNode* first = *found;
  const size_t axis = *operand_axis(first);
  // The same element may be read several times; another of the same tensor would lie in another tile.
  const bool is_one = std::all_of(loads.begin(), loads.end(), [&](const BufferLoadNode* load) {
    if (!load->buffer.same_as(first->buffer)) return !operand_axis(load);
    return ExprEqual(load->indices, first->indices);
  });
  if (is_one) {
    const auto read = std::find_if(block->reads.begin(), block->reads.end(),
                                   [&](const BufferRegion& region) { return region->buffer.same_as(first->buffer); });
    if (read == block->reads.end()) return std::nullopt;
    return Transposed{static_cast<size_t>(read - block->reads.begin()), *result_axis, axis};
  }
  const bool all_run_along = std::all_of(loads.begin(), loads.end(), [&](const BufferLoadNode* load) {
    return !varies(load) || operand_axis(load) == axis;
  });
  const bool has_axes = std::all_of(store->indices.begin(), store->indices.end(),
                                    [&](const PrimExpr& index) { return IsZero(index) || IterOf(block, index); });
  if (!all_run_along || !has_axes || !HasTransposableSize(store->buffer)) return std::nullopt;
  return Transposed{std::nullopt, *result_axis, axis};
}

/// The fewest elements of a tile's row that are worth a vector.
constexpr int64_t kShortRow = 4;
/// Tiles side by side that follow each other.
constexpr int64_t kTilesOfRun = 4;

/// A tile's share of an axis: a line, or a part of one that divides a short axis; 0 if there is none.
TileAxis ShareOf(const SBlock& block, size_t iter, int64_t line, int64_t lanes) {
  const auto extent = AsConstInt(block->iter_vars[iter]->dom->extent);
  if (!extent) return {iter, line, false};
  for (const int64_t length : {line, lanes, std::max(lanes / 2, kShortRow)}) {
    if (*extent % length == 0) return {iter, length, true};
  }
  if (*extent >= line) return {iter, line, false};
  return {iter, *extent % kShortRow == 0 ? kShortRow : 0, true};
}

/// What brings a tile to its place, with its iterators of both axes.
struct TileReader {
  Block name;
  size_t along = 0, across = 0;
};

/// Lets `name` compute its result with the axis behind along which its operands run, for another block to transpose.
TileReader ComputeAlongOperands(Schedule* schedule, const Block& name, const Transposed& axes) {
  TileReader reader{schedule->CacheWrite(name, "local")};
  const SBlock block = schedule->Get(name);
  const Array<PrimExpr>& indices = block->body.as<BufferStoreNode>()->indices;
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    const auto iter = IterOf(block, indices[dim]);
    if (iter == axes.result_axis) reader.along = dim;
    if (iter == axes.operand_axis) reader.across = dim;
  }
  MoveDimensionLast(schedule, schedule->WriteBuffer(name), reader.across);
  return reader;
}

void Apply(Schedule* schedule, const Block& computed, const Transposed& transposed, const TileAxis& result,
           const TileAxis& operand, const Target& target) {
  const int64_t lanes = std::min({Lanes(target), result.length, operand.length});
  // Rows of the tile, and what reads them as columns.
  const Block copy = transposed.read ? schedule->CacheRead(computed, *transposed.read, "local") : computed;
  const TileReader reader = transposed.read ? TileReader{computed, result.iter, operand.iter}
                                            : ComputeAlongOperands(schedule, computed, transposed);
  const Array<PrimExpr> iters = schedule->GetRealize(reader.name)->iter_values;
  const Loop result_loop = Downcast<Loop>(iters[reader.along]), operand_loop = Downcast<Loop>(iters[reader.across]);
  std::vector<Loop> outer;
  for (const Loop& loop : schedule->GetLoops(reader.name)) {
    if (!loop.same_as(result_loop) && !loop.same_as(operand_loop)) outer.push_back(loop);
  }
  const auto along = schedule->Split(result_loop, std::vector<int64_t>{-1, result.length / lanes, lanes});
  const auto across = schedule->Split(operand_loop, std::vector<int64_t>{-1, operand.length});
  const bool all_divide = result.divides && operand.divides;
  // Threads share what divides: runs of the longer axis, each with all of the shorter one. So what lies along that is
  // gone through as it lies, and of the other whole pairs of lines are read or written at once.
  const auto count = [&](const Loop& loop) { return schedule->ConstExtent(loop).value_or(kUnknownExtent); };
  const bool result_is_inner =
      all_divide ? count(along[0]) * result.length <= count(across[0]) * operand.length : operand.divides;
  Loop tiles = result_is_inner ? along[0] : across[0];
  std::vector<Loop> inner = {tiles};
  if (all_divide) {
    const Loop& longer = result_is_inner ? across[0] : along[0];
    const auto run = schedule->Split(longer, std::vector<int64_t>{-1, LargestDivisor(count(longer), kTilesOfRun)});
    outer.push_back(run[0]);
    inner.push_back(tiles = run[1]);
  } else {
    outer.push_back(result_is_inner ? across[0] : along[0]);
  }
  std::vector<Loop> order = outer;
  order.insert(order.end(), inner.begin(), inner.end());
  order.insert(order.end(), {across[1], along[1], along[2]});
  schedule->Reorder(order);
  schedule->ComputeAt(copy, tiles);
  schedule->Unroll(across[1]);
  schedule->Unroll(along[1]);
  schedule->Vectorize(along[2]);
  std::vector<Loop> rows = schedule->GetLoops(copy);
  rows.erase(rows.begin(), std::find(rows.begin(), rows.end(), tiles) + 1);
  if (rows.size() != 2) DEUTERON_SCHEDULE_ERROR << "the tile is no matrix";
  const auto parts = schedule->Split(rows[1], std::vector<int64_t>{operand.length / lanes, lanes});
  schedule->Unroll(rows[0]);
  schedule->Unroll(parts[0]);
  schedule->Vectorize(parts[1]);
  int64_t pieces = 1;
  for (const Loop& loop : outer) pieces *= schedule->ConstExtent(loop).value_or(kUnknownExtent);
  if (all_divide && pieces < CostModel(target.machine).EnoughPieces()) outer.push_back(inner.front());
  schedule->Parallel(FuseAll(schedule, outer));
}

/// Cycles that an element takes longer that is read along another axis, in the second cache and from memory.
constexpr double kCyclesOfStray = 4, kCyclesOfStrayFromMemory = 16;

/// Instructions on one vector; those that read where others say take several for each lane (measured).
double InstructionsOf(const SBlock& block, int64_t lanes) {
  constexpr double kFewest = 16, kOfIndirect = 4;
  double instructions = std::max(OpsPerInstance(block), kFewest);
  PostOrderVisit(block->body, [&](const ObjectRef& node) {
    const auto* load = node.as<BufferLoadNode>();
    if (load == nullptr) return;
    bool is_indirect = false;
    for (const PrimExpr& index : load->indices) {
      PostOrderVisit(index, [&](const ObjectRef& inner) { is_indirect |= inner.as<BufferLoadNode>() != nullptr; });
    }
    if (is_indirect) instructions += kOfIndirect * static_cast<double>(lanes);
  });
  return instructions;
}

/// Whether, of calls that are known to be few, what tiles save is less than what it takes to make their code.
bool TakesLongerToMake(const SBlock& block, double copies, const Target& target) {
  const CostModel costs(target.machine);
  double elements = 1;
  for (const IterVar& iter : block->iter_vars) elements *= static_cast<double>(AssumedExtent(iter->dom->extent));
  const auto* store = block->body.as<BufferStoreNode>();
  const double bytes = elements * store->buffer->dtype.bytes();
  const bool is_cached = bytes <= static_cast<double>(target.machine.l2.Share());
  const double cores = static_cast<double>(std::min(target.machine.threads, target.machine.cores));
  const double saved = elements * (is_cached ? kCyclesOfStray : kCyclesOfStrayFromMemory) / cores;
  return saved < costs.CyclesToMake(copies * InstructionsOf(block, Lanes(target)));
}

bool ScheduleAsItIs(Schedule* schedule, const Block& name, const Target& target) {
  if (!HasPlainLoops(*schedule, name)) return false;
  const int64_t lanes = Lanes(target);
  const int64_t line = std::max<int64_t>(target.machine.line_bytes / 4, lanes);
  Schedule attempt = *schedule;
  // Rows and columns of an image that are one axis of the result.
  SplitByQuotient(&attempt, name, [](size_t, int64_t) { return true; });
  if (!HasLoopForEach(attempt, name)) return false;
  const SBlock block = attempt.Get(name);
  const auto transposed = FindTransposed(block);
  if (!transposed) return false;
  const int64_t most = CostModel(target.machine).MostCopies(OpsPerInstance(block));
  TileAxis result = ShareOf(block, transposed->result_axis, line, lanes);
  TileAxis operand = ShareOf(block, transposed->operand_axis, line, lanes);
  if (result.length == 0 || operand.length == 0) return false;
  // Copies of what is computed, one for each vector.
  if (result.length / lanes * operand.length > most) result.length = operand.length = lanes;
  if (operand.length > most) return false;
  const int64_t copies = (result.length / std::min(lanes, result.length) + 1) * operand.length;
  if (TakesLongerToMake(block, static_cast<double>(copies), target)) return false;
  try {
    Apply(&attempt, name, *transposed, result, operand, target);
  } catch (const ffi::Error& error) {
    if (!IsScheduleError(error)) throw;
    return false;
  }
  *schedule = attempt;
  return true;
}

/// Where the lines of images are that a block reads with their channels before and writes with them behind, or the
/// other way; null if it does not.
DimOfLines LinesOfMovedChannels(const SBlock& block) {
  const auto* store = block->body.as<BufferStoreNode>();
  if (store == nullptr) return nullptr;
  std::unordered_map<const Object*, int64_t> lines;
  const auto look = [&](const Buffer& buffer, const Array<PrimExpr>& indices, const PrimExpr& y, const PrimExpr& x) {
    for (int64_t dim = 0; dim + 1 < std::ssize(indices); ++dim) {
      if (indices[dim].same_as(y) && indices[dim + 1].same_as(x)) lines[buffer.get()] = dim;
    }
  };
  // Of the neighbours in the result, those that are neighbours in an operand, at another place.
  for (int64_t dim = 0; dim + 1 < std::ssize(store->indices); ++dim) {
    const PrimExpr &y = store->indices[dim], &x = store->indices[dim + 1];
    if (!IterOf(block, y) || !IterOf(block, x)) continue;
    lines.clear();
    bool moves = false;
    PostOrderVisit(store->value, [&](const ObjectRef& node) {
      const auto* load = node.as<BufferLoadNode>();
      if (load == nullptr) return;
      look(load->buffer, load->indices, y, x);
      const auto found = lines.find(load->buffer.get());
      moves |= found != lines.end() && found->second != dim;
    });
    if (!moves) continue;
    look(store->buffer, store->indices, y, x);
    return [lines](const Buffer& buffer) -> std::optional<int64_t> {
      const auto found = lines.find(buffer.get());
      return found == lines.end() ? std::nullopt : std::optional(found->second);
    };
  }
  return nullptr;
}

}  // namespace

bool ScheduleTransposition(Schedule* schedule, const Block& name, const Target& target) {
  // Lines and columns of an image are one axis, where each alone may be too short for a tile.
  const DimOfLines lines = schedule->GetBlocks().size() == 1 ? LinesOfMovedChannels(schedule->Get(name)) : DimOfLines();
  const auto merged = lines == nullptr ? std::nullopt : MergePixels(schedule->func(), lines);
  if (merged) {
    Schedule attempt(merged->func);
    if (ScheduleAsItIs(&attempt, name, target)) {
      *schedule = Schedule(merged->WithOriginalParameters(attempt.func()));
      return true;
    }
  }
  return ScheduleAsItIs(schedule, name, target);
}

}  // namespace deuteron::tir
