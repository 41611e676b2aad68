#include "deuteron/tir/analysis/matrix_unit.h"

#include <algorithm>

#include "deuteron/arith/analyzer.h"
#include "deuteron/ir/op.h"
#include "deuteron/tir/analysis/factors.h"
#include "deuteron/tir/analysis/index_eval.h"
#include "deuteron/tir/functor.h"

namespace deuteron::tir {
namespace {

/// How many of the first iterations of a loop a condition holds for, `i + a < n`; null if it is no such.
PrimExpr FirstIterations(const PrimExpr& condition, const ForNode* loop) {
  const auto* less = condition.as<LTNode>();
  if (less == nullptr || StepAlong(less->a, loop->loop_var) != 1 || StepAlong(less->b, loop->loop_var) != 0)
    return PrimExpr();
  const Var& var = loop->loop_var;
  const PrimExpr first = Substitute(less->a, ExprVarMap{{var, MakeConst(var.dtype(), 0)}});
  return arith::Analyzer().Simplify(Min(loop->extent, less->b - first));
}

bool IsSerial(const ForNode* loop) {
  return loop != nullptr && loop->loop_kind == ForKind::kSerial && IsZero(loop->min) && AsConstInt(loop->extent);
}

/// Whether some iterations of the loop read the same of an operand.
bool HasTilesInCommon(const ForNode* loop, const Array<PrimExpr>& indices) {
  constexpr int64_t kMostProducts = 9;
  const int64_t extent = *AsConstInt(loop->extent);
  if (indices.size() != 1 || extent < 2 || extent > kMostProducts) return false;
  for (int64_t i = 1; i < extent; ++i) {
    for (int64_t j = 0; j < i; ++j) {
      if (ExprEqual(IndexOfProduct(indices[0], loop, i), IndexOfProduct(indices[0], loop, j))) return true;
    }
  }
  return false;
}

}  // namespace

PrimExpr IndexOfProduct(const PrimExpr& index, const ForNode* loop, int64_t product) {
  if (loop == nullptr) return index;
  const Var& var = loop->loop_var;
  return arith::Analyzer().Simplify(Substitute(index, ExprVarMap{{var, MakeConst(var.dtype(), product)}}));
}

std::optional<MatrixUnit> FindMatrixUnit(const Target& target, const Op& dot) {
  static const Op bytes = Op::Get("tir.dot_u8i8x4"), floats = Op::Get("tir.dot_bf16x2");
  const char* feature = dot.same_as(bytes) ? "amx-int8" : dot.same_as(floats) ? "amx-bf16" : nullptr;
  if (feature == nullptr || !target.HasFeature(feature) || !target.HasFeature("amx-tile")) return std::nullopt;
  return MatrixUnit();
}

bool FillsStep(const Op& dot, int64_t numbers) { return numbers >= ProductsOfDot(dot) * kFewestOfStep; }

std::optional<UnitGroups> GroupsForUnit(const Target& target, const Op& dot, const ConvGroups& conv) {
  const auto& [channels, results, taps, groups] = conv;
  const auto unit = FindMatrixUnit(target, dot);
  if (!unit) return std::nullopt;
  if (groups == 1) return FillsStep(dot, channels) ? std::optional(UnitGroups{}) : std::nullopt;
  // With less, vectors of float32 are as fast.
  constexpr double kLeastPart = 1.0 / 16;
  const int64_t least_columns = ProductsOfDot(dot) == 2 ? kFewestColumnsOfRounding : 1;
  UnitGroups best{.part = 0};
  for (int64_t merged = 1; merged <= groups && kLeastPart * static_cast<double>(merged) <= 1; ++merged) {
    const int64_t numbers = channels * merged, columns = results / groups * merged;
    const int64_t panel = PanelColumns(*unit, columns);
    const bool is_whole = groups % merged == 0 && numbers % ProductsOfDot(dot) == 0 && columns % panel == 0;
    if (!is_whole || columns * taps < least_columns || !FillsStep(dot, numbers)) continue;
    const int64_t depth = numbers / ProductsOfDot(dot);
    const double filled = static_cast<double>(DepthOfStep(*unit, depth)) / static_cast<double>(unit->columns);
    // A tile of one register of columns loads rows for one product each.
    const double shared = panel > unit->columns ? 1 : 0.5;
    const double part = filled * shared / static_cast<double>(merged);
    if (part > best.part) best = {groups / merged, part};
  }
  return best.part < kLeastPart ? std::nullopt : std::optional(best);
}

int64_t DepthOfStep(const MatrixUnit& unit, int64_t depth) {
  int64_t step = std::min(depth, unit.columns);
  while (depth % step != 0) --step;
  return step;
}

double UnitOpsPerCycle(const Machine& machine, DataType operands) {
  constexpr double kPart = 0.4;
  return kPart * machine.OpsPerCycle(operands);
}

std::optional<double> CyclesInParts(const Target& target, const ProductSize& size) {
  // Operations of the unit, all parts together, and of vectors, as they are reached.
  constexpr double kProducts = 4, kPartOfUnit = 0.5, kPartOfVectors = 0.8;
  // To make the parts of a number of the data, and of one of the weight; to move a sum to tiles and back.
  constexpr double kCyclesOfData = 1.2, kCyclesOfWeight = 0.4, kCyclesOfSum = 1.7, kMostRowsOfBlock = 128;
  // So as not to be changed for what the costs cannot tell.
  constexpr double kLeastGain = 1.15;
  if (!FindMatrixUnit(target, Op::Get("tir.dot_bf16x2"))) return std::nullopt;
  const double cycles = 2 * kProducts / kPartOfUnit / target.machine.OpsPerCycle(DataType::BFloat16()) +
                        kCyclesOfData / (size.columns * size.taps) +
                        kCyclesOfWeight / std::min(size.rows, kMostRowsOfBlock) + kCyclesOfSum / size.depth;
  const double in_vectors = 2 / kPartOfVectors / target.machine.OpsPerCycle(DataType::Float(32));
  return kLeastGain * cycles < in_vectors ? std::optional(cycles) : std::nullopt;
}

int64_t PanelColumns(const MatrixUnit& unit, int64_t columns) {
  constexpr int64_t kMostPadding = 8;  // one in so many
  const int64_t registers = (columns + unit.columns - 1) / unit.columns;
  const bool is_padded = registers % 2 != 0;
  return is_padded && registers < kMostPadding ? unit.columns : 2 * unit.columns;
}

std::optional<MatrixTile> FindMatrixTile(const ForNode* loop) {
  const auto mark = loop->annotations.find(kMatrixTile);
  if (mark == loop->annotations.end()) return std::nullopt;
  MatrixTile tile;
  const ForNode* inner = loop;
  const auto descend = [&inner]() { inner = inner->body.as<ForNode>(); };
  for (auto count = (*mark).second.cast<int64_t>(); count > 0; --count, descend()) {
    if (!IsSerial(inner)) return std::nullopt;
    tile.depth.push_back(inner);
  }
  if (!IsSerial(inner)) return std::nullopt;
  tile.row = inner;
  tile.num_rows = inner->extent;
  // The condition may stand around the columns or in them.
  Stmt body = inner->body;
  const auto open_condition = [&] {
    const auto* condition = body.as<IfThenElseNode>();
    if (condition == nullptr || condition->else_case.defined()) return true;
    tile.num_rows = FirstIterations(condition->condition, tile.row);
    body = condition->then_case;
    return tile.num_rows.defined();
  };
  if (!open_condition()) return std::nullopt;
  tile.column = body.as<ForNode>();
  if (!IsSerial(tile.column)) return std::nullopt;
  body = tile.column->body;
  if (!open_condition()) return std::nullopt;
  tile.store = body.as<BufferStoreNode>();
  const auto* sum = tile.store == nullptr ? nullptr : tile.store->value.as<AddNode>();
  const auto* c = sum == nullptr ? nullptr : sum->a.as<BufferLoadNode>();
  tile.dot = c == nullptr ? nullptr : sum->b.as<CallNode>();
  if (tile.dot == nullptr || ProductsOfDot(tile.dot->op) == 0) return std::nullopt;
  tile.a = tile.dot->args[0].as<BufferLoadNode>();
  tile.b = tile.dot->args[1].as<BufferLoadNode>();
  if (tile.a == nullptr || tile.b == nullptr || !c->buffer.same_as(tile.store->buffer) ||
      !StructuralEqual()(c->indices, tile.store->indices)) {
    return std::nullopt;
  }
  const auto step = [](const Array<PrimExpr>& indices, const ForNode* along, std::optional<int64_t> wanted,
                       int64_t* found) {
    const auto step = indices.size() == 1 ? StepAlong(indices[0], along->loop_var) : std::nullopt;
    if (step && found != nullptr) *found = *step;
    return step && (!wanted || step == wanted);
  };
  for (const ForNode* depth : tile.depth) {
    if (!step(c->indices, depth, 0, nullptr)) return std::nullopt;
  }
  const ForNode* depth = tile.depth.back();
  if (tile.depth.size() > 1) {
    const auto around = tile.depth.end() - 2;
    if (HasTilesInCommon(*around, tile.a->indices) || HasTilesInCommon(*around, tile.b->indices)) {
      tile.products = *around;
      tile.depth.erase(around);
    }
  }
  const bool fits = step(c->indices, tile.row, {}, &tile.c_stride) && step(c->indices, tile.column, 1, nullptr) &&
                    step(tile.a->indices, tile.row, {}, &tile.a_stride) && step(tile.a->indices, depth, 1, nullptr) &&
                    step(tile.a->indices, tile.column, 0, nullptr) &&
                    step(tile.b->indices, depth, {}, &tile.b_stride) &&
                    step(tile.b->indices, tile.column, 1, nullptr) && step(tile.b->indices, tile.row, 0, nullptr);
  return fits ? std::optional(tile) : std::nullopt;
}

bool SetsToZero(const Stmt& stmt, const MatrixTile& tile) {
  // Steps along which it runs, each with its length.
  std::vector<std::pair<int64_t, int64_t>> steps;
  std::vector<const ForNode*> loops;
  const Stmt* body = &stmt;
  for (const auto* loop = body->as<ForNode>(); loop != nullptr; loop = body->as<ForNode>()) {
    loops.push_back(loop);
    body = &loop->body;
  }
  const auto* store = body->as<BufferStoreNode>();
  const auto rows = AsConstInt(tile.num_rows);
  if (store == nullptr || !rows || !store->buffer.same_as(tile.store->buffer) || store->indices.size() != 1)
    return false;
  const auto* splat = store->value.as<BroadcastNode>();
  const PrimExpr value = splat == nullptr ? store->value : splat->value;
  const auto* real = value.as<FloatImmNode>();
  if (real == nullptr ? !IsZero(value) : real->value != 0) return false;
  PrimExpr first = store->indices[0];
  if (const auto* ramp = first.as<RampNode>()) {
    const auto step = AsConstInt(ramp->stride);
    if (!step) return false;
    steps.emplace_back(*step, ramp->dtype.lanes());
    first = ramp->base;
  }
  ExprVarMap origin;
  for (const ForNode* loop : loops) {
    const auto step = StepAlong(first, loop->loop_var);
    const auto extent = AsConstInt(loop->extent);
    if (!step || !extent || !IsZero(loop->min)) return false;
    steps.emplace_back(*step, *extent);
    origin[loop->loop_var] = loop->min;
  }
  // Columns follow each other, and so do rows.
  std::sort(steps.begin(), steps.end());
  int64_t columns = 1, seen_rows = 1;
  for (const auto& [step, extent] : steps) {
    if (seen_rows == 1 && step == columns && columns * extent <= *AsConstInt(tile.column->extent)) {
      columns *= extent;
    } else if (step == seen_rows * tile.c_stride) {
      seen_rows *= extent;
    } else {
      return false;
    }
  }
  if (columns != *AsConstInt(tile.column->extent) || seen_rows != *rows) return false;
  const ExprVarMap corner = {{tile.row->loop_var, MakeConst(tile.row->loop_var.dtype(), 0)},
                             {tile.column->loop_var, MakeConst(tile.column->loop_var.dtype(), 0)}};
  return arith::Analyzer().CanProveEqual(Substitute(first, origin), Substitute(tile.store->indices[0], corner));
}

namespace {

class MarkFinder : public StmtExprVisitor {
 public:
  bool found = false;

 protected:
  void VisitFor_(const ForNode* op) override {
    found = found || op->annotations.count(kMatrixTile) != 0;
    if (!found) VisitStmt(op->body);
  }
};

}  // namespace

bool UsesMatrixUnit(const IRModule& module) {
  return std::any_of(module->functions.begin(), module->functions.end(), [](const auto& entry) {
    const auto* func = entry.second.template as<PrimFuncNode>();
    if (func == nullptr) return false;
    MarkFinder finder;
    finder.VisitStmt(func->body);
    return finder.found;
  });
}

}  // namespace deuteron::tir
