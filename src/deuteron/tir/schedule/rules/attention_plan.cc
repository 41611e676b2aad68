#include "deuteron/tir/schedule/rules/attention_plan.h"

#include <algorithm>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/softmax.h"

namespace deuteron::tir {
namespace {

constexpr const char* kNoSoftmax = "what is between its products is no softmax";
constexpr const char* kOtherAxes = "its stages are not along the same rows and keys";

/// The expression with the values of what it binds.
PrimExpr WithoutLets(PrimExpr value) {
  while (const auto* let = value.as<LetNode>()) value = Substitute(let->body, {{let->var, let->value}});
  return value;
}

class AttentionPlanner {
 public:
  explicit AttentionPlanner(Schedule* schedule) : schedule_(*schedule) {}

  AttentionPlan Run() {
    plan_.why_not = FindBlocks();
    if (plan_.why_not == nullptr) plan_.why_not = FindAxes();
    return std::move(plan_);
  }

 private:
  const char* FindBlocks() {
    for (const Block& block : schedule_.GetBlocks()) {
      if (!HasPlainLoops(schedule_, block)) return "its loops are not those of its blocks";
    }
    InlineInjective(&schedule_, [&](const Block& block) { return IsCopy(schedule_, block) && !CopiesComputed(block); });
    for (const Block& block : schedule_.GetBlocks()) {
      if (const char* why = FindRole(block)) return why;
    }
    if (plan_.maximum.empty() || plan_.sum.empty()) return "it has no softmax";
    if (plan_.scores.empty() || plan_.output.empty()) return "it has no two products";
    for (const Block& block : schedule_.GetProducers(plan_.maximum)) {
      if (ClassifyBlock(schedule_.Get(block)).kind == BlockClass::kInjective) plan_.masked = block;
    }
    const auto summed = schedule_.GetProducers(plan_.sum);
    const auto weights = schedule_.GetProducers(plan_.output);
    if (summed.size() != 1 || weights.size() != 1) return kNoSoftmax;
    plan_.exponent = summed[0];
    plan_.weights = weights[0];
    InlineInjective(&schedule_, [&](const Block& block) {
      return block != plan_.weights && block != plan_.exponent && block != plan_.masked;
    });
    if (!IsSoftmax()) return kNoSoftmax;
    if (!ReadBy(plan_.weights, {plan_.output}) || !ReadBy(plan_.sum, {plan_.weights}) ||
        !ReadBy(plan_.maximum, {plan_.exponent}) || !ReadBy(plan_.exponent, {plan_.sum, plan_.weights}) ||
        !ReadBy(plan_.scores, plan_.masked.empty() ? std::vector<Block>{plan_.maximum, plan_.exponent}
                                                   : std::vector<Block>{plan_.masked}) ||
        (!plan_.masked.empty() && !ReadBy(plan_.masked, {plan_.maximum, plan_.exponent})))
      return "values within it are used elsewhere";
    return FindEpilogue();
  }

  /// Whether a copy is of what was computed element by element: that is computed where the copy is, in the copy's shape
  /// (scores that are masked as those of several windows).
  bool CopiesComputed(const Block& copy) const {
    for (const Block& block : schedule_.GetProducers(copy)) {
      if (ClassifyBlock(schedule_.Get(block)).kind != BlockClass::kInjective) continue;
      if (!IsCopy(schedule_, block) || CopiesComputed(block)) return true;
    }
    return false;
  }

  const char* FindRole(const Block& name) {
    const SBlock block = schedule_.Get(name);
    const BlockClass kind = ClassifyBlock(block).kind;
    if (kind == BlockClass::kInjective) return nullptr;
    const auto update = GetReductionUpdate(block);
    Block* role = nullptr;
    if (kind == BlockClass::kMatmul) {
      role = schedule_.GetProducers(name).empty() ? &plan_.scores : &plan_.output;
    } else if (kind == BlockClass::kReduction && update && AsLoad(update->source).defined()) {
      if (update->combiner == ExprKind::kMax) role = &plan_.maximum;
      if (update->combiner == ExprKind::kAdd) role = &plan_.sum;
    }
    if (role == nullptr || !role->empty()) return "it has other stages beside two products and a softmax";
    *role = name;
    return nullptr;
  }

  /// Whether the blocks between the products compute one, for rows without a NaN perhaps.
  bool IsSoftmax() {
    const auto stored = GetStoredValue(schedule_.Get(plan_.exponent)->body);
    static const Op exp = Op::Get("tir.exp");
    if (!stored) return false;
    const PrimExpr exponential = WithDenormals(WithoutLets(stored->value));
    const auto* call = exponential.as<CallNode>();
    const auto* shifted =
        call != nullptr && call->op.same_as(exp) ? WithoutCasts(call->args[0]).as<SubNode>() : nullptr;
    if (shifted == nullptr || !Reads(shifted->a, MaskedBuffer()) ||
        !Reads(shifted->b, schedule_.WriteBuffer(plan_.maximum)))
      return false;
    const auto weight = GetStoredValue(schedule_.Get(plan_.weights)->body);
    if (!weight) return false;
    PrimExpr value = WithoutCasts(WithoutLets(weight->value));
    if (const auto* choice = value.as<SelectNode>()) {
      static const Op isnan = Op::Get("tir.isnan");
      const auto* test = choice->condition.as<CallNode>();
      const auto* zero = choice->true_value.as<FloatImmNode>();
      if (test == nullptr || !test->op.same_as(isnan) || zero == nullptr || zero->value != 0 ||
          !ExprEqual(test->args[0], choice->false_value))
        return false;
      plan_.is_guarded = true;
      value = WithoutCasts(choice->false_value);
    }
    const auto* quotient = value.as<DivNode>();
    return quotient != nullptr && Reads(quotient->a, schedule_.WriteBuffer(plan_.exponent)) &&
           Reads(quotient->b, schedule_.WriteBuffer(plan_.sum));
  }

  const char* FindEpilogue() {
    if (!WritesParameter(schedule_, plan_.output)) {
      plan_.epilogue = SoleInjectiveConsumer(schedule_, plan_.output);
      if (plan_.epilogue.empty() || !WritesParameter(schedule_, plan_.epilogue))
        return "its result is used by several, or not elementwise";
      SplitByQuotient(&schedule_, plan_.epilogue, [](size_t, int64_t) { return true; });
    }
    const size_t expected = 6 + (plan_.masked.empty() ? 0 : 1) + (plan_.epilogue.empty() ? 0 : 1);
    return schedule_.GetBlocks().size() == expected ? nullptr : "it has other stages beside two products and a softmax";
  }

  bool ReadBy(const Block& block, std::vector<Block> readers) const {
    if (WritesParameter(schedule_, block)) return false;
    std::vector<Block> consumers = schedule_.GetConsumers(block);
    std::sort(consumers.begin(), consumers.end());
    std::sort(readers.begin(), readers.end());
    return consumers == readers;
  }

  static bool Reads(const PrimExpr& value, const Buffer& buffer) {
    const BufferLoad load = AsLoad(value);
    return load.defined() && load->buffer.same_as(buffer);
  }

  // ----- Axes.

  const char* FindAxes() {
    const SBlock block = schedule_.Get(plan_.output);
    const MatmulRoles roles = *ClassifyBlock(block).matmul;
    const Buffer weights = schedule_.WriteBuffer(plan_.weights);
    const bool weights_are_lhs = roles.lhs_load->buffer.same_as(weights);
    if (!weights_are_lhs && !roles.rhs_load->buffer.same_as(weights)) return kOtherAxes;
    AttentionAxes axes(block->iter_vars.size(), AttentionAxis::kUnit);
    const auto name = [&](const std::vector<size_t>& iters, int axis) {
      int count = 0;
      for (const size_t i : iters) {
        if (IsOne(block->iter_vars[static_cast<int64_t>(i)]->dom->extent)) continue;
        axes[i] = axis;
        ++count;
      }
      return count;
    };
    // Heads that share all keys and values are a batch, too, beside the rows of each.
    std::vector<size_t> batch = roles.batch, rows = weights_are_lhs ? roles.m : roles.n;
    while (!rows.empty() && IsOne(block->iter_vars[static_cast<int64_t>(rows.back())]->dom->extent)) rows.pop_back();
    if (rows.size() > 1) batch.insert(batch.end(), rows.begin(), rows.end() - 1);
    for (const size_t i : batch) {
      const PrimExpr& extent = block->iter_vars[static_cast<int64_t>(i)]->dom->extent;
      if (IsOne(extent)) continue;
      axes[i] = AttentionAxis::kBatch + static_cast<int>(plan_.batch.size());
      plan_.batch.push_back(extent);
    }
    if (!rows.empty()) axes[rows.back()] = AttentionAxis::kRow;
    if (name(weights_are_lhs ? roles.n : roles.m, AttentionAxis::kColumn) != 1 ||
        name(roles.k, AttentionAxis::kKey) != 1)
      return "its products have not one axis of keys and columns each";
    plan_.rows = rows.empty() ? I64(1) : ExtentOf(block, axes, AttentionAxis::kRow);
    plan_.keys = ExtentOf(block, axes, AttentionAxis::kKey);
    plan_.iters.emplace(plan_.output, axes);
    const bool known = TakeReads(plan_.output, weights) && TakeWrites(plan_.output) && NameIters(plan_.weights) &&
                       TakeReads(plan_.weights, schedule_.WriteBuffer(plan_.exponent)) &&
                       TakeReads(plan_.weights, schedule_.WriteBuffer(plan_.sum)) && NameIters(plan_.exponent) &&
                       NameIters(plan_.sum) && TakeReads(plan_.exponent, schedule_.WriteBuffer(plan_.maximum)) &&
                       TakeReads(plan_.exponent, MaskedBuffer()) && NameIters(plan_.maximum) &&
                       TakeReads(plan_.maximum, MaskedBuffer()) &&
                       TakeReads(plan_.sum, schedule_.WriteBuffer(plan_.exponent)) && NameScores() && NameEpilogue();
    if (!known) return kOtherAxes;
    // A softmax along an axis of one element would leave the keys as they are.
    if (!ReducesKeys(plan_.maximum) || !ReducesKeys(plan_.sum)) return "its softmax is not along the keys";
    // One more key that has no value, a sink, is a part of the softmax alone.
    for (const Block& name : {plan_.scores, plan_.maximum, plan_.exponent, plan_.sum, plan_.weights}) {
      if (!arith::Analyzer().CanProveEqual(plan_.ExtentOf(schedule_, name, AttentionAxis::kKey), plan_.keys))
        return "its softmax has other keys than its products";
    }
    return nullptr;
  }

  bool ReducesKeys(const Block& name) const {
    const SBlock block = schedule_.Get(name);
    const AttentionAxes& axes = plan_.iters.at(name);
    for (size_t i = 0; i < axes.size(); ++i) {
      const bool reduces = block->iter_vars[static_cast<int64_t>(i)]->type == IterVarType::kReduce;
      if (axes[i] == AttentionAxis::kKey && !reduces) return false;
    }
    return true;
  }

  Buffer MaskedBuffer() const { return schedule_.WriteBuffer(plan_.masked.empty() ? plan_.scores : plan_.masked); }

  static PrimExpr ExtentOf(const SBlock& block, const AttentionAxes& axes, int axis) {
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i] == axis) return block->iter_vars[static_cast<int64_t>(i)]->dom->extent;
    }
    return PrimExpr();
  }

  /// The axes of plain indices in a block whose iterators are known.
  std::optional<AttentionAxes> AxesOf(const SBlock& block, const AttentionAxes& iters,
                                      const Array<PrimExpr>& indices) const {
    AttentionAxes axes;
    for (const PrimExpr& index : indices) {
      std::optional<int> axis;
      if (AsConstInt(index)) axis = AttentionAxis::kUnit;
      for (size_t i = 0; i < iters.size(); ++i) {
        if (index.same_as(block->iter_vars[static_cast<int64_t>(i)]->var)) axis = iters[i];
      }
      if (!axis) return std::nullopt;
      axes.push_back(*axis);
    }
    return axes;
  }

  /// Notes the axes of a buffer that the block reads, everywhere the same.
  bool TakeReads(const Block& name, const Buffer& buffer) {
    const SBlock block = schedule_.Get(name);
    bool same = true;
    PostOrderVisit(block->body, [&](const ObjectRef& node) {
      const auto* load = node.as<BufferLoadNode>();
      if (load == nullptr || !load->buffer.same_as(buffer)) return;
      const auto axes = AxesOf(block, plan_.iters.at(name), load->indices);
      same = same && axes && plan_.buffers.try_emplace(buffer.get(), *axes).first->second == *axes;
    });
    return same;
  }

  bool TakeWrites(const Block& name) {
    const auto update = GetReductionUpdate(schedule_.Get(name));
    const auto axes = AxesOf(schedule_.Get(name), plan_.iters.at(name), update->indices);
    return axes && plan_.buffers.try_emplace(update->buffer.get(), *axes).first->second == *axes;
  }

  /// Names the iterators of a block by the buffer that it writes; the one that it reduces over is that of keys.
  bool NameIters(const Block& name, int reduced = AttentionAxis::kKey) {
    const SBlock block = schedule_.Get(name);
    Array<PrimExpr> indices;
    if (const auto update = GetReductionUpdate(block)) {
      indices = update->indices;
    } else if (const auto stored = GetStoredValue(block->body)) {
      indices = stored->indices;
    }
    const auto known = plan_.buffers.find(schedule_.WriteBuffer(name).get());
    if (known == plan_.buffers.end() || known->second.size() != indices.size()) return false;
    AttentionAxes axes(block->iter_vars.size(), AttentionAxis::kUnit);
    for (size_t i = 0; i < axes.size(); ++i) {
      const IterVar& iter = block->iter_vars[static_cast<int64_t>(i)];
      if (IsOne(iter->dom->extent)) continue;
      if (iter->type == IterVarType::kReduce) {
        axes[i] = reduced;
        continue;
      }
      for (size_t dim = 0; dim < indices.size(); ++dim) {
        if (indices[static_cast<int64_t>(dim)].same_as(iter->var)) axes[i] = known->second[dim];
      }
      if (axes[i] == AttentionAxis::kUnit) return false;
    }
    plan_.iters.emplace(name, std::move(axes));
    return true;
  }

  /// One operand has the rows, the other the keys.
  bool NameScores() {
    if (!plan_.masked.empty()) {
      if (!NameIters(plan_.masked) || !TakeReads(plan_.masked, schedule_.WriteBuffer(plan_.scores))) return false;
    }
    if (!NameIters(plan_.scores, AttentionAxis::kDepth)) return false;
    const SBlock block = schedule_.Get(plan_.scores);
    const AttentionAxes& axes = plan_.iters.at(plan_.scores);
    if (std::count(axes.begin(), axes.end(), AttentionAxis::kDepth) != 1) return false;
    const MatmulRoles roles = *ClassifyBlock(block).matmul;
    const auto uses = [&](const BufferLoad& load, int axis) {
      return std::any_of(load->indices.begin(), load->indices.end(), [&](const PrimExpr& index) {
        return UsesVar(index, [&](const VarNode* var) {
          for (size_t i = 0; i < axes.size(); ++i) {
            if (axes[i] == axis && var == block->iter_vars[static_cast<int64_t>(i)]->var.get()) return true;
          }
          return false;
        });
      });
    };
    const int row = AttentionAxis::kRow, key = AttentionAxis::kKey;
    const bool has_rows = std::find(axes.begin(), axes.end(), row) != axes.end();
    const auto has_row = [&](const BufferLoad& load) { return !uses(load, key) && (uses(load, row) || !has_rows); };
    const auto has_key = [&](const BufferLoad& load) { return uses(load, key) && !uses(load, row); };
    if (has_row(roles.lhs_load) && has_key(roles.rhs_load)) plan_.queries = roles.lhs_load;
    if (has_key(roles.lhs_load) && has_row(roles.rhs_load)) plan_.queries = roles.rhs_load;
    return plan_.queries.defined();
  }

  /// It reads the sum at its own iterators, and writes where it likes. Rows that it does not read, which a slice leaves
  /// out, are not computed; it reads all else.
  bool NameEpilogue() {
    if (plan_.epilogue.empty()) return true;
    const SBlock block = schedule_.Get(plan_.epilogue);
    const Buffer sum = schedule_.WriteBuffer(plan_.output);
    const AttentionAxes& dims = plan_.buffers.at(sum.get());
    AttentionAxes axes(block->iter_vars.size(), AttentionAxis::kUnit);
    PostOrderVisit(block->body, [&](const ObjectRef& node) {
      const auto* load = node.as<BufferLoadNode>();
      if (load == nullptr || !load->buffer.same_as(sum)) return;
      for (size_t dim = 0; dim < dims.size(); ++dim) {
        for (size_t i = 0; i < axes.size(); ++i) {
          const Var& var = block->iter_vars[static_cast<int64_t>(i)]->var;
          if (load->indices[static_cast<int64_t>(dim)].same_as(var)) axes[i] = dims[dim];
        }
      }
    });
    for (size_t i = 0; i < axes.size(); ++i) {
      const bool is_one = IsOne(block->iter_vars[static_cast<int64_t>(i)]->dom->extent);
      if (is_one != (axes[i] == AttentionAxis::kUnit)) return false;
    }
    for (size_t i = 0; i < axes.size(); ++i) {
      const PrimExpr& extent = block->iter_vars[static_cast<int64_t>(i)]->dom->extent;
      if (axes[i] == AttentionAxis::kRow) {
        plan_.rows = extent;
      } else if (axes[i] != AttentionAxis::kUnit &&
                 !arith::Analyzer().CanProveEqual(extent, plan_.ExtentOf(schedule_, plan_.output, axes[i]))) {
        return false;
      }
    }
    plan_.iters.emplace(plan_.epilogue, std::move(axes));
    return TakeReads(plan_.epilogue, sum);
  }

  Schedule& schedule_;
  AttentionPlan plan_;
};

}  // namespace

PrimExpr AttentionPlan::ExtentOf(const Schedule& schedule, const Block& name, int axis) const {
  const AttentionAxes& axes = iters.at(name);
  const auto position = std::find(axes.begin(), axes.end(), axis);
  return position == axes.end() ? I64(1) : schedule.Get(name)->iter_vars[position - axes.begin()]->dom->extent;
}

BufferLoad AttentionPlan::OtherOperand(const Schedule& schedule, const Block& name) const {
  const MatmulRoles roles = *ClassifyBlock(schedule.Get(name)).matmul;
  const auto has_rows = [&](const BufferLoad& load) {
    return load.same_as(queries) || load->buffer.same_as(schedule.WriteBuffer(weights));
  };
  return has_rows(roles.lhs_load) ? roles.rhs_load : roles.lhs_load;
}

AttentionPlan PlanAttention(Schedule* schedule) { return AttentionPlanner(schedule).Run(); }

}  // namespace deuteron::tir
