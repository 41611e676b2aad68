/// \file
/// One stage of an attention in tiles of rows (attention.cc), in terms of its axes.
#pragma once

#include "deuteron/tir/schedule/rules/attention_plan.h"
#include "deuteron/tir/schedule/rules/tile_stage.h"

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
  /// Of one row, without an axis of rows.
  bool is_row = false;
  /// The first key of a block of keys, which has so many; 0: all keys are one.
  Var first_key{"first_key", DataType::Int(64)};
  int64_t block = 0;

  /// So many tiles of one batch follow each other on one thread, which copies keys and values once for all of them: of
  /// 16 bits they are widened. 1: each for itself.
  int64_t group = 1;
  /// Whether values are copied that need no widening.
  bool copies_values = false;

  /// Whether all tiles have `height` rows.
  bool IsFull() const { return IsConstInt(rows, height); }
  bool HasBlocks() const { return block != 0; }
  /// Whether a matrix unit multiplies (attention_unit.h).
  bool has_unit = false;
};

/// The tile with the least work on that target for an element of the scores.
AttentionTile ChooseAttentionTile(const Schedule& schedule, const AttentionPlan& plan, const Target& target);
/// A tile of one row.
AttentionTile RowOfAttention(const AttentionPlan& plan);

/// What of a tile a stage computes.
struct AttentionPart {
  PrimExpr rows;
  /// A variable where they are fewer than a block has.
  PrimExpr keys;
  /// The tile may have fewer rows: the last one of all is read instead.
  bool reads_beyond = false;
};

class AttentionStage : public TileStage {
 public:
  AttentionStage(const Schedule& schedule, const AttentionPlan& plan, const AttentionTile& tile, AttentionPart part)
      : schedule_(schedule), plan_(plan), tile_(tile), part_(std::move(part)) {}

  /// A buffer between blocks becomes `part`, whose dimensions are these axes.
  void Keep(const Buffer& whole, const Buffer& part, const AttentionAxes& axes);

  /// Adds a block of the whole function, its loops in this order. Null, or why not.
  const char* Add(const Block& name, const AttentionAxes& order);
  /// Adds a block that makes pairs (attention_unit.h) of the values of neighbouring keys that a block of the whole
  /// function computes, for each row. Null, or why not.
  const char* AddPairsOf(const Block& name, const Buffer& pairs);
  /// Adds a block that copies what a block of the whole function reads at `load` to these axes. Null, or why not.
  const char* AddCopy(const Block& name, const BufferLoad& load, const Buffer& copy, const AttentionAxes& axes);
  /// Blocks that are added next read the copy instead, whose dimensions are these axes.
  void ReadCopy(const BufferLoad& load, const Buffer& copy, AttentionAxes axes);
  /// Adds a block that copies a term of the rows, by row and its short dimension. Null, or why not.
  const char* AddTerm(const AttentionPlan::RowTerm& term, const Buffer& copy);
  /// Blocks that are added next read instead a copy in which the rows lie side by side.
  void ReadTerm(const AttentionPlan::RowTerm& term, const Buffer& copy);
  /// Adds a block that copies rows and columns, or the columns of a row, to where the second product would write them.
  void AddResult(const Buffer& whole, const Buffer& part);
  /// The stage, scheduled, on the tensors themselves. `inputs` and `outputs`: buffers of the tile; `allocated` receives
  /// those of the stage.
  Stmt Scheduled(const Target& target, const Array<Buffer>& inputs, const Array<Buffer>& outputs,
                 Array<Buffer>* allocated) const;

 private:
  struct Values;

  /// The values of a block's iterators in the tile, which keeps those of these axes, in this order.
  Values BindIterators(const Block& name, const AttentionAxes& order) const;
  /// What stands for loads of what has been copied.
  Replace CopiesIn(const Values& values) const;

  const Schedule& schedule_;
  const AttentionPlan& plan_;
  const AttentionTile& tile_;
  const AttentionPart part_;
  struct Copy {
    BufferLoad load;
    Buffer copy;
    AttentionAxes axes;
    /// Of a term of the rows: the index that comes first.
    PrimExpr first = {};
  };
  std::vector<Copy> copies_;
};

}  // namespace deuteron::tir
