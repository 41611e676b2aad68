/// \file
/// One stage of an attention in tiles of rows (attention.cc): a function of its own on views of the tensors, which the
/// other rules schedule as they would any product or softmax, then code within the loop over tiles.
#pragma once

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

  /// Whether all tiles have `height` rows.
  bool IsFull() const { return IsConstInt(rows, height); }
};

class AttentionStage {
 public:
  /// `rows`: those that the stage computes. If the tile may have fewer (`reads_beyond`), the last one is read instead.
  AttentionStage(const Schedule& schedule, const AttentionPlan& plan, const AttentionTile& tile, PrimExpr rows,
                 bool reads_beyond = false)
      : schedule_(schedule), plan_(plan), tile_(tile), rows_(std::move(rows)), reads_beyond_(reads_beyond) {}

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
  /// Adds a block that copies the operand of a product which has the rows, to [row, depth]. Null, or why not.
  const char* AddCopy(const Block& product, const BufferLoad& operand, const Buffer& copy);
  /// The product that is added next reads the copy.
  void ReadCopy(const BufferLoad& operand, const Buffer& copy);
  /// Adds a block of the stage's own.
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
  const PrimExpr rows_;
  const bool reads_beyond_;
  std::unordered_map<const Object*, Kept> kept_;
  Array<Buffer> allocated_;
  Array<Stmt> nests_;
  std::vector<View> views_;
  BufferLoad copied_;
  Buffer copy_;
};

}  // namespace deuteron::tir
