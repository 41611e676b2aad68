/// \file
/// What attention.cc makes of an attention: the stages of its tiles, in attention_steps.cc, those of its two products
/// in attention_products.cc.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "deuteron/tir/analysis/narrow_floats.h"
#include "deuteron/tir/schedule/rules/attention_stage.h"

namespace deuteron::tir {

/// Makes of a function that is an attention the loops over its tiles.
class AttentionScheduler {
 public:
  AttentionScheduler(Schedule* schedule, const Target& target, AttentionPlan plan)
      : schedule_(*schedule), target_(target), thread_(target), plan_(std::move(plan)) {
    thread_.machine.threads = 1;
    thread_.machine.expected_calls = 0;  // of a stage, one for every tile
  }

  /// Null, or why not.
  const char* Run();

 private:
  static constexpr int kRow = AttentionAxis::kRow, kKey = AttentionAxis::kKey, kColumn = AttentionAxis::kColumn;

  /// Null, or why not.
  const char* Stages(Stmt* stmt);

  /// Of a tile that has few of its rows they are computed one after the other: as many as it has room for would take
  /// longer. How many there are the run tells.
  Stmt WithFewRows(const Stmt& stages);

  /// Axes of what is of a tile, and a shape: without that of the rows where there is one.
  AttentionAxes OfTile(AttentionAxes axes) const {
    if (tile_.is_row) axes.erase(std::remove(axes.begin(), axes.end(), kRow), axes.end());
    return axes;
  }
  Array<PrimExpr> OfRows(Array<PrimExpr> shape) const {
    if (!tile_.is_row) shape.push_back(I64(tile_.height));
    return shape;
  }
  /// The index of a row at hand, of those of a column or key and it.
  Array<PrimExpr> RowOf(const Array<Var>& indices) const {
    return tile_.is_row ? Array<PrimExpr>() : Array<PrimExpr>{indices.back()};
  }
  static BufferLoad At(const Buffer& buffer, const Array<Var>& indices) {
    return BufferLoad(buffer, Array<PrimExpr>(indices.begin(), indices.end()));
  }

  void AddBuffers();
  /// Pairs of so many numbers, for each of `others`.
  Buffer PairsBuffer(const char* name, int64_t numbers, const PrimExpr& others);
  /// How many keys a block has that a matrix unit multiplies; nothing where it does not.
  std::optional<int64_t> KeysOfUnit(const PrimExpr& keys) const {
    return tile_.has_unit ? AsConstInt(keys) : std::nullopt;
  }

  Buffer WriteBuffer(const Block& block) const { return schedule_.WriteBuffer(block); }
  Buffer Masked() const { return WriteBuffer(plan_.masked.empty() ? plan_.scores : plan_.masked); }
  PrimExpr ExtentOf(const Block& name, int axis) const { return plan_.ExtentOf(schedule_, name, axis); }
  /// As many rows as a full tile has.
  PrimExpr Filled() const { return I64(tile_.height); }

  AttentionStage StageOf(const PrimExpr& rows, const PrimExpr& keys = I64(0), bool reads_beyond = false) const {
    return {schedule_, plan_, tile_, {rows, keys, reads_beyond}};
  }
  Stmt Scheduled(const AttentionStage& stage, const Array<Buffer>& inputs, const Array<Buffer>& outputs) {
    return stage.Scheduled(thread_, inputs, outputs, &allocated_);
  }

  /// The code of full tiles, of which `make` is told, and that of the last one, which may have fewer rows.
  const char* ByFullness(const std::function<const char*(bool is_full, Stmt*)>& make, Array<Stmt>* stages) const;

  /// The queries of a tile, with the rows side by side, as many as a full tile has.
  const char* Queries(Array<Stmt>* stages);

  /// Terms of rows that scores read, with the rows side by side, as many as a full tile has.
  const char* Terms(Array<Stmt>* stages);

  struct Axis {
    int axis;
    PrimExpr extent;
  };
  /// Copies what a block reads along an axis, row by row, to `copy`, where the rows lie side by side. Of elements that
  /// are transposed in registers, and rows that are all there, in one step.
  const char* BringRows(const Block& name, const BufferLoad& load, const Axis& along, bool is_full, const Buffer& copy,
                        Array<Stmt>* stages);

  /// What stages hand on is computed in float32, and not rounded in between.
  static DataType Kept(DataType dtype) { return Is16BitFloat(dtype) ? DataType::Float(32) : dtype; }

  /// Elements of 32 bits, which are transposed in registers.
  static DataType Widened(DataType dtype) {
    if (dtype.bytes() == 4) return dtype;
    return dtype.is_float() || dtype.is_bfloat16() ? DataType::Float(32) : DataType::Int(32);
  }

  /// All keys, or a loop over blocks of them and those that are left.
  const char* Blocks(Array<Stmt>* stages);

  /// The stages see buffers of as many keys as they have, in the place of those of a whole block.
  const char* OneBlock(const PrimExpr& keys, Array<Stmt>* stages);

  void Begin(Array<Stmt>* stages);

  /// Whether an index of a block counts that axis.
  bool IsAlong(int axis, const Block& name, const PrimExpr& index) const;

  /// Copies of keys or values that a product reads as scalars, for a tile or a group of them: of 16 bits they are
  /// widened, a vector at a time and in the order in which they lie; values that lie scattered are brought together.
  const char* Copy(const Block& name, const Axis& along, const PrimExpr& keys, AttentionStage* stage,
                   Array<Buffer>* inputs, Array<Stmt>* stages);

  /// Makes pairs of the keys or values of a block that a product reads, which lie along `along`: of neighbours along
  /// the keys (0) or along that (1).
  const char* Pack(const Block& name, const Axis& along, const PrimExpr& keys, size_t neighbours, const Buffer& pairs,
                   Array<Stmt>* stages);

  const char* Scores(const PrimExpr& keys, Array<Stmt>* stages);

  /// Adds the products of keys and queries to `stage`, or a stage of their own before it.
  const char* ProductsOfKeys(const PrimExpr& keys, AttentionStage* stage, Array<Buffer>* inputs, Array<Stmt>* stages);

  const char* Softmax(const PrimExpr& keys, Array<Stmt>* stages);
  /// The same in pairs for the matrix unit, which sums them up as well: as a column of the product with values.
  const char* PairedSoftmax(const PrimExpr& keys, Array<Stmt>* stages);
  /// Takes the sum from there.
  void TakeSum(Array<Stmt>* stages);
  /// Adds the maximum of what is there and of a block to `stage`, and by how much the former's sums shrink.
  void CorrectMaximum(const Buffer& of_block, const Buffer& shift, AttentionStage* stage);

  const char* Product(const PrimExpr& keys, Array<Stmt>* stages);
  /// Adds the products of values and weights, which are not divided by their sum yet, to `stage`.
  const char* ProductsOfValues(const PrimExpr& keys, const Buffer& products, AttentionStage* stage,
                               Array<Buffer>* inputs, Array<Stmt>* stages);

  /// The statement, with what it makes of `old` in the place of that.
  Stmt Updated(const Stmt& stmt, const Buffer& old, const Buffer& next);

  /// Whether what is stored in `to` is computed from the same element of `from`, which nothing reads later.
  static bool IsInStep(const Stmt& stmt, const Buffer& from, const Buffer& to);

  /// The products, divided, at the rows that there are.
  const char* Result(Array<Stmt>* stages);

  /// Where they lie: a vector of rows has a vector of sums.
  void Divide(Array<Stmt>* stages);

  const char* ResultOfRow(Array<Stmt>* stages);

  /// Of a tile with fewer rows all are transposed first: how many there are is known then.
  const char* Result(bool is_full, Stmt* stmt);

  PrimExpr Quotient(const PrimExpr& product, const PrimExpr& sum) const;

  /// The loops over the batch and tiles, or groups of them, and in them a block of all stages.
  void PutTogether(const Stmt& stages);

  Schedule& schedule_;
  const Target& target_;
  /// A tile is one thread's.
  Target thread_;
  AttentionPlan plan_;
  AttentionTile tile_;
  /// Of a tile: by depth and row; by key and row; by column and row; by row.
  Buffer queries_;
  Buffer query_pairs_;
  Buffer masked_;
  Buffer exponent_;
  Buffer products_;
  Buffer sum_;
  Buffer maximum_;
  Buffer correction_;
  /// Of the block of keys at hand, as the scores lie.
  std::vector<Buffer> copies_;
  std::vector<std::pair<AttentionPlan::RowTerm, Buffer>> terms_;
  /// What the tiles of a group have before them.
  Array<Stmt> shared_;
  /// The exponentials, where the softmax left them, or their pairs.
  Buffer weights_;
  Array<Buffer> allocated_;
};

}  // namespace deuteron::tir
