#include "deuteron/tir/schedule/rules/attention_unit.h"

#include "deuteron/arith/analyzer.h"
#include "deuteron/ir/op.h"
#include "deuteron/tir/analysis/matrix_unit.h"
#include "deuteron/tir/block_annotations.h"

namespace deuteron::tir {
namespace {

const DataType kPacked = DataType::Int(32);

const Op& Dot() {
  static const Op dot = Op::Get("tir.dot_bf16x2");
  return dot;
}

}  // namespace

bool UnitMultiplies(const Schedule& schedule, const AttentionPlan& plan, const Target& target) {
  const auto is_rounded = [&](const Block& name) {
    const SBlock block = schedule.Get(name);
    const MatmulRoles roles = *ClassifyBlock(block).matmul;
    const auto is_narrow = [](const BufferLoad& load) { return load->dtype.is_bfloat16(); };
    return block->annotations.count(kMayRound) != 0 || (is_narrow(roles.lhs_load) && is_narrow(roles.rhs_load));
  };
  if (!FindMatrixUnit(target, Dot()) || !is_rounded(plan.scores) || !is_rounded(plan.output)) return false;
  const auto depth = AsConstInt(plan.ExtentOf(schedule, plan.scores, AttentionAxis::kDepth));
  const auto columns = AsConstInt(plan.ExtentOf(schedule, plan.output, AttentionAxis::kColumn));
  return depth && columns && FillsStep(Dot(), *depth) && *columns >= kFewestRowsOfUnit;
}

int64_t PairsOf(int64_t numbers) {
  const int64_t pairs = CeilDiv(numbers, 2), steps = CeilDiv(pairs, MatrixUnit().columns);
  return CeilDiv(pairs, steps) * steps;
}

int64_t UnitRows(int64_t least) {
  const int64_t tiles = CeilDiv(least, 2 * MatrixUnit().rows);
  return CeilDiv(least, tiles) * tiles;
}

void AddPairs(AttentionStage* stage, const Buffer& pairs, size_t axis, const Array<PrimExpr>& extents,
              const std::function<PrimExpr(const PrimExpr&, const PrimExpr&)>& value) {
  const auto dim = static_cast<int64_t>(axis), other = 1 - dim;
  const bool ends = !ExprEqual(extents[dim], arith::Analyzer().Simplify(pairs->shape[dim] * I64(2)));
  const bool other_ends = !ExprEqual(extents[other], pairs->shape[other]);
  stage->AddValues("pairs", pairs, pairs->shape, [&](const Array<Var>& vars) {
    Array<PrimExpr> index(vars.begin(), vars.end());
    const auto number_at = [&](const PrimExpr& at) {
      index.Set(dim, at);
      const PrimExpr number = CastTo(DataType::Float(32), value(index[0], index[1]));
      PrimExpr is_there = other_ends ? index[other] < extents[other] : PrimExpr();
      if (ends) is_there = other_ends ? And(is_there, at < extents[dim]) : at < extents[dim];
      return is_there.defined() ? deuteron::IfThenElse(is_there, number, MakeConst(number->dtype, 0)) : number;
    };
    const PrimExpr first = PrimExpr(vars[axis]) * I64(2);
    const PrimExpr low = number_at(first), high = number_at(first + I64(1));
    return CallIntrin("pack_bf16x2", kPacked, {low, high});
  });
}

void AddPairs(AttentionStage* stage, const Buffer& from, size_t axis, const Buffer& pairs) {
  AddPairs(stage, pairs, axis, from->shape, [&](const PrimExpr& i, const PrimExpr& j) {
    return BufferLoad(from, {i, j});
  });
}

void AddOnes(AttentionStage* stage, const Buffer& rows, int64_t first, int64_t count) {
  constexpr int64_t kOne = 0x3f80;  // as bfloat16
  const IterVar row(Range::FromMinExtent(I64(0), rows->shape[0] - I64(first)), Var("i", DataType::Int(64)),
                    IterVarType::kSpatial);
  const IterVar pair(Range::FromMinExtent(I64(0), rows->shape[1]), Var("p", DataType::Int(64)), IterVarType::kSpatial);
  const auto code = [](int64_t value) { return MakeConst(kPacked, value); };
  const PrimExpr begins = PrimExpr(pair->var) * I64(2);
  const PrimExpr last = Select(begins < I64(count), code(kOne), code(0));
  const PrimExpr ones = Select(begins + I64(1) < I64(count), code(kOne << 16 | kOne), last);
  const PrimExpr value = Select(EQ(row->var, I64(0)), ones, code(0));
  stage->AddBlock(SBlock({row, pair}, {}, {}, "ones", BufferStore(rows, value, {row->var + I64(first), pair->var})));
}

void AddProductOfPairs(AttentionStage* stage, const std::string& name, const Buffer& left, const Buffer& right,
                       const Buffer& sums) {
  const auto iter = [](const char* hint, const PrimExpr& extent, IterVarType type) {
    return IterVar(Range::FromMinExtent(I64(0), extent), Var(hint, DataType::Int(64)), type);
  };
  const IterVar row = iter("i", sums->shape[0], IterVarType::kSpatial);
  const IterVar column = iter("j", sums->shape[1], IterVarType::kSpatial);
  const IterVar pair = iter("p", left->shape[1], IterVarType::kReduce);
  const Array<PrimExpr> at{row->var, column->var};
  const PrimExpr product =
      Call(sums->dtype, Dot(), {BufferLoad(left, {row->var, pair->var}), BufferLoad(right, {pair->var, column->var})});
  stage->AddBlock(SBlock({row, column, pair}, {}, {}, name, BufferStore(sums, BufferLoad(sums, at) + product, at),
                         BufferStore(sums, MakeConst(sums->dtype, 0), at)));
}

}  // namespace deuteron::tir
