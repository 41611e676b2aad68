#include <algorithm>
#include <bit>
#include <unordered_map>
#include <vector>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/analysis/side_by_side.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/intrinsics.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron::tir {
namespace {

PrimExpr SplatTo(const PrimExpr& expr, int lanes) {
  return expr.dtype().lanes() == lanes ? expr : Broadcast(expr, lanes);
}

/// Rewrites the body of one loop so that all values of its variable are computed at once.
class BodyVectorizer : public StmtExprMutator {
 public:
  BodyVectorizer(const Var& var, const PrimExpr& base, int lanes, arith::Analyzer* analyzer)
      : var_(var.get()), ramp_(Ramp(base, MakeConst(var.dtype(), 1), lanes)), lanes_(lanes), analyzer_(*analyzer) {}

  /// Null if there is no vector form.
  Stmt Vectorize(const Stmt& body) {
    Stmt result = VisitStmt(body);
    return failed_ ? Stmt() : result;
  }

  PrimExpr VisitExpr(const PrimExpr& expr) override { return failed_ ? expr : StmtExprMutator::VisitExpr(expr); }
  Stmt VisitStmt(const Stmt& stmt) override { return failed_ ? stmt : StmtExprMutator::VisitStmt(stmt); }

 protected:
  PrimExpr VisitVar_(const VarNode* op) override {
    if (op == var_) return ramp_;
    const auto it = vector_vars_.find(op);
    return it == vector_vars_.end() ? static_cast<PrimExpr>(GetRef<Var>(op)) : it->second;
  }
  PrimExpr VisitCast_(const CastNode* op) override {
    PrimExpr value = VisitExpr(op->value);
    const DataType type = op->dtype.with_lanes(value.dtype().lanes());
    if (const auto* ramp = value.as<RampNode>(); ramp != nullptr && type == DataType::Int(64, type.lanes())) {
      return Ramp(CastTo(type.element(), ramp->base), CastTo(type.element(), ramp->stride), ramp->lanes);
    }
    return Cast(type, std::move(value));
  }
  PrimExpr VisitBinary_(const BinaryNode* op) override {
    if (op->kind == ExprKind::kFloorDiv || op->kind == ExprKind::kFloorMod) {
      if (PrimExpr result = VectorizeDivision(op); result.defined()) return result;
    }
    PrimExpr a = VisitExpr(op->a);
    PrimExpr b = VisitExpr(op->b);
    if (a.dtype().lanes() == 1 && b.dtype().lanes() == 1) {
      return a.same_as(op->a) && b.same_as(op->b) ? GetRef<PrimExpr>(op) : MakeBinary(op->kind, a, b);
    }
    if (PrimExpr ramp = RampArithmetic(op->kind, a, b); ramp.defined()) return ramp;
    return MakeBinary(op->kind, SplatTo(a, lanes_), SplatTo(b, lanes_));
  }
  PrimExpr VisitSelect_(const SelectNode* op) override {
    PrimExpr condition = VisitExpr(op->condition);
    PrimExpr a = VisitExpr(op->true_value);
    PrimExpr b = VisitExpr(op->false_value);
    if (condition.dtype().lanes() == 1 && a.dtype().lanes() == 1 && b.dtype().lanes() == 1) {
      return Select(condition, a, b);
    }
    return Select(SplatTo(condition, lanes_), SplatTo(a, lanes_), SplatTo(b, lanes_));
  }
  PrimExpr VisitLet_(const LetNode* op) override {
    PrimExpr value = VisitExpr(op->value);
    const Var var = VectorVar(op->var, value);
    PrimExpr body = VisitExpr(op->body);
    return Let(var, std::move(value), std::move(body));
  }
  PrimExpr VisitRamp_(const RampNode* op) override { return Uniform(GetRef<PrimExpr>(op)); }
  PrimExpr VisitBroadcast_(const BroadcastNode* op) override { return Uniform(GetRef<PrimExpr>(op)); }
  PrimExpr VisitShuffle_(const ShuffleNode* op) override { return Uniform(GetRef<PrimExpr>(op)); }
  PrimExpr VisitCall_(const CallNode* op) override {
    Array<PrimExpr> args = VisitExprs(op->args);
    const bool vector =
        std::any_of(args.begin(), args.end(), [](const PrimExpr& arg) { return arg.dtype().lanes() > 1; });
    const Intrinsic* info = FindIntrinsicInfo(op->op);
    if (info == nullptr || !info->pure || info->kind == IntrinKind::kExternCall) return Fail();
    if (!vector) return Call(op->dtype, op->op, std::move(args));
    static const Op if_then_else = Op::Get("tir.if_then_else");
    Array<PrimExpr> vectors;
    for (size_t i = 0; i < args.size(); ++i) {
      // A condition that is the same for all lanes stays a branch.
      vectors.push_back(i == 0 && op->op.same_as(if_then_else) ? args[i] : SplatTo(args[i], lanes_));
    }
    return Call(op->dtype.with_lanes(lanes_), op->op, std::move(vectors));
  }
  PrimExpr VisitBufferLoad_(const BufferLoadNode* op) override {
    const auto [buffer, index] = Access(op->buffer, op->indices);
    return BufferLoad(buffer, {index});
  }

  Stmt VisitBind_(const BindNode* op) override {
    PrimExpr value = VisitExpr(op->value);
    return Bind(VectorVar(op->var, value), value, op->span);
  }
  Stmt VisitAssert_(const AssertStmtNode* op) override {
    return AssertStmt(VisitExpr(op->condition), op->message, op->span);
  }
  Stmt VisitBufferStore_(const BufferStoreNode* op) override {
    const auto [buffer, index] = Access(op->buffer, op->indices);
    PrimExpr value = VisitExpr(op->value);
    if (index.dtype().lanes() == 1) {
      // All lanes write the same element: only where they write the same value.
      if (value.dtype().lanes() != 1) return FailStmt();
      return BufferStore(buffer, std::move(value), {index}, op->span);
    }
    return BufferStore(buffer, SplatTo(value, lanes_), {index}, op->span);
  }
  /// A buffer inside the loop becomes one with the lanes as its innermost dimension.
  Stmt VisitAllocBuffer_(const AllocBufferNode* op) override {
    Buffer wide(op->buffer->name, op->buffer->dtype, {op->buffer->shape[0] * lanes_}, op->buffer->scope);
    private_[op->buffer.get()] = wide;
    return AllocBuffer(wide, op->span);
  }
  Stmt VisitIfThenElse_(const IfThenElseNode* op) override {
    PrimExpr condition = VisitExpr(op->condition);
    Stmt then_case = VisitStmt(op->then_case);
    Stmt else_case = op->else_case.defined() ? VisitStmt(op->else_case) : Stmt();
    return IfThenElse(std::move(condition), std::move(then_case), std::move(else_case), op->span);
  }
  Stmt VisitFor_(const ForNode* op) override {
    PrimExpr min = VisitExpr(op->min);
    PrimExpr extent = VisitExpr(op->extent);
    if (min.dtype().lanes() != 1 || extent.dtype().lanes() != 1) return FailStmt();
    return For(op->loop_var, std::move(min), std::move(extent), op->loop_kind, VisitStmt(op->body), op->thread_tag,
               op->annotations, op->span);
  }
  Stmt VisitWhile_(const WhileNode* op) override { return FailStmt(); }
  Stmt VisitEvaluate_(const EvaluateNode* op) override {
    PrimExpr value = VisitExpr(op->value);
    return Evaluate(std::move(value), op->span);
  }

 private:
  PrimExpr Fail() {
    failed_ = true;
    return I64(0);
  }
  Stmt FailStmt() {
    failed_ = true;
    return Evaluate(I64(0));
  }

  /// Code that is vectors already stays as it is, if it does not depend on this loop.
  PrimExpr Uniform(const PrimExpr& expr) {
    bool depends = false;
    deuteron::PostOrderVisit(expr, [&](const PrimExpr& node) {
      if (node.get() == var_ || vector_vars_.count(static_cast<const VarNode*>(node.get()))) depends = true;
    });
    // Lanes of two loops cannot be told apart here.
    if (depends || expr.dtype().lanes() != 1) return Fail();
    return expr;
  }

  Var VectorVar(const Var& var, const PrimExpr& value) {
    if (value.dtype().lanes() == 1) return var;
    Var wide(var->name_hint, var.dtype().with_lanes(lanes_));
    vector_vars_[var.get()] = wide;
    return wide;
  }

  std::pair<Buffer, PrimExpr> Access(const Buffer& buffer, const Array<PrimExpr>& indices) {
    PrimExpr index = indices.empty() ? I64(0) : VisitExpr(indices[0]);
    const auto it = private_.find(buffer.get());
    if (it == private_.end()) return {buffer, index};
    if (index.dtype().lanes() == 1)
      return {it->second, Ramp(CastTo(DataType::Int(64), index * lanes_), I64(1), lanes_)};
    const PrimExpr lane = Ramp(MakeConst(index.dtype().element(), 0), MakeConst(index.dtype().element(), 1), lanes_);
    return {it->second, Add(Mul(index, MakeConst(index.dtype(), lanes_)), lane)};
  }

  /// Sums and multiples of ramps are ramps: accesses stay contiguous.
  PrimExpr RampArithmetic(ExprKind kind, const PrimExpr& a, const PrimExpr& b) {
    const auto* ramp_a = a.as<RampNode>();
    const auto* ramp_b = b.as<RampNode>();
    const bool scalar_a = a.dtype().lanes() == 1;
    const bool scalar_b = b.dtype().lanes() == 1;
    if (kind == ExprKind::kAdd && ramp_a && scalar_b) return MakeRamp(ramp_a->base + b, ramp_a->stride);
    if (kind == ExprKind::kAdd && ramp_b && scalar_a) return MakeRamp(a + ramp_b->base, ramp_b->stride);
    if (kind == ExprKind::kSub && ramp_a && scalar_b) return MakeRamp(ramp_a->base - b, ramp_a->stride);
    if (kind == ExprKind::kSub && ramp_b && scalar_a)
      return MakeRamp(a - ramp_b->base, MakeConst(a.dtype(), 0) - ramp_b->stride);
    if (kind == ExprKind::kMul && ramp_a && scalar_b) return MakeRamp(ramp_a->base * b, ramp_a->stride * b);
    if (kind == ExprKind::kMul && ramp_b && scalar_a) return MakeRamp(a * ramp_b->base, a * ramp_b->stride);
    if (ramp_a && ramp_b && kind == ExprKind::kAdd) {
      return MakeRamp(ramp_a->base + ramp_b->base, ramp_a->stride + ramp_b->stride);
    }
    if (ramp_a && ramp_b && kind == ExprKind::kSub) {
      return MakeRamp(ramp_a->base - ramp_b->base, ramp_a->stride - ramp_b->stride);
    }
    return PrimExpr();
  }
  PrimExpr MakeRamp(const PrimExpr& base, const PrimExpr& stride) {
    if (IsZero(stride)) return base;
    return Ramp(base, stride, lanes_);
  }

  /// i // c and i % c where all lanes have the same quotient.
  PrimExpr VectorizeDivision(const BinaryNode* op) {
    const std::optional<int64_t> divisor = AsConstInt(op->b);
    if (!divisor || *divisor <= 0 || op->a.dtype().lanes() != 1) return PrimExpr();
    const PrimExpr a = VisitExpr(op->a);
    const auto* ramp = a.as<RampNode>();
    if (ramp == nullptr || !IsOne(ramp->stride)) return PrimExpr();
    const PrimExpr rest = analyzer_.Simplify(FloorMod(ramp->base, op->b));
    if (!analyzer_.CanProveLess(rest, MakeConst(rest.dtype(), *divisor - lanes_ + 1))) return PrimExpr();
    if (op->kind == ExprKind::kFloorDiv) return analyzer_.Simplify(FloorDiv(ramp->base, op->b));
    return Ramp(rest, MakeConst(rest.dtype(), 1), lanes_);
  }

  const VarNode* var_;
  PrimExpr ramp_;
  int lanes_;
  arith::Analyzer& analyzer_;
  bool failed_ = false;
  std::unordered_map<const VarNode*, PrimExpr> vector_vars_;
  std::unordered_map<const BufferNode*, Buffer> private_;
};

/// Bits of the widest element that a loop's body loads or stores.
int WidestElement(const Stmt& body) {
  int bits = 8;
  PostOrderVisit(body, [&bits](const ObjectRef& node) {
    if (const auto* load = node.as<BufferLoadNode>()) bits = std::max(bits, load->buffer->dtype.bits());
    if (const auto* store = node.as<BufferStoreNode>()) bits = std::max(bits, store->buffer->dtype.bits());
  });
  return bits;
}

class LoopVectorizer : public StmtExprMutator {
 public:
  explicit LoopVectorizer(const Target& target) : target_(target) {}

 protected:
  Stmt VisitFor_(const ForNode* op) override {
    analyzer_.Bind(op->loop_var, Range::FromMinExtent(op->min, op->extent));
    Stmt body = VisitStmt(op->body);
    if (op->loop_kind != ForKind::kVectorized) {
      if (body.same_as(op->body)) return GetRef<Stmt>(op);
      return For(op->loop_var, op->min, op->extent, op->loop_kind, std::move(body), op->thread_tag, op->annotations,
                 op->span);
    }
    const int64_t native = std::max<int64_t>(2, target_.machine.Lanes(WidestElement(body)));
    Stmt result = AsConstInt(op->extent) ? StaticLoop(op, body, native) : SymbolicLoop(op, body, native);
    if (result.defined()) return result;
    return For(op->loop_var, op->min, op->extent, ForKind::kSerial, std::move(body), "", op->annotations, op->span);
  }

 private:
  Stmt VectorBody(const ForNode* op, const Stmt& body, const PrimExpr& base, int64_t lanes) {
    if (lanes == 1) return Substitute(body, {{op->loop_var, base}});
    return BodyVectorizer(op->loop_var, base, static_cast<int>(lanes), &analyzer_).Vectorize(body);
  }

  /// `lanes` iterations at most as many as a vector has: where lanes can be off, those of a whole vector.
  Stmt ShortBody(const ForNode* op, const Stmt& body, const PrimExpr& base, int64_t lanes) {
    const auto whole = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(lanes)));
    if (whole != lanes && target_.HasFeature("avx512vl")) {
      const DataType type = op->loop_var.dtype();
      const Stmt vector = VectorBody(op, body, base, whole);
      if (vector.defined()) {
        const int count = static_cast<int>(whole);
        return IfThenElse(
            Ramp(MakeConst(type, 0), MakeConst(type, 1), count) < Broadcast(MakeConst(type, lanes), count), vector);
      }
    }
    return VectorBody(op, body, base, lanes);
  }

  Stmt StaticLoop(const ForNode* op, const Stmt& body, int64_t native) {
    const int64_t extent = *AsConstInt(op->extent);
    const DataType type = op->loop_var.dtype();
    // Vectors side by side are one that LLVM takes apart.
    const int64_t side_by_side = native * VectorsSideBySide(body, target_.machine);
    if (extent % side_by_side == 0) native = side_by_side;
    if (extent <= native) return ShortBody(op, body, op->min, extent);
    const int64_t whole = extent / native;
    Var chunk(op->loop_var->name_hint + "_v", type);
    analyzer_.Bind(chunk, Range::FromMinExtent(MakeConst(type, 0), MakeConst(type, whole)));
    Stmt main = VectorBody(op, body, op->min + chunk * MakeConst(type, native), native);
    if (!main.defined()) return Stmt();
    const ForKind kind = whole <= 8 ? ForKind::kUnrolled : ForKind::kSerial;
    Array<Stmt> seq = {
        For(chunk, MakeConst(type, 0), MakeConst(type, whole), kind, std::move(main), "", op->annotations)};
    if (const int64_t rest = extent % native; rest != 0) {
      Stmt tail = ShortBody(op, body, op->min + MakeConst(type, whole * native), rest);
      if (!tail.defined()) return Stmt();
      seq.push_back(std::move(tail));
    }
    return SeqStmt::Flatten(seq);
  }

  Stmt SymbolicLoop(const ForNode* op, const Stmt& body, int64_t native) {
    const DataType type = op->loop_var.dtype();
    const PrimExpr extent = CastTo(type, op->extent);
    const PrimExpr whole = FloorDiv(extent, MakeConst(type, native));
    Var chunk(op->loop_var->name_hint + "_v", type);
    analyzer_.Bind(chunk, Range::FromMinExtent(MakeConst(type, 0), whole));
    Stmt main = VectorBody(op, body, op->min + chunk * MakeConst(type, native), native);
    if (!main.defined()) return Stmt();
    const PrimExpr done = whole * MakeConst(type, native);
    Stmt tail;
    if (target_.HasFeature("avx512f")) {
      const Stmt guarded = IfThenElse(op->loop_var < op->min + extent, body);
      tail = VectorBody(op, guarded, op->min + done, native);
    }
    if (!tail.defined()) {
      Var rest(op->loop_var->name_hint + "_r", type);
      tail = For(rest, MakeConst(type, 0), extent - done, ForKind::kSerial,
                 Substitute(body, {{op->loop_var, op->min + done + rest}}));
    }
    return SeqStmt::Flatten(
        {For(chunk, MakeConst(type, 0), whole, ForKind::kSerial, std::move(main), "", op->annotations),
         std::move(tail)});
  }

  const Target& target_;
  arith::Analyzer analyzer_;
};

}  // namespace

PrimFunc VectorizeLoops(PrimFunc func, const Target& target) {
  Stmt body = LoopVectorizer(target).VisitStmt(func->body);
  CopyOnWrite(&func)->body = std::move(body);
  return func;
}

}  // namespace deuteron::tir
