/// Loops whose iterations may run at once.
///
/// A race is two iterations of such a loop, at equal positions of the loops around it, that touch one element of memory
/// which both can see, one of them writing (verify_meetings.cc); of vectors at their first lanes.
#include <algorithm>
#include <set>
#include <unordered_set>

#include "deuteron/ir/expr_functor.h"
#include "deuteron/tir/analysis/expr_text.h"
#include "deuteron/tir/analysis/verify_internal.h"

namespace deuteron::tir {
namespace {

bool StartsWith(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

bool IsConcurrent(const ForNode* loop) {
  switch (loop->loop_kind) {
    case ForKind::kSerial:
    case ForKind::kUnrolled:
      return false;
    case ForKind::kParallel:
    case ForKind::kVectorized:
    case ForKind::kThreadBinding:
      return !IsOne(loop->extent);
  }
  return false;
}
bool IsThreadIdx(const ForNode* loop) {
  return loop->loop_kind == ForKind::kThreadBinding && StartsWith(std::string(loop->thread_tag), "threadIdx");
}

std::string LoopText(const ForNode* loop) {
  std::string kind = "parallel";
  if (loop->loop_kind == ForKind::kVectorized) kind = "vectorized";
  if (loop->loop_kind == ForKind::kThreadBinding) kind = std::string(loop->thread_tag);
  return kind + " loop " + std::string(loop->loop_var->name_hint);
}

/// Whether each iteration of a loop of this kind has its own copy of such memory.
bool IsPrivateScope(const std::string& scope, const ForNode* loop) {
  if (loop->loop_kind != ForKind::kThreadBinding) return false;
  if (StartsWith(scope, "shared")) return !IsThreadIdx(loop);
  return scope != "global" && !scope.empty();
}

class RaceVerifier {
 public:
  RaceVerifier(const PrimFunc& func, const FunctionAccesses& accesses, Findings* findings)
      : accesses_(accesses), findings_(findings), assignments_(SymbolAssignments(func)) {}

  void Verify() {
    for (const Frame& frame : accesses_.frames) {
      if (frame.kind == Frame::Kind::kBlock) VerifyReductions(&frame);
    }
    for (const Frame& frame : accesses_.frames) {
      if (frame.kind == Frame::Kind::kLoop && IsConcurrent(frame.loop)) loops_.insert(&frame);
    }
    if (loops_.empty()) return;
    for (size_t i = 0; i < accesses_.sites.size() && !findings_->full(); ++i) {
      if (accesses_.sites[i].is_store) VerifyStore(i);
    }
  }

 private:
  // ----- Reductions over a concurrent loop, as blocks say it.

  void VerifyReductions(const Frame* block_frame) {
    const SBlockRealizeNode* realize = block_frame->realize;
    for (size_t i = 0; i < realize->iter_values.size(); ++i) {
      if (realize->block->iter_vars[i]->type != IterVarType::kReduce) continue;
      std::unordered_set<const Object*> vars;
      AddVars(realize->iter_values[i], &vars);
      for (const Frame* frame = block_frame->parent; frame->kind != Frame::Kind::kRoot; frame = frame->parent) {
        if (frame->kind == Frame::Kind::kBlock) {
          // Through the iterators of the blocks around it.
          for (size_t k = 0; k < frame->realize->iter_values.size(); ++k) {
            if (vars.count(frame->realize->block->iter_vars[k]->var.get()))
              AddVars(frame->realize->iter_values[k], &vars);
          }
        } else if (frame->kind == Frame::Kind::kBind) {
          if (vars.count(frame->var.get())) AddVars(frame->expr, &vars);
        } else if (frame->kind == Frame::Kind::kLoop && IsConcurrent(frame->loop) &&
                   vars.count(frame->loop->loop_var.get())) {
          ReportReduction(realize, realize->block->iter_vars[i], frame);
        }
      }
    }
  }

  static void AddVars(const PrimExpr& expr, std::unordered_set<const Object*>* vars) {
    for (const Var& var : FreeVars(expr)) vars->insert(var.get());
  }

  void ReportReduction(const SBlockRealizeNode* realize, const IterVar& iter, const Frame* loop) {
    if (IsThreadIdx(loop->loop)) return;
    for (const BufferRegion& region : realize->block->writes) {
      if (IsPrivateScope(std::string(region->buffer->scope), loop->loop) || IsAllocatedWithin(region->buffer, loop))
        continue;
      if (!reported_.emplace(loop, region->buffer->data.get()).second) continue;
      findings_->Add(BlockPrefix(realize) + "race: the " + LoopText(loop->loop) + " drives the reduction iterator " +
                     std::string(iter->var->name_hint) + ", so its iterations update the same elements of " +
                     RegionText(region->buffer, region->region));
    }
  }

  // ----- Two iterations, one element.

  bool IsAllocatedWithin(const Buffer& buffer, const Frame* loop) const {
    const auto it = accesses_.buffers.find(buffer->data.get());
    return it != accesses_.buffers.end() && it->second.frame != nullptr && it->second.frame->IsWithin(loop);
  }

  void VerifyStore(size_t index) {
    const AccessSite& store = accesses_.sites[index];
    const BufferInfo& info = accesses_.buffers.at(store.buffer->data.get());
    for (const Frame* frame = store.frame; frame->kind != Frame::Kind::kRoot; frame = frame->parent) {
      if (!loops_.count(frame) || reported_.count({frame, store.buffer->data.get()})) continue;
      if (info.frame->IsWithin(frame) || IsPrivateScope(std::string(store.buffer->scope), frame->loop)) continue;
      if (IsCooperative(store, frame)) continue;
      if (!info.is_param && IsUsedOnlyWithin(info, frame)) continue;
      VerifyPairs(index, info, frame);
    }
  }

  /// Threads that compute a reduction together, or store the same value: what lowering makes a single store of.
  bool IsCooperative(const AccessSite& store, const Frame* loop) const {
    if (loop->loop->loop_kind != ForKind::kThreadBinding) return false;
    std::unordered_set<const Object*> vars{loop->loop->loop_var.get()};
    bool reduces = false;
    for (const Frame* frame : PathOf(store.frame)) {
      if (frame->depth <= loop->depth) continue;
      if (frame->kind == Frame::Kind::kBind && Uses(frame->expr, vars)) vars.insert(frame->var.get());
      if (frame->kind != Frame::Kind::kBlock) continue;
      for (size_t i = 0; i < frame->realize->iter_values.size(); ++i) {
        if (!Uses(frame->realize->iter_values[i], vars)) continue;
        const IterVar& iter = frame->realize->block->iter_vars[i];
        reduces |= iter->type == IterVarType::kReduce;
        vars.insert(iter->var.get());
      }
    }
    if (IsThreadIdx(loop->loop) && reduces) return true;
    bool reads_own = false;
    PostOrderVisit(store.value, [&](const PrimExpr& node) {
      const auto* load = node.as<BufferLoadNode>();
      reads_own |= load != nullptr && load->buffer->data.same_as(store.buffer->data);
    });
    return !reads_own && !Uses(store.value, vars);
  }
  static bool Uses(const PrimExpr& expr, const std::unordered_set<const Object*>& vars) {
    return UsesVar(expr, [&](const VarNode* var) { return vars.count(var) != 0; });
  }

  /// An intermediate buffer that lives within one iteration is given to each of them by PlaceBuffers.
  bool IsUsedOnlyWithin(const BufferInfo& info, const Frame* loop) const {
    return std::all_of(info.sites.begin(), info.sites.end(),
                       [&](size_t site) { return accesses_.sites[site].frame->IsWithin(loop); });
  }

  void VerifyPairs(size_t index, const BufferInfo& info, const Frame* loop) {
    constexpr int kMaxPairs = 16;
    int pairs = 0;
    const auto check = [&](size_t other) {
      if (other < index && accesses_.sites[other].is_store) return false;  // seen the other way round
      if (!accesses_.sites[other].frame->IsWithin(loop)) return false;
      return ++pairs <= kMaxPairs && VerifyPair(accesses_.sites[index], accesses_.sites[other], loop);
    };
    if (check(index)) return;
    for (const size_t other : info.sites) {
      if (other != index && check(other)) return;
    }
  }

  bool VerifyPair(const AccessSite& store, const AccessSite& other, const Frame* loop) {
    if (store.indices.size() != other.indices.size()) return false;
    const std::string found = UnderAllAssignments(
        assignments_, [&](const SymbolValues& symbols) { return FindMeeting(store, other, loop, symbols); });
    if (found.empty()) return false;
    reported_.emplace(loop, store.buffer->data.get());
    const std::string name(store.buffer->name);
    findings_->Add(BlockPrefix(EnclosingBlock(store.frame)) + "race: iterations of the " + LoopText(loop->loop) +
                   " share elements of " + name + ": one writes " + name + "[" + ExprText(store.indices) +
                   "], another " + (other.is_store ? "writes " : "reads ") + name + "[" + ExprText(other.indices) +
                   "]: " + found);
    return true;
  }

  const FunctionAccesses& accesses_;
  Findings* findings_;
  const std::vector<SymbolValues> assignments_;
  std::unordered_set<const Frame*> loops_;
  /// What was said of a loop and a buffer.
  std::set<std::pair<const Frame*, const Object*>> reported_;
};

}  // namespace

void VerifyRaces(const PrimFunc& func, const FunctionAccesses& accesses, Findings* findings) {
  RaceVerifier(func, accesses, findings).Verify();
}

}  // namespace deuteron::tir
