/// \file
/// One stage of a kernel that is computed tile by tile (attention.cc, winograd.cc): a function of its own on
/// views of the tensors, which the other rules schedule as they would any function, then code within the loop over
/// tiles.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "deuteron/target/target.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/schedule.h"

namespace deuteron::tir {

/// What a block's iterators are in a tile.
struct TileValues {
  /// Of the block's iterators: within the tile, and in all.
  ExprVarMap inner;
  ExprVarMap all;
  /// Of the tile's iterators: 0.
  ExprVarMap zero;
  /// The tile's iterators, in order.
  Array<IterVar> iters;
  /// Of the tile's iterators: from one value to the next so many of the block's, if not one.
  std::unordered_map<const VarNode*, int64_t> steps;
  /// The iterator of the block that counts more than there may be.
  const VarNode* clamped = nullptr;
  /// Whether operands become views of the part that the tile reads: indices of these count from its first element.
  bool has_views = true;
  /// Whether they are tensors as they are where an index is no sum of the tile's and its own (rows of an image, say).
  bool has_wholes = false;

  /// An iterator of the block that becomes one of the tile, of this extent, which begins at `first`; from one value to
  /// the next it is a `step`.
  Var Bind(const IterVar& iter, const PrimExpr& extent, const PrimExpr& first, int64_t step = 1);
  int64_t StepOf(const Var& var) const {
    const auto it = steps.find(var.get());
    return it == steps.end() ? 1 : it->second;
  }
  /// An iterator of the block that has one value in the tile.
  void Fix(const IterVar& iter, const PrimExpr& value);
};

class TileStage {
 public:
  /// What stands for a load in a stage; nothing if that follows from buffers and views.
  using Replace = std::function<std::optional<PrimExpr>(const BufferLoadNode*)>;

  /// A buffer between blocks becomes `part`, whose dimensions are these of its own.
  void Keep(const Buffer& whole, const Buffer& part, std::vector<int64_t> dims) {
    kept_[whole.get()] = {part, std::move(dims)};
  }
  /// A buffer of the stage alone.
  void Allocate(const Buffer& part) { allocated_.push_back(part); }
  /// The part of a tensor that begins at `offset` and has this shape, as a tensor, whose elements are `steps` apart in
  /// the whole one; empty: side by side.
  Buffer ViewOf(const Buffer& whole, const Array<PrimExpr>& offset, const Array<PrimExpr>& shape,
                const std::vector<int64_t>& steps = {});

  /// Adds a block of the whole function. Null, or why not.
  const char* Add(const SBlock& block, const TileValues& values, const Replace& replace = nullptr);
  /// An expression of a block, in the tile; nothing if an operand is no view.
  std::optional<PrimExpr> InTile(const PrimExpr& expr, const TileValues& values, const Replace& replace = nullptr);
  /// Adds a block of the stage's own: `to` at all of these indices becomes what `value` makes of them.
  void AddValues(const std::string& name, const Buffer& to, const Array<PrimExpr>& extents,
                 const std::function<PrimExpr(const Array<Var>&)>& value);
  /// The same of a matrix: what `from` has with its indices exchanged.
  void AddTransposed(const Buffer& to, const Array<PrimExpr>& extents, const Buffer& from);
  void AddBlock(SBlock block);

  /// The stage, scheduled, on the tensors themselves. `inputs` and `outputs`: buffers of the tile; `scalars`: variables
  /// of the loops around it; `most`: of those that extents use, the greatest value; `allocated` receives the buffers of
  /// the stage.
  Stmt Scheduled(const Target& target, const Array<Buffer>& inputs, const Array<Buffer>& outputs,
                 const Array<Var>& scalars, const VarMap& most, Array<Buffer>* allocated) const;

 private:
  /// A part of a tensor, which begins at `offset`, as a tensor of its own.
  struct View {
    Buffer whole;
    Buffer part;
    Array<PrimExpr> offset;
    std::vector<int64_t> steps;
  };
  struct Kept {
    Buffer part;
    std::vector<int64_t> dims;
  };
  class Mutator;
  class Placer;

  bool IsWritten(const View& view) const;

  std::unordered_map<const Object*, Kept> kept_;
  Array<Buffer> allocated_;
  Array<Stmt> nests_;
  std::vector<View> views_;
};

/// An iterator of tiles, or of a block of a stage: so many.
IterVar TileIter(const PrimExpr& extent, const Var& var);
/// Makes of a function the loops over tiles, which threads share, and in them a block of all stages.
void PutTiles(Schedule* schedule, const std::string& name, const Array<IterVar>& tiles, const Stmt& stages,
              const Array<Buffer>& allocated);

}  // namespace deuteron::tir
