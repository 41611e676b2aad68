#include "deuteron/tir/structure_hash.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <unordered_map>

#include "deuteron/support/occurrence_hash.h"
#include "deuteron/support/parallel.h"
#include "deuteron/tir/functor.h"

namespace deuteron::tir {
namespace {

class StructureHasher : public StmtExprVisitor {
 public:
  uint64_t Hash(const PrimFunc& func) {
    if (func->attrs.defined()) MixEntries(func->attrs->dict);
    for (const Var& param : func->params) {
      VisitExpr(param);
      if (const auto buffer = func->buffer_map.Get(param)) MixBuffer(*buffer);
    }
    VisitStmt(func->body);
    return hash_.value();
  }

  void VisitStmt(const Stmt& stmt) override {
    Mix(static_cast<uint64_t>(stmt->kind) + kStatement);
    StmtExprVisitor::VisitStmt(stmt);
  }
  void VisitExpr(const PrimExpr& expr) override {
    Mix(static_cast<uint64_t>(expr->kind) + CodeOf(expr->dtype));
    StmtExprVisitor::VisitExpr(expr);
  }

 protected:
  void VisitVar_(const VarNode* op) override { hash_.MixOccurrence(op); }
  void VisitImm_(const PrimExprNode* op) override {
    if (op->kind == ExprKind::kIntImm) {
      Mix(static_cast<uint64_t>(static_cast<const IntImmNode*>(op)->value));
    } else if (op->kind == ExprKind::kFloatImm) {
      // Zeros of either sign, and all that is no number, may be equal.
      const double value = static_cast<const FloatImmNode*>(op)->value;
      Mix(value == value && value != 0 ? std::bit_cast<uint64_t>(value) : 0);
    }
  }
  void VisitCall_(const CallNode* op) override {
    Mix(static_cast<uint64_t>(op->op->index));
    Mix(op->args.size());
    StmtExprVisitor::VisitCall_(op);
  }
  void VisitBufferLoad_(const BufferLoadNode* op) override {
    MixBuffer(op->buffer);
    StmtExprVisitor::VisitBufferLoad_(op);
  }
  void VisitBufferStore_(const BufferStoreNode* op) override {
    MixBuffer(op->buffer);
    StmtExprVisitor::VisitBufferStore_(op);
  }
  void VisitAllocBuffer_(const AllocBufferNode* op) override { MixBuffer(op->buffer); }
  void VisitSeq_(const SeqStmtNode* op) override {
    Mix(op->seq.size());
    StmtExprVisitor::VisitSeq_(op);
  }
  void VisitFor_(const ForNode* op) override {
    Mix(static_cast<uint64_t>(op->loop_kind));
    MixEntries(op->annotations);
    StmtExprVisitor::VisitFor_(op);
  }
  /// Without its regions, which follow from what it reads and writes.
  void VisitSBlock_(const SBlockNode* op) override {
    MixEntries(op->annotations);
    for (const IterVar& iter : op->iter_vars) {
      Mix(static_cast<uint64_t>(iter->type));
      VisitExpr(iter->dom->min);
      VisitExpr(iter->dom->extent);
    }
    if (op->init.defined()) VisitStmt(op->init);
    VisitStmt(op->body);
  }

 private:
  static constexpr uint64_t kStatement = 0x100;

  static uint64_t CodeOf(DataType dtype) {
    return static_cast<uint64_t>(dtype.code()) << 40 | static_cast<uint64_t>(dtype.bits()) << 32 |
           static_cast<uint64_t>(static_cast<uint32_t>(dtype.lanes())) << 9;
  }

  void Mix(uint64_t value) { hash_.Mix(value); }

  /// In any order.
  void MixEntries(const Map<String, Any>& entries) {
    uint64_t sum = entries.size();
    for (const auto& [key, value] : entries) {
      const uint64_t entry = HashText(key) * 31;
      if (const auto number = value.template try_cast<int64_t>()) {
        sum += entry ^ static_cast<uint64_t>(*number);
      } else if (const auto text = value.template try_cast<String>()) {
        sum += entry ^ HashText(*text);
      } else {
        sum += entry;
      }
    }
    Mix(sum);
  }
  static uint64_t HashText(const String& text) { return deuteron::HashText({text.data(), text.size()}); }

  void MixBuffer(const Buffer& buffer) {
    if (!hash_.MixOccurrence(buffer.get())) return;
    Mix(CodeOf(buffer->dtype));
    for (const PrimExpr& extent : buffer->shape) VisitExpr(extent);
    Mix(HashText(buffer->scope));
  }

  OccurrenceHash hash_;
};

}  // namespace

uint64_t StructureHash(const PrimFunc& func) { return StructureHasher().Hash(func); }

std::vector<size_t> FirstEqual(const std::vector<PrimFunc>& funcs, size_t threads) {
  std::vector<uint64_t> hashes(funcs.size());
  ForEachInParallel(funcs.size(), threads, [&](size_t i) { hashes[i] = StructureHash(funcs[i]); });
  std::unordered_map<uint64_t, std::vector<size_t>> alike;
  std::vector<size_t> first(funcs.size());
  for (size_t i = 0; i < funcs.size(); ++i) {
    std::vector<size_t>& members = alike[hashes[i]];
    members.push_back(i);
    first[i] = members.front();
  }
  std::vector<char> is_equal(funcs.size(), 1);
  ForEachInParallel(funcs.size(), threads, [&](size_t i) {
    if (first[i] != i) is_equal[i] = static_cast<char>(StructurallyEqual(funcs[first[i]], funcs[i]));
  });
  // Others have the same hash seldom.
  for (size_t i = 0; i < funcs.size(); ++i) {
    if (is_equal[i] != 0) continue;
    const std::vector<size_t>& members = alike[hashes[i]];
    const auto is_same = [&](size_t other) {
      return first[other] == other && StructurallyEqual(funcs[other], funcs[i]);
    };
    const auto end = std::find(members.begin(), members.end(), i);
    const auto same = std::find_if(members.begin() + 1, end, is_same);
    first[i] = same == end ? i : *same;
  }
  return first;
}

}  // namespace deuteron::tir
