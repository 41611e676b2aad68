#include "deuteron/tir/schedule/rules/common.h"

#include <algorithm>
#include <set>

#include "deuteron/tir/analysis/index_eval.h"
#include "deuteron/tir/analysis/side_by_side.h"
#include "deuteron/tir/block_annotations.h"
#include "deuteron/tir/functor.h"

namespace deuteron::tir {

bool HasPlainLoops(const Schedule& schedule, const Block& block) {
  const SBlockRealize realize = schedule.GetRealize(block);
  const std::vector<Loop> loops = schedule.GetLoops(block);
  if (loops.size() != realize->iter_values.size()) return false;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (!realize->iter_values[i].same_as(loops[i])) return false;
  }
  return true;
}

IterSplit SplitIters(const SBlock& block) {
  IterSplit split;
  for (size_t i = 0; i < block->iter_vars.size(); ++i) {
    (block->iter_vars[i]->type == IterVarType::kReduce ? split.reduce : split.spatial).push_back(i);
  }
  return split;
}

bool IsReduction(const Schedule& schedule, const Block& block) {
  return !SplitIters(schedule.Get(block)).reduce.empty();
}

ExprVarMap UnitReductions(const SBlock& block) {
  ExprVarMap unit;
  for (const IterVar& iter : block->iter_vars) {
    if (IsOne(iter->dom->extent) && iter->type == IterVarType::kReduce) unit[iter->var] = iter->dom->min;
  }
  return unit;
}

std::vector<IterVar> ItersByIndex(const SBlock& block, const Array<PrimExpr>& indices) {
  std::vector<IterVar> iters;
  for (const PrimExpr& index : indices) {
    iters.emplace_back();
    for (const IterVar& iter : block->iter_vars) {
      if (index.same_as(iter->var)) iters.back() = iter;
    }
  }
  return iters;
}

std::optional<std::vector<IterVar>> WholeAxes(const Schedule& schedule, const Block& name) {
  const SBlock block = schedule.Get(name);
  const auto update = GetReductionUpdate(block);
  const auto stored = update ? std::nullopt : GetStoredValue(block->body);
  if (!update && !stored) return std::nullopt;
  std::vector<IterVar> axes = ItersByIndex(block, update ? update->indices : stored->indices);
  const Buffer buffer = schedule.WriteBuffer(name);
  for (size_t dim = 0; dim < axes.size(); ++dim) {
    const PrimExpr& extent = buffer->shape[static_cast<int64_t>(dim)];
    const bool is_whole = axes[dim].defined() && ExprEqual(axes[dim]->dom->extent, extent);
    if (!is_whole && !IsOne(extent)) return std::nullopt;
  }
  return axes;
}

std::optional<int64_t> StepAlong(const PrimExpr& index, const IterVar& iter) { return StepAlong(index, iter->var); }

void MoveDimensionLast(Schedule* schedule, const Buffer& buffer, size_t dim) {
  std::vector<LayoutDim> layout;
  for (size_t i = 0; i < buffer->shape.size(); ++i) {
    if (i != dim) layout.push_back(LayoutDim::Whole(static_cast<int64_t>(i)));
  }
  layout.push_back(LayoutDim::Whole(static_cast<int64_t>(dim)));
  schedule->TransformLayout(buffer, layout);
}

bool WritesParameter(const Schedule& schedule, const Block& block) {
  const auto& writes = schedule.Get(block)->writes;
  return std::any_of(writes.begin(), writes.end(),
                     [&](const BufferRegion& region) { return schedule.IsParameter(region->buffer); });
}

bool IsCopy(const Schedule& schedule, const Block& block) {
  const auto stored = GetStoredValue(schedule.Get(block)->body);
  return stored && stored->value->kind == ExprKind::kBufferLoad;
}

namespace {

/// Expressions of a block that inlining may make: far more than any layer has, few enough to compile.
constexpr int64_t kMostExpressions = 4096;

/// Whether the blocks that read what `block` writes stay of a bounded size with its value in each of those places: a
/// chain of x + reverse(x) would double with every link.
bool StaysSmall(const Schedule& schedule, const Block& block) {
  const auto count = [](const SBlock& body, const Buffer& buffer) {
    std::pair<int64_t, int64_t> expressions_and_loads{0, 0};
    PostOrderVisit(body->body, [&](const ObjectRef& node) {
      const auto* load = node.as<BufferLoadNode>();
      ++expressions_and_loads.first;
      expressions_and_loads.second += load != nullptr && load->buffer.same_as(buffer);
    });
    return expressions_and_loads;
  };
  const Buffer buffer = schedule.WriteBuffer(block);
  const int64_t value = count(schedule.Get(block), buffer).first;
  for (const Block& consumer : schedule.GetConsumers(block)) {
    const auto [expressions, loads] = count(schedule.Get(consumer), buffer);
    if (expressions + loads * value > kMostExpressions) return false;
  }
  return true;
}

}  // namespace

std::vector<Block> LastFirst(const Schedule& schedule) {
  std::vector<Block> blocks = schedule.GetBlocks();
  std::reverse(blocks.begin(), blocks.end());
  return blocks;
}

bool MayInline(const Schedule& schedule, const Block& block) {
  if (schedule.Get(block)->annotations.count(kComputedOnce) != 0) return false;
  return !WritesParameter(schedule, block) && schedule.CanInline(block) && StaysSmall(schedule, block);
}

void InlineInjective(Schedule* schedule, const std::function<bool(const Block&)>& may_inline) {
  for (const Block& block : LastFirst(*schedule)) {
    if (may_inline(block) && MayInline(*schedule, block)) schedule->ComputeInline(block);
  }
}

Recomputation::Recomputation(Schedule* schedule, const Target& target)
    : schedule_(schedule), cheap_ops_(sizeof(float) * CostModel(target.machine).FlopsPerCachedByte()) {
  for (const Block& block : schedule->GetBlocks()) consumers_[block] = schedule->GetConsumers(block);
}

double Recomputation::Of(const Block& block) const {
  if (schedule_->GetConsumers(block).size() < 2) return 0;
  double ops = 0;
  for (const Block& consumer : consumers_.at(block)) {
    const auto it = repeated_.find(consumer);
    if (it != repeated_.end()) ops = std::max(ops, it->second);
  }
  return ops + OpsPerInstance(schedule_->Get(block));
}

void Recomputation::InlineIfCheap(const Block& block) {
  const double repeated = Of(block);
  if (repeated > cheap_ops_) return;
  repeated_[block] = repeated;
  schedule_->ComputeInline(block);
}

bool Recomputation::StandsForProducer(const Block& block) const {
  if (schedule_->GetConsumers(block).size() < 2) return false;
  const std::vector<Block> producers = schedule_->GetProducers(block);
  return std::any_of(producers.begin(), producers.end(), [&](const Block& producer) {
    return MayInline(*schedule_, producer) && consumers_.at(producer).size() == 1 &&
           OfOwn(producer) + Of(block) > cheap_ops_;
  });
}

double Recomputation::OfOwn(const Block& block) const {
  const auto [at, inserted] = own_.try_emplace(block, OpsPerInstance(schedule_->Get(block)));
  if (!inserted) return at->second;
  double ops = at->second;
  for (const Block& producer : schedule_->GetProducers(block)) {
    if (ops > cheap_ops_) break;
    if (consumers_.at(producer).size() == 1 && MayInline(*schedule_, producer)) ops += OfOwn(producer);
  }
  return own_[block] = ops;
}

void InlineRowStages(Schedule* schedule, const Target& target, const std::function<bool(const Block&)>& is_one_a_row) {
  Recomputation recomputation(schedule, target);
  for (const Block& block : LastFirst(*schedule)) {
    if (!MayInline(*schedule, block) || recomputation.StandsForProducer(block)) continue;
    const auto consumers = schedule->GetConsumers(block);
    const bool all_per_row = std::all_of(consumers.begin(), consumers.end(), [&](const Block& consumer) {
      return !IsReduction(*schedule, consumer) && is_one_a_row(consumer);
    });
    if (all_per_row || !is_one_a_row(block)) recomputation.InlineIfCheap(block);
  }
}

namespace {

/// What is computed for an element is not computed again for each of many elements that read it.
constexpr double kLeastOpsOfStage = 8, kLeastReadersOfStage = 8;

/// Whether elements of a block are read by many each: a gate of a channel by all of its pixels.
bool IsReadByMany(const Schedule& schedule, const Block& block) {
  const auto elements = [&](const Block& of) {
    return AssumedProduct(schedule.WriteBuffer(of)->shape, kUnknownExtent);
  };
  const std::vector<Block> consumers = schedule.GetConsumers(block);
  return std::any_of(consumers.begin(), consumers.end(), [&](const Block& consumer) {
    return elements(consumer) >= kLeastReadersOfStage * elements(block);
  });
}

/// What is computed of a block's result, and of that.
std::set<Block> BlocksBehind(const Schedule& schedule, const Block& block) {
  std::set<Block> behind;
  std::vector<Block> work = {block};
  while (!work.empty()) {
    const Block next = work.back();
    work.pop_back();
    for (const Block& consumer : schedule.GetConsumers(next)) {
      if (behind.insert(consumer).second) work.push_back(consumer);
    }
  }
  return behind;
}

}  // namespace

void InlineAllButOperands(Schedule* schedule, const Block& anchor) {
  const std::vector<Block> operands = schedule->GetProducers(anchor);
  const std::set<Block> behind = BlocksBehind(*schedule, anchor);
  InlineInjective(schedule, [&](const Block& block) {
    if (block == anchor || std::find(operands.begin(), operands.end(), block) != operands.end()) return false;
    // A stage of its own: what follows the anchor at its tile, or computes much.
    const bool is_stage = behind.count(block) > 0 || OpsPerInstance(schedule->Get(block)) >= kLeastOpsOfStage;
    return !is_stage || !IsReadByMany(*schedule, block);
  });
}

std::optional<Block> EpilogueOf(const Schedule& schedule, const Block& anchor) {
  if (WritesParameter(schedule, anchor) || IsReadByMany(schedule, anchor)) return Block();
  const Block consumer = SoleInjectiveConsumer(schedule, anchor);
  return consumer.empty() ? std::nullopt : std::optional(consumer);
}

Loop FuseAll(Schedule* schedule, const std::vector<Loop>& loops) {
  DEUTERON_CHECK(!loops.empty()) << "no loops to fuse";
  return loops.size() == 1 ? loops[0] : schedule->Fuse(loops);
}

int64_t Lanes(const Target& target) { return target.machine.Lanes(32); }

std::optional<int64_t> ConstStride(const Buffer& buffer, size_t dim) {
  if (!buffer->strides.empty()) return AsConstInt(buffer->strides[static_cast<int64_t>(dim)]);
  int64_t stride = 1;
  for (size_t inner = dim + 1; inner < buffer->shape.size(); ++inner) {
    const auto extent = AsConstInt(buffer->shape[static_cast<int64_t>(inner)]);
    if (!extent) return std::nullopt;
    stride *= *extent;
  }
  return stride;
}

std::optional<int64_t> ElementsAlong(const BufferLoad& load, const IterVar& iter) {
  int64_t elements = 0;
  for (size_t dim = 0; dim < load->indices.size(); ++dim) {
    const auto along = StepAlong(load->indices[static_cast<int64_t>(dim)], iter);
    const auto stride = along == 0 ? 0 : ConstStride(load->buffer, dim);
    if (!along || !stride) return std::nullopt;
    elements += *along * *stride;
  }
  return elements;
}

int64_t LargestDivisor(int64_t extent, int64_t most) {
  for (int64_t divisor = std::min(extent, most); divisor > 1; --divisor) {
    if (extent % divisor == 0) return divisor;
  }
  return 1;
}

Block SoleInjectiveConsumer(const Schedule& schedule, const Block& block) {
  const std::vector<Block> consumers = schedule.GetConsumers(block);
  if (consumers.size() != 1) return "";
  return ClassifyBlock(schedule.Get(consumers[0])).kind == BlockClass::kInjective ? consumers[0] : "";
}

bool AreContiguous(const SBlock& block, const IterVar& a, const IterVar& b) {
  bool contiguous = true;
  const auto uses = [](const PrimExpr& index, const IterVar& iter) {
    return UsesVar(index, [&](const VarNode* var) { return var == iter->var.get(); });
  };
  const auto check = [&](const Buffer& buffer, const Array<PrimExpr>& indices) {
    for (size_t i = 0; i < indices.size(); ++i) {
      if (indices[i].same_as(a->var)) {
        const bool next = i + 1 < indices.size() && indices[i + 1].same_as(b->var) &&
                          ExprEqual(buffer->shape[i + 1], b->dom->extent) && buffer.IsCompact();
        if (!next) contiguous = false;
        ++i;  // b is accounted for
      } else if (uses(indices[i], a) || uses(indices[i], b)) {
        contiguous = false;
      }
    }
  };
  PostOrderVisit(block->body, [&](const ObjectRef& node) {
    if (const auto* load = node.as<BufferLoadNode>()) check(load->buffer, load->indices);
    if (const auto* store = node.as<BufferStoreNode>()) check(store->buffer, store->indices);
  });
  return contiguous;
}

namespace {

/// Whether an iterator is used outside of indices (a coordinate in a condition, say): fusing would cost divisions.
bool UsedAsValue(const SBlock& block, const IterVar& iter) {
  class Finder : public StmtExprVisitor {
   public:
    explicit Finder(const VarNode* var) : var_(var) {}
    bool found = false;

   protected:
    void VisitVar_(const VarNode* op) override { found = found || op == var_; }
    void VisitBufferLoad_(const BufferLoadNode*) override {}
    void VisitBufferStore_(const BufferStoreNode* op) override { VisitExpr(op->value); }

   private:
    const VarNode* var_;
  };
  Finder finder(iter->var.get());
  finder.VisitStmt(block->body);
  return finder.found;
}

/// Has threads share the first of some loops, as many as make so many pieces: in one of all, each iteration, which may
/// be a vector, would have to tell by divisions which of each it is.
void ShareOut(Schedule* schedule, const std::vector<Loop>& loops, int64_t pieces) {
  int64_t extent = 1;
  auto last = loops.begin();
  while (last != loops.end() && extent < pieces) extent *= schedule->ConstExtent(*last++).value_or(kUnknownExtent);
  schedule->Parallel(FuseAll(schedule, {loops.begin(), last}));
}

/// All parts of a vector of numbers from what is loaded once (kPartLength).
void ScheduleParts(Schedule* schedule, const Block& block, int64_t length, const Target& target) {
  std::vector<Loop> outer = schedule->GetLoops(block);
  const auto parts = schedule->Split(outer.back(), std::vector<int64_t>{-1, length});
  outer.pop_back();
  const int64_t lanes = Lanes(target);
  Loop vector = parts[1];
  if (length > lanes) {
    const auto split = schedule->Split(vector, std::vector<int64_t>{-1, lanes});
    outer.push_back(split[0]);
    vector = split[1];
  }
  std::vector<Loop> order = outer;
  order.insert(order.end(), {parts[0], vector});
  schedule->Reorder(order);
  schedule->Unroll(parts[0]);
  schedule->Vectorize(vector);
  if (length > lanes) outer.pop_back();
  if (!outer.empty()) schedule->Parallel(FuseAll(schedule, outer));
}

}  // namespace

void ScheduleSpatial(Schedule* schedule, const Block& block, const Target& target) {
  std::vector<Loop> loops = schedule->GetLoops(block);
  const auto& annotations = schedule->Get(block)->annotations;
  if (const auto length = annotations.find(kPartLength); length != annotations.end())
    return ScheduleParts(schedule, block, (*length).second.cast<int64_t>(), target);
  if (loops.empty() || ScheduleTransposition(schedule, block, target)) return;
  const SBlock body = schedule->Get(block);
  const int64_t lanes = Lanes(target);

  // The longest run of axes at the end that is contiguous everywhere is the vector's; what is left is outer.
  size_t first_inner = loops.size() - 1;
  while (first_inner > 0 && AreContiguous(body, body->iter_vars[first_inner - 1], body->iter_vars[first_inner]) &&
         !UsedAsValue(body, body->iter_vars[first_inner - 1]) && !UsedAsValue(body, body->iter_vars[first_inner])) {
    --first_inner;
  }
  const Loop inner = FuseAll(schedule, {loops.begin() + static_cast<int64_t>(first_inner), loops.end()});
  std::vector<Loop> outer(loops.begin(), loops.begin() + static_cast<int64_t>(first_inner));

  const auto extent = schedule->ConstExtent(inner);
  if (extent && *extent <= lanes) {
    if (*extent > 1) schedule->Vectorize(inner);
    if (!outer.empty()) ShareOut(schedule, outer, CostModel(target.machine).EnoughPieces());
    return;
  }
  // Not of short axes, of which much would be tail.
  int64_t stretch = VectorsSideBySide(body->body, target.machine) * lanes;
  const auto last = AsConstInt(body->iter_vars.back()->dom->extent);
  const bool divides = !extent && last && *last % stretch == 0;
  if (!divides && (!extent || *extent < 8 * stretch)) stretch = lanes;
  const std::vector<Loop> split = schedule->Split(inner, std::vector<int64_t>{-1, stretch});
  schedule->Vectorize(split[1]);
  // With few outer iterations, threads share the inner axis too.
  int64_t outer_extent = 1;
  for (const Loop& loop : outer) outer_extent *= schedule->ConstExtent(loop).value_or(kUnknownExtent);
  if (outer_extent >= CostModel(target.machine).EnoughPieces()) {
    schedule->Parallel(FuseAll(schedule, outer));
    return;
  }
  outer.push_back(split[0]);
  schedule->Parallel(FuseAll(schedule, outer));
}

void VectorizeInner(Schedule* schedule, const Block& block, size_t first, int64_t lanes) {
  const std::vector<Loop> loops = schedule->GetLoops(block);
  if (loops.size() <= first) return;
  const Loop axis = FuseAll(schedule, {loops.begin() + static_cast<int64_t>(first), loops.end()});
  const auto extent = schedule->ConstExtent(axis);
  if (extent && *extent == 1) return;
  if (extent && *extent <= lanes) {
    schedule->Vectorize(axis);
    return;
  }
  schedule->Vectorize(schedule->Split(axis, std::vector<int64_t>{-1, lanes})[1]);
}

void SplitByQuotient(Schedule* schedule, const Block& name,
                     const std::function<bool(size_t axis, int64_t length)>& wanted) {
  const SBlock block = schedule->Get(name);
  std::optional<std::pair<size_t, int64_t>> split;
  PostOrderVisit(block->body, [&](const ObjectRef& node) {
    const auto* quotient = node.as<FloorDivNode>();
    if (quotient == nullptr) return;
    const auto length = AsConstInt(quotient->b);
    for (size_t i = 0; length && i < block->iter_vars.size(); ++i) {
      const auto extent = AsConstInt(block->iter_vars[i]->dom->extent);
      if (quotient->a.same_as(block->iter_vars[i]->var) && extent && *length > 0 && *extent % *length == 0 &&
          wanted(i, *length)) {
        split = {i, *length};
      }
    }
  });
  if (split) schedule->SplitBlockIter(name, split->first, split->second);
}

}  // namespace deuteron::tir
