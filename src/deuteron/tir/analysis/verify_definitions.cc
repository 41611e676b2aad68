/// Scopes and types: one walk over the function with the set of what is visible.
#include <unordered_set>

#include "deuteron/tir/analysis/expr_text.h"
#include "deuteron/tir/analysis/verify_internal.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/intrinsics.h"

namespace deuteron::tir {
namespace {

bool IsIndexType(DataType dtype) { return dtype.is_int() || dtype.is_uint(); }

class DefinitionVerifier : public StmtExprVisitor {
 public:
  explicit DefinitionVerifier(Findings* findings) : findings_(findings) {}

  void Verify(const PrimFunc& func) {
    DefineParams(func);
    if (!func->body.defined()) return Report("has no body");
    VisitStmt(func->body);
  }

 protected:
  // ----- Statements.

  void VisitSeq_(const SeqStmtNode* op) override {
    InScope([&] { StmtExprVisitor::VisitSeq_(op); });
  }

  void VisitBind_(const BindNode* op) override {
    VisitExpr(op->value);
    if (op->var.dtype() != op->value.dtype()) {
      Report("variable " + Name(op->var) + " of type " + Text(op->var.dtype()) + " is bound to " + Typed(op->value));
    }
    Define(op->var);
  }

  void VisitAssert_(const AssertStmtNode* op) override { VisitCondition(op->condition, "an assertion"); }

  void VisitAllocBuffer_(const AllocBufferNode* op) override { DefineBuffer(op->buffer); }

  void VisitBufferStore_(const BufferStoreNode* op) override {
    VisitExpr(op->value);
    VisitAccess(op->buffer, op->indices, "written");
    const int lanes = op->indices.empty() ? 1 : op->indices.back().dtype().lanes();
    const DataType expected = op->buffer->dtype.with_lanes(op->buffer->dtype.lanes() * lanes);
    if (op->value.dtype() != expected) {
      Report("a " + Text(op->value.dtype()) + " is stored into buffer " + Name(op->buffer) + ", which takes " +
             Text(expected) + " at [" + ExprText(op->indices) + "]: " + ExprText(op->value));
    }
  }

  void VisitFor_(const ForNode* op) override {
    const std::string outer = loop_;
    loop_ = std::string(op->loop_var->name_hint);
    VisitBound(op->loop_var, op->min, "first value");
    VisitBound(op->loop_var, op->extent, "extent");
    if (op->extent.defined()) {
      const auto extent = AsConstInt(op->extent);
      if (extent && *extent < 0) Report("loop " + Name(op->loop_var) + " has the extent " + std::to_string(*extent));
    }
    if (op->loop_kind > ForKind::kThreadBinding) {
      Report("loop " + Name(op->loop_var) + " is of an unknown kind");
    } else if (op->loop_kind == ForKind::kThreadBinding && op->thread_tag.empty()) {
      Report("loop " + Name(op->loop_var) + " is bound to a thread, but not to which");
    }
    InScope([&] {
      Define(op->loop_var);
      VisitStmt(op->body);
    });
    loop_ = outer;
  }

  void VisitIfThenElse_(const IfThenElseNode* op) override {
    VisitCondition(op->condition, "a branch");
    InScope([&] { VisitStmt(op->then_case); });
    if (op->else_case.defined()) InScope([&] { VisitStmt(op->else_case); });
  }

  void VisitWhile_(const WhileNode* op) override {
    VisitCondition(op->condition, "a loop");
    InScope([&] { VisitStmt(op->body); });
  }

  void VisitAttr_(const AttrStmtNode* op) override {
    VisitExpr(op->value);
    InScope([&] {
      // Lowered code for GPUs binds its threads so, once a kernel and more.
      if (const auto iter = op->node.as<IterVar>()) DefineAgain(iter.value()->var);
      VisitStmt(op->body);
    });
  }

  void VisitSBlockRealize_(const SBlockRealizeNode* op) override {
    const std::string outer = block_;
    block_ = std::string(op->block->name_hint);
    if (op->iter_values.size() != op->block->iter_vars.size()) {
      Report("has " + std::to_string(op->block->iter_vars.size()) + " iterators and is given " +
             std::to_string(op->iter_values.size()) + " values");
    }
    for (const PrimExpr& value : op->iter_values) {
      VisitExpr(value);
      if (!IsIndexType(value.dtype()) || !value.dtype().is_scalar()) {
        Report("an iterator is bound to " + Typed(value) + ", which is no integer");
      }
    }
    VisitCondition(op->predicate, "the predicate of a block");
    VisitStmt(op->block);
    block_ = outer;
  }

  void VisitSBlock_(const SBlockNode* op) override {
    for (const IterVar& iter : op->iter_vars) {
      VisitBound(iter->var, iter->dom->min, "domain");
      VisitBound(iter->var, iter->dom->extent, "domain");
    }
    InScope([&] {
      std::unordered_set<const Object*> ordered;
      for (const IterVar& iter : op->iter_vars) {
        if (iter->type > IterVarType::kThread) {
          Report("iterator " + Name(iter->var) + " is of an unknown type");
        } else if (iter->type != IterVarType::kSpatial) {
          ordered.insert(iter->var.get());
        }
        Define(iter->var);
      }
      for (const Buffer& buffer : op->alloc_buffers) DefineBuffer(buffer);
      for (const BufferRegion& region : op->reads) VisitRegion(region);
      for (const BufferRegion& region : op->writes) VisitRegion(region);
      if (op->init.defined()) VisitInit(op, ordered);
      InScope([&] { VisitStmt(op->body); });
    });
  }

  void VisitRegion(const BufferRegion& region) override {
    CheckVisible(region->buffer);
    if (region->region.size() != region->buffer->shape.size()) {
      Report("a region of " + std::to_string(region->region.size()) + " axes is declared of buffer " +
             Name(region->buffer) + " of rank " + std::to_string(region->buffer->shape.size()));
    }
    StmtExprVisitor::VisitRegion(region);
  }

  // ----- Expressions.

 public:
  void VisitExpr(const PrimExpr& expr) override {
    if (!expr.defined()) return Report("an expression is null");
    StmtExprVisitor::VisitExpr(expr);
  }

 protected:
  void VisitVar_(const VarNode* op) override {
    if (visible_.count(op)) return;
    const std::string name = std::string(op->name_hint);
    Report("variable " + name + (ever_.count(op) ? " is used outside of its scope" : " is used but not defined"));
    visible_.insert(op);  // once is enough
  }

  void VisitCast_(const CastNode* op) override {
    StmtExprVisitor::VisitCast_(op);
    if (op->dtype.lanes() != op->value.dtype().lanes()) Report("a cast changes the number of lanes: " + Typed(op));
  }

  void VisitBinary_(const BinaryNode* op) override {
    StmtExprVisitor::VisitBinary_(op);
    const DataType dtype = op->a.dtype();
    if (dtype != op->b.dtype()) {
      return Report("the operands of " + ExprText(GetRef<PrimExpr>(op)) + " have the types " + Text(dtype) + " and " +
                    Text(op->b.dtype()));
    }
    const bool is_logic = op->kind == ExprKind::kAnd || op->kind == ExprKind::kOr;
    if (is_logic && !dtype.is_bool()) return Report("the operands of " + Typed(op) + " are no truth values");
    const DataType result = is_logic || IsComparison(op->kind) ? DataType::Bool(dtype.lanes()) : dtype;
    if (op->dtype != result) Report(Typed(op) + " should be " + Text(result));
  }

  void VisitNot_(const NotNode* op) override {
    StmtExprVisitor::VisitNot_(op);
    if (!op->a.dtype().is_bool()) Report("the operand of " + Typed(op) + " is no truth value");
  }

  void VisitSelect_(const SelectNode* op) override {
    StmtExprVisitor::VisitSelect_(op);
    CheckChoice(op, op->condition, op->true_value, op->false_value);
  }

  void VisitLet_(const LetNode* op) override {
    VisitExpr(op->value);
    if (op->var.dtype() != op->value.dtype()) {
      Report("variable " + Name(op->var) + " of type " + Text(op->var.dtype()) + " is bound to " + Typed(op->value));
    }
    InScope([&] {
      // A let that is shared by two expressions is one definition.
      DefineAgain(op->var);
      VisitExpr(op->body);
    });
  }

  void VisitRamp_(const RampNode* op) override {
    StmtExprVisitor::VisitRamp_(op);
    if (!op->base.dtype().is_scalar() || op->base.dtype() != op->stride.dtype() || op->lanes != op->dtype.lanes()) {
      Report("a ramp of " + Typed(op->base) + " by " + Typed(op->stride) + " is a " + Text(op->dtype));
    }
  }

  void VisitBroadcast_(const BroadcastNode* op) override {
    StmtExprVisitor::VisitBroadcast_(op);
    if (!op->value.dtype().is_scalar() || op->lanes != op->dtype.lanes())
      Report("a broadcast of " + Typed(op->value) + " is a " + Text(op->dtype));
  }

  void VisitBufferLoad_(const BufferLoadNode* op) override {
    VisitAccess(op->buffer, op->indices, "read");
    const int lanes = op->indices.empty() ? 1 : op->indices.back().dtype().lanes();
    const DataType expected = op->buffer->dtype.with_lanes(op->buffer->dtype.lanes() * lanes);
    if (op->dtype != expected) {
      Report(Typed(op) + " is read from buffer " + Name(op->buffer) + " of " + Text(op->buffer->dtype));
    }
  }

  void VisitCall_(const CallNode* op) override {
    const std::string name(op->op->name);
    const Intrinsic* intrinsic = FindIntrinsicInfo(op->op);
    // Others' intrinsics may be read and printed; who runs or compiles them says that he cannot.
    if (intrinsic == nullptr) return StmtExprVisitor::VisitCall_(op);
    if (intrinsic->arity >= 0 && op->args.size() != static_cast<size_t>(intrinsic->arity)) {
      return Report(name + " takes " + std::to_string(intrinsic->arity) + " arguments and is given " +
                    std::to_string(op->args.size()));
    }
    StmtExprVisitor::VisitCall_(op);
    CheckIntrinsicTypes(*intrinsic, op);
  }

  void VisitProducerLoad_(const ProducerLoadNode* op) override {
    Report("a tensor expression is left in the function");
  }
  void VisitReduce_(const ReduceNode* op) override {
    Report("a tensor expression's reduction is left in the function");
  }

 private:
  // ----- Parameters.

  void DefineParams(const PrimFunc& func) {
    std::unordered_set<const Object*> handles;
    // A scalar parameter may be a dimension as well: it must agree.
    for (const Var& param : func->params) Define(param);
    for (const Var& param : func->params) {
      const auto it = func->buffer_map.find(param);
      if (it == func->buffer_map.end()) continue;
      handles.insert(param.get());
      const Buffer& buffer = (*it).second;
      if (!param.dtype().is_handle())
        Report("parameter " + Name(param) + " of type " + Text(param.dtype()) + " has a buffer");
      if (visible_.count(buffer->data.get())) Report("buffer " + Name(buffer) + " belongs to two parameters");
      Show(buffer->data.get());
      // A dimension that is a variable defines it, wherever it stands.
      for (const auto& dims : {buffer->shape, buffer->strides}) {
        for (const PrimExpr& dim : dims) {
          if (dim->kind == ExprKind::kVar) Show(dim.get());
        }
      }
      if (buffer->elem_offset.defined() && buffer->elem_offset->kind == ExprKind::kVar) Show(buffer->elem_offset.get());
    }
    for (const auto& [param, buffer] : func->buffer_map) {
      if (!handles.count(param.get()))
        Report("buffer " + Name(buffer) + " belongs to " + Name(param) + ", which is no parameter");
    }
    for (const Buffer& buffer : ParamBuffers(func)) {
      for (const PrimExpr& dim : buffer->shape) {
        for (const Var& var : FreeVars(dim)) {
          if (visible_.count(var.get())) continue;
          Report("the shape (" + ExprText(buffer->shape) + ") of parameter " + Name(buffer) + " uses " + Name(var) +
                 ", which no parameter defines: neither a scalar, nor a dimension that is that variable alone");
          Show(var.get());
        }
      }
      CheckShape(buffer);
      CheckOffset(buffer);
    }
  }

  // ----- Scopes.

  template <typename Visit>
  void InScope(const Visit& visit) {
    const size_t mark = shown_.size();
    visit();
    while (shown_.size() > mark) {
      visible_.erase(shown_.back());
      shown_.pop_back();
    }
  }
  void Show(const Object* var) {
    if (visible_.insert(var).second) shown_.push_back(var);
    ever_.insert(var);
  }
  void Define(const Var& var) {
    if (ever_.count(var.get())) Report("variable " + Name(var) + " is defined twice");
    Show(var.get());
  }
  void DefineAgain(const Var& var) {
    if (visible_.count(var.get())) Report("variable " + Name(var) + " is defined within its own scope");
    Show(var.get());
  }
  void DefineBuffer(const Buffer& buffer) {
    for (const PrimExpr& extent : buffer->shape) VisitExpr(extent);
    for (const PrimExpr& stride : buffer->strides) VisitExpr(stride);
    CheckShape(buffer);
    if (buffer->elem_offset.defined()) {
      Report("buffer " + Name(buffer) + " is allocated and begins at " + ExprText(buffer->elem_offset));
    }
    if (ever_.count(buffer->data.get())) Report("buffer " + Name(buffer) + " is allocated twice");
    Show(buffer->data.get());
  }
  void CheckVisible(const Buffer& buffer) {
    CheckOffset(buffer);
    if (visible_.count(buffer->data.get())) return;
    Report("buffer " + Name(buffer) +
           (ever_.count(buffer->data.get()) ? " is used outside of its scope"
                                            : " is used but neither a parameter nor allocated"));
    visible_.insert(buffer->data.get());
  }

  // ----- Rules.

  void CheckShape(const Buffer& buffer) {
    for (const PrimExpr& extent : buffer->shape) {
      if (!IsIndexType(extent.dtype()) || !extent.dtype().is_scalar()) {
        Report("dimension " + Typed(extent) + " of buffer " + Name(buffer) + " is no integer");
      } else if (const auto value = AsConstInt(extent); value && *value < 0) {
        Report("buffer " + Name(buffer) + " has a dimension of " + std::to_string(*value));
      }
    }
    if (!buffer->strides.empty() && buffer->strides.size() != buffer->shape.size()) {
      Report("buffer " + Name(buffer) + " has " + std::to_string(buffer->shape.size()) + " dimensions and " +
             std::to_string(buffer->strides.size()) + " strides");
    }
  }

  void CheckOffset(const Buffer& buffer) {
    if (!buffer->elem_offset.defined()) return;
    VisitExpr(buffer->elem_offset);
    const DataType dtype = buffer->elem_offset.dtype();
    if (IsIndexType(dtype) && dtype.is_scalar()) return;
    Report("buffer " + Name(buffer) + " begins at " + Typed(buffer->elem_offset) + ", which is no integer");
  }

  void VisitAccess(const Buffer& buffer, const Array<PrimExpr>& indices, const char* verb) {
    CheckVisible(buffer);
    if (indices.size() != buffer->shape.size()) {
      Report("buffer " + Name(buffer) + " of rank " + std::to_string(buffer->shape.size()) + " is " + verb + " at [" +
             ExprText(indices) + "]");
    }
    for (size_t i = 0; i < indices.size(); ++i) {
      VisitExpr(indices[i]);
      const DataType dtype = indices[i].dtype();
      if (!IsIndexType(dtype)) {
        Report("buffer " + Name(buffer) + " is " + verb + " at " + Typed(indices[i]) + ", which is no integer");
      } else if (!dtype.is_scalar() && i + 1 != indices.size()) {
        Report("only the last index may be a vector: " + Name(buffer) + "[" + ExprText(indices) + "]");
      }
    }
  }

  /// A bound of a loop or a domain: an integer of the variable's type.
  void VisitBound(const Var& var, const PrimExpr& bound, const char* what) {
    const std::string subject = std::string(what) + " of " + Name(var);
    if (!bound.defined()) return Report("the " + subject + " is missing");
    VisitExpr(bound);
    if (!IsIndexType(var.dtype()) || !var.dtype().is_scalar()) {
      Report("variable " + Name(var) + " of type " + Text(var.dtype()) + " counts iterations");
    } else if (bound.dtype() != var.dtype()) {
      Report("the " + subject + " is " + Typed(bound) + "; the variable is " + Text(var.dtype()));
    }
  }

  void VisitCondition(const PrimExpr& condition, const char* what) {
    VisitExpr(condition);
    if (condition.defined() && !condition.dtype().is_bool())
      Report(std::string("the condition of ") + what + " is " + Typed(condition));
  }

  /// An init runs before the first value of the reduction iterators: it cannot use them. A reduction that has been
  /// factored completely has none left; each instance then starts an element of its own.
  void VisitInit(const SBlockNode* op, const std::unordered_set<const Object*>& ordered) {
    std::unordered_set<const Object*> initialised;
    std::unordered_set<const Object*> indexing;
    PostOrderVisit(op->init, [&](const ObjectRef& node) {
      if (ordered.count(node.get())) Report("the init uses the reduction iterator " + Name(Downcast<Var>(node)));
      const auto* store = node.as<BufferStoreNode>();
      if (store == nullptr) return;
      initialised.insert(store->buffer->data.get());
      for (const PrimExpr& index : store->indices) {
        for (const Var& var : FreeVars(index)) indexing.insert(var.get());
      }
    });
    if (ordered.empty()) {
      bool accumulates = false;
      PostOrderVisit(op->body, [&](const ObjectRef& node) {
        const auto* load = node.as<BufferLoadNode>();
        accumulates |= load != nullptr && initialised.count(load->buffer->data.get()) != 0;
      });
      for (const IterVar& iter : op->iter_vars)
        accumulates &= IsOne(iter->dom->extent) || indexing.count(iter->var.get()) != 0;
      if (!accumulates) Report("has an init but no reduction iterator");
    }
    InScope([&] { VisitStmt(op->init); });
  }

  void CheckChoice(const PrimExprNode* op, const PrimExpr& condition, const PrimExpr& a, const PrimExpr& b) {
    if (!condition.dtype().is_bool()) Report("the condition of " + Typed(op) + " is " + Typed(condition));
    if (a.dtype() != b.dtype() || a.dtype() != op->dtype) {
      Report("the values of " + Typed(op) + " have the types " + Text(a.dtype()) + " and " + Text(b.dtype()));
    }
  }

  void CheckIntrinsicTypes(const Intrinsic& intrinsic, const CallNode* op) {
    const auto all = [&](const auto& matches, const char* what) {
      for (const PrimExpr& arg : op->args) {
        if (!matches(arg.dtype())) return Report("an argument of " + Typed(op) + " is no " + what + ": " + Typed(arg));
        if (arg.dtype() != op->args[0].dtype())
          return Report("the arguments of " + Typed(op) + " differ in type: " + Typed(arg));
      }
    };
    switch (intrinsic.kind) {
      case IntrinKind::kFloatUnary:
      case IntrinKind::kFloatTernary:
        return all([](DataType dtype) { return dtype.is_float(); }, "float");
      case IntrinKind::kIntegerUnary:
      case IntrinKind::kIntegerBinary:
        return all([](DataType dtype) { return !dtype.is_float() && !dtype.is_handle(); }, "integer");
      case IntrinKind::kFloatPair:
        return all([](DataType dtype) { return dtype.element() == DataType::Float(32); }, "float32");
      case IntrinKind::kFloatDot:
        return all([](DataType dtype) { return dtype.element() == DataType::Int(32); }, "int32");
      case IntrinKind::kByteTable:
        if (!op->args[0].dtype().is_integer() || op->args[0].dtype().bits() != 8 || op->dtype != op->args[0].dtype()) {
          Report(Typed(op) + " is of no integer of 8 bits, or not of that of its first argument");
        }
        for (size_t i = 1; i < op->args.size(); ++i) {
          const auto* splat = op->args[i].as<BroadcastNode>();
          if (!(splat == nullptr ? op->args[i] : splat->value).as<IntImmNode>()) {
            return Report("a part of the table of " + Typed(op) + " is no constant");
          }
        }
        return;
      case IntrinKind::kControl:
        if (op->args.size() == 3) CheckChoice(op, op->args[0], op->args[1], op->args[2]);
        return;
      case IntrinKind::kFloatBinary:  // pow takes integers too
      case IntrinKind::kPredicate:
      case IntrinKind::kAnyUnary:
        return all([](DataType dtype) { return !dtype.is_handle(); }, "number");
      case IntrinKind::kConstant:
      case IntrinKind::kReinterpret:
      case IntrinKind::kExternCall:
        return;
    }
  }

  // ----- Text.

  static std::string Name(const Var& var) { return std::string(var->name_hint); }
  static std::string Name(const Buffer& buffer) { return std::string(buffer->name); }
  static std::string Text(DataType dtype) { return dtype.ToString(); }
  static std::string Typed(const PrimExpr& expr) { return ExprText(expr) + " (" + Text(expr.dtype()) + ")"; }
  static std::string Typed(const PrimExprNode* op) { return Typed(GetRef<PrimExpr>(op)); }

  void Report(const std::string& what) {
    std::string place;
    if (!block_.empty()) place += "block \"" + block_ + "\"";
    if (!loop_.empty()) place += (place.empty() ? "in loop " : ", in loop ") + loop_;
    findings_->Add(place.empty() ? what : place + ": " + what);
  }

  Findings* findings_;
  std::string block_;
  std::string loop_;
  std::unordered_set<const Object*> visible_;
  /// What is visible in order of definition, to be hidden again.
  std::vector<const Object*> shown_;
  std::unordered_set<const Object*> ever_;
};

}  // namespace

void VerifyDefinitions(const PrimFunc& func, Findings* findings) { DefinitionVerifier(findings).Verify(func); }

}  // namespace deuteron::tir
