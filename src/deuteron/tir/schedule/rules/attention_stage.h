/// \file
/// One stage of an attention in tiles of rows (attention.cc): a function of its own on views of the tensors, which the
/// other rules schedule as they would any product or softmax, then code within the loop over tiles.
#pragma once

#include <functional>
#include <string>

#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/attention_plan.h"

namespace deuteron::tir {

/// What all stages of a tile share.
struct AttentionTile {
  /// By axis of the batch: the tile's value.
  std::vector<Var> batch;
  /// The first row.
  Var first_row{"first_row", DataType::Int(64)};
  /// How many rows: `height`, or fewer; a variable where the last tile has fewer than the others.
  PrimExpr rows;
  int64_t height = 0;
  /// The first key of a block of keys, which has so many; 0: all keys are one.
  Var first_key{"first_key", DataType::Int(64)};
  int64_t block = 0;

  /// Whether all tiles have `height` rows.
  bool IsFull() const { return IsConstInt(rows, height); }
  bool HasBlocks() const { return block != 0; }
};

/// The tile with the least work on that machine for an element of the scores; null in `why_not` if it is chosen.
AttentionTile ChooseAttentionTile(const Schedule& schedule, const AttentionPlan& plan, const CostModel& costs,
                                  const char** why_not);

/// What of a tile a stage computes.
struct AttentionPart {
  PrimExpr rows;
  /// A variable where they are fewer than a block has.
  PrimExpr keys;
  /// The tile may have fewer rows: the last one of all is read instead.
  bool reads_beyond = false;
};

class AttentionStage {
 public:
  AttentionStage(const Schedule& schedule, const AttentionPlan& plan, const AttentionTile& tile, AttentionPart part)
      : schedule_(schedule), plan_(plan), tile_(tile), part_(std::move(part)) {}

  /// A buffer between blocks becomes `part`, whose dimensions are these axes.
  void Keep(const Buffer& whole, const Buffer& part, AttentionAxes axes) {
    kept_[whole.get()] = {part, std::move(axes)};
  }
  /// A buffer of the stage alone.
  void Allocate(const Buffer& part) { allocated_.push_back(part); }
  /// The part of a tensor that begins at `offset` and has this shape, as a tensor.
  Buffer ViewOf(const Buffer& whole, const Array<PrimExpr>& offset, const Array<PrimExpr>& shape);

  /// Adds a block of the whole function, its loops in this order. Null, or why not.
  const char* Add(const Block& name, const AttentionAxes& order);
  /// Adds a block that copies what a block of the whole function reads at `load` to these axes. Null, or why not.
  const char* AddCopy(const Block& name, const BufferLoad& load, const Buffer& copy, const AttentionAxes& axes);
  /// Blocks that are added next read the copy instead, whose dimensions are these axes.
  void ReadCopy(const BufferLoad& load, const Buffer& copy, AttentionAxes axes);
  /// Adds a block that copies rows and columns to where the second product would write them.
  void AddResult(const Buffer& whole, const Buffer& part);
  /// Adds a block of the stage's own: `to` at all of these indices becomes what `value` makes of them.
  void AddValues(const std::string& name, const Buffer& to, const Array<PrimExpr>& extents,
                 const std::function<PrimExpr(const Array<Var>&)>& value);
  void AddBlock(SBlock block);

  /// The stage, scheduled, on the tensors themselves. `inputs` and `outputs`: buffers of the tile; `allocated` receives
  /// those of the stage.
  Stmt Scheduled(const Target& target, const Array<Buffer>& inputs, const Array<Buffer>& outputs,
                 Array<Buffer>* allocated) const;

 private:
  /// A part of a tensor, which begins at `offset`, as a tensor of its own.
  struct View {
    Buffer whole;
    Buffer part;
    Array<PrimExpr> offset;
  };
  struct Kept {
    Buffer part;
    AttentionAxes axes;
  };
  struct Values;
  class Mutator;
  class Placer;

  /// The values of a block's iterators in the tile, which keeps those of these axes, in this order.
  Values BindIterators(const Block& name, const AttentionAxes& order) const;
  bool IsWritten(const View& view) const;

  const Schedule& schedule_;
  const AttentionPlan& plan_;
  const AttentionTile& tile_;
  const AttentionPart part_;
  std::unordered_map<const Object*, Kept> kept_;
  Array<Buffer> allocated_;
  Array<Stmt> nests_;
  std::vector<View> views_;
  struct Copy {
    BufferLoad load;
    Buffer copy;
    AttentionAxes axes;
  };
  std::vector<Copy> copies_;
};

}  // namespace deuteron::tir
