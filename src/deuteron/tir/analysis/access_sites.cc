#include "deuteron/tir/analysis/access_sites.h"

#include <algorithm>

#include "deuteron/tir/functor.h"

namespace deuteron::tir {
namespace {

class Collector : public StmtExprVisitor {
 public:
  explicit Collector(FunctionAccesses* result) : result_(result) { frame_ = &result_->frames.emplace_back(); }

  void Collect(const PrimFunc& func) {
    for (const Buffer& buffer : ParamBuffers(func)) {
      result_->buffers.try_emplace(buffer->data.get(), BufferInfo{frame_, true, {}});
    }
    VisitStmt(func->body);
  }

 protected:
  void VisitFor_(const ForNode* op) override {
    VisitExpr(op->min);
    VisitExpr(op->extent);
    Frame frame{.kind = Frame::Kind::kLoop, .loop = op};
    Within(std::move(frame), [&] { VisitStmt(op->body); });
  }
  void VisitSBlockRealize_(const SBlockRealizeNode* op) override {
    for (const PrimExpr& value : op->iter_values) VisitExpr(value);
    VisitExpr(op->predicate);
    Frame frame{.kind = Frame::Kind::kBlock, .realize = op};
    Within(std::move(frame), [&] {
      for (const Buffer& buffer : op->block->alloc_buffers) DefineBuffer(buffer);
      if (op->block->init.defined()) VisitStmt(op->block->init);
      VisitStmt(op->block->body);
    });
  }
  /// Bindings and assertions hold for the statements after them.
  void VisitSeq_(const SeqStmtNode* op) override {
    const Frame* outer = frame_;
    for (const Stmt& stmt : op->seq) {
      VisitStmt(stmt);
      if (const auto* bind = stmt.as<BindNode>()) {
        Push({.kind = Frame::Kind::kBind, .var = bind->var, .expr = bind->value});
      } else if (const auto* check = stmt.as<AssertStmtNode>()) {
        Push({.kind = Frame::Kind::kGuard, .expr = check->condition});
      }
    }
    frame_ = outer;
  }
  void VisitAllocBuffer_(const AllocBufferNode* op) override { DefineBuffer(op->buffer); }
  void VisitIfThenElse_(const IfThenElseNode* op) override {
    VisitExpr(op->condition);
    Within(Guard(op->condition, true), [&] { VisitStmt(op->then_case); });
    if (op->else_case.defined()) Within(Guard(op->condition, false), [&] { VisitStmt(op->else_case); });
  }
  void VisitWhile_(const WhileNode* op) override {
    VisitExpr(op->condition);
    Within(Guard(op->condition, true), [&] { VisitStmt(op->body); });
  }
  void VisitBufferStore_(const BufferStoreNode* op) override {
    StmtExprVisitor::VisitBufferStore_(op);
    Record(AccessSite{frame_, op->buffer, op->indices, true, op->value});
  }
  void VisitBufferLoad_(const BufferLoadNode* op) override {
    StmtExprVisitor::VisitBufferLoad_(op);
    Record(AccessSite{frame_, op->buffer, op->indices, false, PrimExpr()});
  }
  void VisitLet_(const LetNode* op) override {
    VisitExpr(op->value);
    Within({.kind = Frame::Kind::kBind, .var = op->var, .expr = op->value}, [&] { VisitExpr(op->body); });
  }
  void VisitCall_(const CallNode* op) override {
    static const Op if_then_else = Op::Get("tir.if_then_else");
    if (!op->op.same_as(if_then_else) || op->args.size() != 3) return StmtExprVisitor::VisitCall_(op);
    VisitExpr(op->args[0]);
    Within(Guard(op->args[0], true), [&] { VisitExpr(op->args[1]); });
    Within(Guard(op->args[0], false), [&] { VisitExpr(op->args[2]); });
  }
  /// The right side of `and` and `or` is evaluated only where the left does not decide.
  void VisitBinary_(const BinaryNode* op) override {
    if (op->kind != ExprKind::kAnd && op->kind != ExprKind::kOr) return StmtExprVisitor::VisitBinary_(op);
    VisitExpr(op->a);
    Within(Guard(op->a, op->kind == ExprKind::kAnd), [&] { VisitExpr(op->b); });
  }

 private:
  static Frame Guard(const PrimExpr& condition, bool expected) {
    return {.kind = Frame::Kind::kGuard, .expr = condition, .expected = expected};
  }
  void Push(Frame frame) {
    frame.parent = frame_;
    frame.depth = frame_->depth + 1;
    frame_ = &result_->frames.emplace_back(std::move(frame));
  }
  template <typename Visit>
  void Within(Frame frame, const Visit& visit) {
    const Frame* outer = frame_;
    Push(std::move(frame));
    visit();
    frame_ = outer;
  }
  void DefineBuffer(const Buffer& buffer) {
    for (const PrimExpr& extent : buffer->shape) VisitExpr(extent);
    result_->buffers.try_emplace(buffer->data.get(), BufferInfo{frame_, false, {}});
  }
  void Record(AccessSite site) {
    result_->buffers[site.buffer->data.get()].sites.push_back(result_->sites.size());
    result_->sites.push_back(std::move(site));
  }

  FunctionAccesses* result_;
  const Frame* frame_ = nullptr;
};

}  // namespace

FunctionAccesses CollectAccesses(const PrimFunc& func) {
  FunctionAccesses result;
  Collector(&result).Collect(func);
  return result;
}

std::vector<SymbolValues> SymbolAssignments(const PrimFunc& func) {
  std::vector<Var> symbols;
  for (const Buffer& buffer : ParamBuffers(func)) {
    for (const PrimExpr& extent : buffer->shape) {
      if (extent->kind == ExprKind::kIntImm) continue;
      for (const Var& var : FreeVars(extent)) {
        if (std::none_of(symbols.begin(), symbols.end(), [&](const Var& other) { return other.same_as(var); })) {
          symbols.push_back(var);
        }
      }
    }
  }
  // Numbers with many divisors: shapes like n // 4 mean that n is divisible.
  constexpr int64_t kSmall = 60;
  constexpr int64_t kLarge = 5040;
  constexpr size_t kMaxVaried = 4;
  std::vector<SymbolValues> assignments(symbols.empty() ? 1 : 2);
  for (const Var& symbol : symbols) {
    assignments[0].emplace_back(symbol, kSmall);
    assignments[1].emplace_back(symbol, kLarge);
  }
  for (size_t i = 0; i < symbols.size() && i < kMaxVaried; ++i) {
    assignments.push_back(assignments[1]);
    assignments.back()[i].second *= 64;
  }
  return assignments;
}

Instance::Instance(const SymbolValues& symbols) : symbols_(symbols) {
  for (const auto& [var, value] : symbols) values_.Set(var, value);
}

bool Instance::Walk(const std::vector<const Frame*>& path, const Choices& choices, int64_t lane, bool guarded) {
  values_.set_lane(lane);
  for (const Frame* frame : path) {
    switch (frame->kind) {
      case Frame::Kind::kRoot:
        break;
      case Frame::Kind::kLoop: {
        const auto min = Eval(frame->loop->min);
        const auto extent = Eval(frame->loop->extent);
        if (!min || !extent) return false;
        const auto it = choices.find(frame->loop);
        int64_t position = it == choices.end() ? kFirst : it->second;
        if (position == kLast) position = *extent - 1;
        if (position == kMiddle) position = *extent / 2;
        if (position < 0 || position >= *extent) return false;
        values_.Set(frame->loop->loop_var, *min + position);
        break;
      }
      case Frame::Kind::kBlock: {
        const SBlockRealizeNode* realize = frame->realize;
        if (guarded && Eval(realize->predicate).value_or(0) == 0) return false;
        for (size_t i = 0; i < realize->iter_values.size(); ++i) {
          values_.Set(realize->block->iter_vars[i]->var, Eval(realize->iter_values[i]));
        }
        break;
      }
      case Frame::Kind::kBind:
        values_.Set(frame->var, Eval(frame->expr));
        break;
      case Frame::Kind::kGuard: {
        if (!guarded) break;
        const auto condition = Eval(frame->expr);
        if (!condition || (*condition != 0) != frame->expected) return false;
        break;
      }
    }
  }
  return true;
}

std::string Instance::Describe(const std::vector<const Frame*>& path) {
  std::string text;
  const auto add = [&](const Var& var, int64_t value) {
    text += (text.empty() ? "" : ", ") + std::string(var->name_hint) + " = " + std::to_string(value);
  };
  for (const auto& [var, value] : symbols_) add(var, value);
  for (const Frame* frame : path) {
    if (frame->kind == Frame::Kind::kLoop) add(frame->loop->loop_var, Eval(frame->loop->loop_var).value_or(0));
  }
  return text;
}

std::vector<const Frame*> PathOf(const Frame* frame) {
  std::vector<const Frame*> path;
  for (; frame->kind != Frame::Kind::kRoot; frame = frame->parent) path.push_back(frame);
  std::reverse(path.begin(), path.end());
  return path;
}

const SBlockRealizeNode* EnclosingBlock(const Frame* frame) {
  while (frame->kind != Frame::Kind::kRoot && frame->kind != Frame::Kind::kBlock) frame = frame->parent;
  return frame->realize;
}

}  // namespace deuteron::tir
