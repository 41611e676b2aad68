/// Bounds of buffers, declared regions of blocks and domains of iterators.
///
/// Bounds of all variables under the first assignment of the symbols decide nearly everything at once. Where they do
/// not, loops are moved one by one to whichever end drives the expression further, and what is then computed
/// at concrete values decides.
#include <functional>
#include <set>
#include <utility>

#include "deuteron/ir/expr_functor.h"
#include "deuteron/tir/analysis/expr_text.h"
#include "deuteron/tir/analysis/verify_internal.h"

namespace deuteron::tir {
namespace {

/// An expression that must be at least 0 wherever `path` leads.
struct Obligation {
  std::vector<const Frame*> path;
  PrimExpr expr;
  /// Lanes of the vector that is looked at.
  int64_t lanes = 1;
};

class WitnessFinder {
 public:
  WitnessFinder(const Obligation& obligation, const SymbolValues& symbols)
      : obligation_(obligation), instance_(symbols) {}

  /// Whether the expression can be seen to be negative; the instance then stands there.
  bool Find() {
    // Guards may keep the ends out of reach.
    for (const int64_t position : {Instance::kFirst, Instance::kLast, Instance::kMiddle}) {
      Instance::Choices start;
      for (const Frame* frame : obligation_.path) {
        if (frame->kind == Frame::Kind::kLoop) start[frame->loop] = position;
      }
      if (Descend(std::move(start), position == Instance::kFirst ? 0 : obligation_.lanes - 1)) return true;
    }
    return false;
  }
  Instance* instance() { return &instance_; }

 private:
  bool Descend(Instance::Choices choices, int64_t lane) {
    auto best = At(choices, lane);
    if (!best) return false;
    if (*best < 0) return true;
    for (const Frame* frame : obligation_.path) {
      if (frame->kind != Frame::Kind::kLoop) continue;
      for (const int64_t end : {Instance::kFirst, Instance::kLast}) {
        const int64_t before = std::exchange(choices[frame->loop], end);
        const auto value = before == end ? std::nullopt : At(choices, lane);
        if (value && *value < 0) return true;
        if (value && *value < *best) {
          best = value;
        } else {
          choices[frame->loop] = before;
        }
      }
    }
    if (obligation_.lanes == 1) return false;
    const auto value = At(choices, obligation_.lanes - 1 - lane);
    return value && *value < 0;
  }

  std::optional<int64_t> At(const Instance::Choices& choices, int64_t lane) {
    if (!instance_.Enter(obligation_.path, choices, lane)) return std::nullopt;
    return instance_.Eval(obligation_.expr);
  }

  const Obligation& obligation_;
  Instance instance_;
};

class AccessVerifier {
 public:
  AccessVerifier(const PrimFunc& func, const FunctionAccesses& accesses, Findings* findings)
      : accesses_(accesses), findings_(findings), assignments_(SymbolAssignments(func)) {}

  void Verify() {
    BoundVariables();
    for (const Frame& frame : accesses_.frames) {
      if (frame.kind == Frame::Kind::kBlock) VerifyDomains(&frame);
    }
    for (const AccessSite& site : accesses_.sites) {
      if (findings_->full()) return;
      VerifyBounds(site);
      for (const Frame* frame = site.frame; frame->kind != Frame::Kind::kRoot; frame = frame->parent) {
        if (frame->kind == Frame::Kind::kBlock) VerifyRegion(site, frame);
      }
    }
  }

 private:
  void BoundVariables() {
    for (const auto& [var, value] : assignments_[0]) intervals_.Set(var, Interval{value, value});
    for (const Frame& frame : accesses_.frames) {
      switch (frame.kind) {
        case Frame::Kind::kLoop: {
          const auto min = intervals_.Eval(frame.loop->min);
          const auto extent = intervals_.Eval(frame.loop->extent);
          std::optional<Interval> range;
          if (min && extent) range = Interval{min->min, min->max + std::max<int64_t>(extent->max, 1) - 1};
          intervals_.Set(frame.loop->loop_var, range);
          break;
        }
        case Frame::Kind::kBlock:
          for (size_t i = 0; i < frame.realize->iter_values.size(); ++i) {
            intervals_.Set(frame.realize->block->iter_vars[i]->var, intervals_.Eval(frame.realize->iter_values[i]));
          }
          break;
        case Frame::Kind::kBind:
          intervals_.Set(frame.var, intervals_.Eval(frame.expr));
          break;
        case Frame::Kind::kRoot:
        case Frame::Kind::kGuard:
          break;
      }
    }
  }

  /// Whether 0 <= expr - low and expr < high by bounds alone.
  bool IsWithin(const PrimExpr& expr, const PrimExpr& low, const PrimExpr& high) {
    const auto value = intervals_.Eval(expr);
    const auto first = intervals_.Eval(low);
    const auto end = intervals_.Eval(high);
    return value && first && end && value->min >= first->max && value->max < end->min;
  }

  /// The loops' values at which an obligation fails, under the first assignment; empty if it holds under any.
  /// `at` adds what is to be told.
  std::string Refute(const Obligation& obligation, const std::function<std::string(Instance*)>& at) {
    return UnderAllAssignments(assignments_, [&](const SymbolValues& symbols) -> std::string {
      WitnessFinder finder(obligation, symbols);
      if (!finder.Find()) return "";
      const std::string where = finder.instance()->Describe(obligation.path);
      return at(finder.instance()) + (where.empty() ? "" : ", at " + where);
    });
  }

  static std::string Number(std::optional<int64_t> value) { return value ? std::to_string(*value) : "?"; }

  void VerifyBounds(const AccessSite& site) {
    for (size_t axis = 0; axis < site.indices.size(); ++axis) {
      const PrimExpr& index = site.indices[axis];
      const PrimExpr extent = CastTo(index.dtype().element(), site.buffer->shape[axis]);
      if (IsWithin(index, MakeConst(extent.dtype(), 0), extent)) continue;
      for (const bool below : {true, false}) {
        const Obligation obligation{PathOf(site.frame), below ? index : Sub1(extent, index), index.dtype().lanes()};
        const std::string found = Refute(obligation, [&](Instance* instance) {
          return "index " + Number(instance->Eval(index)) + " of axis " + std::to_string(axis) + " is outside of [0, " +
                 Number(instance->Eval(extent)) + ")";
        });
        if (found.empty()) continue;
        findings_->Add(BlockPrefix(EnclosingBlock(site.frame)) + (site.is_store ? "writes " : "reads ") +
                       std::string(site.buffer->name) + "[" + ExprText(site.indices) + "] out of its bounds: " + found);
        return;
      }
    }
  }

  /// limit - 1 - index, lane by lane.
  static PrimExpr Sub1(const PrimExpr& limit, const PrimExpr& index) {
    return CastTo(index.dtype(), limit - 1) - index;
  }

  void VerifyRegion(const AccessSite& site, const Frame* block_frame) {
    const SBlockNode* block = block_frame->realize->block.get();
    if (block_frame->parent->kind == Frame::Kind::kRoot && block->iter_vars.empty()) return;
    const BufferInfo& info = accesses_.buffers.at(site.buffer->data.get());
    // Its own memory is nobody else's business.
    if (info.frame->IsWithin(block_frame)) return;
    // What a block reads of its own output (a sum so far, the step before in a scan) is not among its reads.
    const bool in_writes = site.is_store || (FindRegion(block->reads, site.buffer) == nullptr &&
                                             FindRegion(block->writes, site.buffer) != nullptr);
    const auto& regions = in_writes ? block->writes : block->reads;
    const char* list = in_writes ? "writes" : "reads";
    size_t count = 0;
    for (const BufferRegion& region : regions) count += SameMemory(region->buffer, site.buffer);
    if (count == 0) {
      if (!undeclared_.emplace(block, site.buffer->data.get(), site.is_store).second) return;
      findings_->Add(BlockPrefix(block_frame->realize) + (site.is_store ? "writes " : "reads ") +
                     std::string(site.buffer->name) + "[" + ExprText(site.indices) + "], but " +
                     std::string(site.buffer->name) + " is not among its " + list);
      return;
    }
    // The union of several boxes is no box, and a view of another shape cannot be compared.
    const BufferRegionNode* region = FindRegion(regions, site.buffer);
    if (count > 1 || region->region.size() != site.indices.size()) return;
    for (size_t axis = 0; axis < site.indices.size(); ++axis) {
      if (!VerifyRegionAxis(site, block_frame, region, axis, list)) return;
    }
  }

  bool VerifyRegionAxis(const AccessSite& site, const Frame* block_frame, const BufferRegionNode* region, size_t axis,
                        const char* list) {
    const PrimExpr& index = site.indices[axis];
    const Range& range = region->region[axis];
    const DataType scalar = index.dtype().element();
    const PrimExpr low = CastTo(scalar, range->min);
    const PrimExpr extent = CastTo(scalar, range->extent);
    const auto length = AsConstInt(extent);
    if (length && *length >= 1 && ExprEqual(index, low)) return true;
    const PrimExpr end = low + extent;
    if (IsWithin(index, low, end)) return true;
    for (const bool below : {true, false}) {
      const Obligation obligation{PathOf(site.frame), below ? index - CastTo(index.dtype(), low) : Sub1(end, index),
                                  index.dtype().lanes()};
      const std::string found = Refute(obligation, [&](Instance* instance) {
        return "index " + Number(instance->Eval(index)) + " of axis " + std::to_string(axis) + " is outside of [" +
               Number(instance->Eval(low)) + ", " + Number(instance->Eval(end)) + ")";
      });
      if (found.empty()) continue;
      findings_->Add(BlockPrefix(block_frame->realize) + (site.is_store ? "writes " : "reads ") +
                     std::string(site.buffer->name) + "[" + ExprText(site.indices) + "], which its " + list + " " +
                     RegionText(region->buffer, region->region) + " do not cover: " + found);
      return false;
    }
    return true;
  }

  static bool SameMemory(const Buffer& a, const Buffer& b) { return a->data.same_as(b->data); }
  static const BufferRegionNode* FindRegion(const Array<BufferRegion>& regions, const Buffer& buffer) {
    for (const BufferRegion& region : regions) {
      if (SameMemory(region->buffer, buffer)) return region.get();
    }
    return nullptr;
  }

  void VerifyDomains(const Frame* frame) {
    const SBlockRealizeNode* realize = frame->realize;
    for (size_t i = 0; i < realize->iter_values.size(); ++i) {
      const IterVar& iter = realize->block->iter_vars[i];
      const PrimExpr& value = realize->iter_values[i];
      const PrimExpr low = CastTo(value.dtype(), iter->dom->min);
      const PrimExpr end = CastTo(value.dtype(), iter->dom->min + iter->dom->extent);
      if (IsWithin(value, low, end)) continue;
      for (const bool below : {true, false}) {
        const Obligation obligation{PathOf(frame), below ? value - low : Sub1(end, value)};
        const std::string found = Refute(obligation, [&](Instance* instance) {
          return Number(instance->Eval(value)) + " is outside of [" + Number(instance->Eval(low)) + ", " +
                 Number(instance->Eval(end)) + ")";
        });
        if (found.empty()) continue;
        findings_->Add(BlockPrefix(realize) + "iterator " + std::string(iter->var->name_hint) + " is bound to " +
                       ExprText(value) + " beyond its domain: " + found);
        break;
      }
    }
  }

  const FunctionAccesses& accesses_;
  Findings* findings_;
  const std::vector<SymbolValues> assignments_;
  IntervalEvaluator intervals_;
  std::set<std::tuple<const Object*, const Object*, bool>> undeclared_;
};

}  // namespace

void VerifyAccesses(const PrimFunc& func, const FunctionAccesses& accesses, Findings* findings) {
  AccessVerifier(func, accesses, findings).Verify();
}

}  // namespace deuteron::tir
