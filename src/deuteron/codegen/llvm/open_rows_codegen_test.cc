/// Products whose rows the run counts, of which those of a tile that do not exist take no time; and who widens rows of
/// 16 bits.
#include <algorithm>
#include <tuple>

#include "deuteron/codegen/llvm/kernel_test_util.h"
#include "deuteron/ir/expr_kind.h"
#include "deuteron/te/tensor.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/rules.h"
#include "deuteron/tir/transform/lower.h"
#include "deuteron/topi/nn.h"

namespace deuteron::codegen {
namespace {

constexpr int64_t kPanelOfRows = 32;

std::string Text(DataType type) { return (type.is_bfloat16() ? "bfloat" : "float") + std::to_string(type.bits()); }

/// rows × depth, brought to float32, by depth × columns, whose panels lie one after the other, and a bias.
tir::PrimFunc Product(const PrimExpr& rows, int64_t depth, int64_t columns, DataType type) {
  const te::Tensor x = te::Placeholder({rows, I64(depth)}, type, "x");
  const te::Tensor w = te::Placeholder({I64(columns / kPanelOfRows), I64(depth), I64(kPanelOfRows)}, type, "w");
  const te::Tensor bias = te::Placeholder({I64(columns)}, type, "bias");
  const tir::IterVar k = te::ReduceAxis(I64(depth), "k");
  const DataType single = DataType::Float(32);
  const te::Tensor widened = te::Compute(
      x.shape(),
      [&](const Array<tir::Var>& i) {
        return CastTo(single, x({i[0], i[1]}));
      },
      "widened");
  const te::Tensor product = te::Compute(
      {rows, I64(columns)},
      [&](const Array<tir::Var>& i) {
        const PrimExpr weight = w({FloorDiv(i[1], I64(kPanelOfRows)), k->var, FloorMod(i[1], I64(kPanelOfRows))});
        return te::Sum(widened({i[0], k->var}) * CastTo(single, weight), {k});
      },
      "product");
  const te::Tensor sum = te::Compute(
      product.shape(),
      [&](const Array<tir::Var>& i) {
        return CastTo(type, product({i[0], i[1]})) + bias({i[1]});
      },
      "sum");
  return te::CreatePrimFunc({x, w, bias, sum});
}

/// What sums of products are added up, by the conditions that hold there.
class Sums : public tir::StmtExprVisitor {
 public:
  explicit Sums(const tir::Var& rows) : rows_(rows) {}
  /// Those of tiles all of whose rows exist; of which some do, and each with a condition for its row among these; of
  /// which none may; and those that multiply by what is float16, or a byte, itself.
  int64_t whole = 0, some = 0, guarded = 0, others = 0, direct = 0;

 protected:
  void VisitFor_(const tir::ForNode* op) override {
    if (op->loop_kind == tir::ForKind::kUnrolled) unrolled_.push_back(op->loop_var.get());
    StmtExprVisitor::VisitFor_(op);
    if (op->loop_kind == tir::ForKind::kUnrolled) unrolled_.pop_back();
  }
  void VisitIfThenElse_(const tir::IfThenElseNode* op) override {
    conditions_.push_back(op->condition);
    VisitStmt(op->then_case);
    conditions_.pop_back();
    if (op->else_case.defined()) VisitStmt(op->else_case);
  }
  void VisitBufferStore_(const tir::BufferStoreNode* op) override {
    if (op->buffer->scope != "local" || op->value->kind != ExprKind::kAdd) return;
    const auto* sum = static_cast<const tir::BinaryNode*>(op->value.get());
    if (sum->b->kind != ExprKind::kMul) return;
    const auto any = [&](const auto& holds) { return std::any_of(conditions_.begin(), conditions_.end(), holds); };
    const bool is_whole = any([&](const PrimExpr& each) { return each->kind == ExprKind::kLE && Tells(each); });
    const bool is_some = any([&](const PrimExpr& each) { return each->kind != ExprKind::kLE && Tells(each); });
    const bool is_guarded = any([&](const PrimExpr& each) {
      return UsesVar(each, [&](const tir::VarNode* var) {
        return std::find(unrolled_.begin(), unrolled_.end(), var) != unrolled_.end();
      });
    });
    whole += is_whole;
    some += !is_whole && is_some;
    guarded += !is_whole && is_some && is_guarded;
    others += !is_whole && !is_some;
    deuteron::PostOrderVisit(op->value, [&](const PrimExpr& node) {
      const auto* load = node.as<tir::BufferLoadNode>();
      direct += load != nullptr && load->buffer->dtype.bytes() < 4;
    });
  }

 private:
  bool Tells(const PrimExpr& condition) const {
    return UsesVar(condition, [&](const tir::VarNode* var) { return var == rows_.get(); });
  }

  const tir::Var& rows_;
  std::vector<const tir::VarNode*> unrolled_;
  std::vector<PrimExpr> conditions_;
};

/// Of tiles that stick out only rows that exist are added up, of those that lie outside nothing is, also where these
/// tiles widen the panel that they pass by, and rows, to float32 in memory of the kernel's own.
TEST(OpenRows, WhatDoesNotExistIsNotComputed) {
  const Target target = Target::Parse("llvm -mcpu=x86-64-v4 -threads=2");
  for (const DataType type : {DataType::Float(32), DataType::Float(16), DataType::BFloat16()}) {
    for (const auto& [depth, columns] : {std::pair{64, 64}, std::pair{768, 768}, std::pair{2048, 96}}) {
      SCOPED_TRACE(Text(type) + " " + std::to_string(depth) + " x " + std::to_string(columns));
      const tir::Var rows("rows");
      const tir::PrimFunc func = tir::ApplyScheduleRules(Product(rows, depth, columns, type), target).func;
      Sums sums(rows);
      sums.VisitStmt(tir::LowerPrimFunc(func, target)->body);
      EXPECT_GT(sums.whole, 0);
      EXPECT_GT(sums.some, 0);
      EXPECT_EQ(sums.guarded, sums.some);
      EXPECT_EQ(sums.others, 0);
    }
  }
}

TEST(OpenRows, ComputeTheSame) {
  for (const DataType type : {DataType::Float(16), DataType::BFloat16()}) {
    const double tolerance = type.is_bfloat16() ? 8e-3 : 1e-3;
    for (const auto& [depth, columns] : {std::pair{64, 64}, std::pair{520, 96}}) {
      const tir::Var rows("rows");
      const tir::PrimFunc func = Product(rows, depth, columns, type);
      const Target target = Target::Parse(depth == 64 ? "llvm -mcpu=x86-64-v4 -threads=2"
                                                      : "llvm -mcpu=x86-64-v3 -threads=1 -l2-bytes=262144");
      const tir::PrimFunc scheduled = tir::ApplyScheduleRules(func, target).func;
      for (const int64_t count : {0, 1, 15, 57}) {
        SCOPED_TRACE(Text(type) + ", " + std::to_string(count) + " rows of " + std::to_string(depth));
        CheckAgainst(scheduled, func, tolerance, {{rows, I64(count)}});
      }
    }
  }
}

/// An only row passes by a panel that no other one needs: it multiplies by the weight as it is loaded, and nothing is
/// stored for later rows.
TEST(OpenRows, AnOnlyRowFillsNoPanel) {
  const Target target = Target::Parse("llvm -mcpu=x86-64-v4 -threads=2");
  for (const auto& [depth, columns] : {std::pair{64, 64}, std::pair{768, 768}}) {
    const tir::Var rows("rows");
    const tir::PrimFunc func = tir::ApplyScheduleRules(Product(rows, depth, columns, DataType::Float(16)), target).func;
    Sums sums(rows);
    sums.VisitStmt(tir::LowerPrimFunc(func, target)->body);
    EXPECT_EQ(sums.guarded, 3) << "of an only row by a panel to fill, one by a panel that is filled, and any rows";
    EXPECT_EQ(sums.direct, 1);
  }
}

/// rows × 2,048 by columns of numbers of 4 bits, those of 32 rows with one scale.
tir::PrimFunc QuantizedProduct(const tir::Var& rows, int64_t columns) {
  constexpr int64_t kDepth = 2048, kBlock = 32;
  const auto held = [&](int64_t depth, DataType dtype, const char* name) {
    return te::Placeholder({I64(columns / kPanelOfRows), I64(depth), I64(kPanelOfRows)}, dtype, name);
  };
  const te::Tensor x = te::Placeholder({rows, I64(kDepth)}, DataType::Float(32), "x");
  topi::QuantizedWeight weight;
  weight.numbers = held(kDepth / 2, DataType::UInt(8), "numbers");
  weight.has_halves = true;
  weight.depth = kDepth;
  weight.scales = held(kDepth / kBlock, DataType::Float(32), "scales");
  weight.rows = kBlock;
  weight.zero = 8;
  return te::CreatePrimFunc(
      {x, weight.numbers, weight.scales, topi::DenseQuantized(x, weight, columns, DataType::Float(32))});
}

/// Nor does it have a panel dequantised for others.
TEST(OpenRows, AnOnlyRowDequantizesNoPanel) {
  const Target target = Target::Parse("llvm -mcpu=x86-64-v4 -threads=2");
  for (const int64_t columns : {64, 768}) {
    const tir::Var rows("rows");
    const tir::PrimFunc func = tir::ApplyScheduleRules(QuantizedProduct(rows, columns), target).func;
    Sums sums(rows);
    sums.VisitStmt(tir::LowerPrimFunc(func, target)->body);
    EXPECT_EQ(sums.direct, 1);
    EXPECT_GT(sums.whole, 0);
    EXPECT_EQ(sums.others, 0);
  }
}

TEST(OpenRows, OfQuantizedWeightsComputeTheSame) {
  const tir::Var rows("rows");
  const tir::PrimFunc func = QuantizedProduct(rows, 96);
  const tir::PrimFunc scheduled = tir::ApplyScheduleRules(func, Target::Parse("llvm -mcpu=x86-64-v4 -threads=2")).func;
  for (const int64_t count : {0, 1, 2, 15, 57}) {
    SCOPED_TRACE(std::to_string(count) + " rows");
    CheckAgainst(scheduled, func, 1e-4, {{rows, I64(count)}});
  }
}

/// Threads that share panels each widen the rows for themselves: what others have widened would come from their caches.
/// They do so once, however many panels they have. Of few sums, or on one thread, rows are widened for all panels.
TEST(WidenedRows, EachThreadHasItsOwn) {
  struct Case {
    int64_t rows, depth, columns;
    const char* target;
    int64_t parallel_loops;
  };
  const Case cases[] = {{128, 512, 512, "-threads=2", 1},
                        {128, 1408, 512, "-threads=2", 1},
                        {128, 512, 512, "-threads=1", 2},
                        {1, 512, 512, "-threads=2", 2}};
  for (const auto& [rows, depth, columns, options, parallel_loops] : cases) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(depth) + " " + options);
    const Target target = Target::Parse(std::string("llvm -mcpu=x86-64-v4 ") + options);
    const tir::PrimFunc func =
        tir::ApplyScheduleRules(Product(I64(rows), depth, columns, DataType::Float(16)), target).func;
    std::vector<std::string> loops;
    tir::PostOrderVisit(func->body, [&](const ObjectRef& node) {
      const auto* loop = node.as<tir::ForNode>();
      if (loop != nullptr && loop->loop_kind == tir::ForKind::kParallel) loops.emplace_back(loop->loop_var->name_hint);
    });
    EXPECT_EQ(static_cast<int64_t>(loops.size()), parallel_loops);
  }
}

TEST(WidenedRows, ComputeTheSame) {
  for (const DataType type : {DataType::Float(16), DataType::BFloat16()}) {
    for (const auto& [rows, depth, columns] : {std::tuple{29, 520, 192}, std::tuple{40, 1408, 64}}) {
      const tir::PrimFunc func = Product(I64(rows), depth, columns, type);
      for (const char* cpu : {"x86-64-v4 -threads=2", "x86-64-v3 -threads=2 -l2-bytes=65536"}) {
        SCOPED_TRACE(Text(type) + ", " + std::to_string(rows) + " rows, " + cpu);
        const tir::PrimFunc scheduled =
            tir::ApplyScheduleRules(func, Target::Parse(std::string("llvm -mcpu=") + cpu)).func;
        CheckAgainst(scheduled, func, type.is_bfloat16() ? 8e-3 : 1e-3);
      }
    }
  }
}

}  // namespace
}  // namespace deuteron::codegen
