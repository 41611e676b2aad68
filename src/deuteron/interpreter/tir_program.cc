#include "deuteron/interpreter/tir_program.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "deuteron/ir/scalar_format.h"
#include "deuteron/tir/intrinsics.h"
#include "deuteron/tir/transform/block_inits.h"
#include "deuteron/tir/transform/views.h"

namespace deuteron::interpreter {
namespace {

using namespace tir;  // NOLINT(build/namespaces): the nodes of this level

/// Of one of more variables each sum would copy them all.
constexpr size_t kMostTerms = 16;

bool IsLinear(const ExprCode& code) {
  const bool is_leaf = code.form == ExprForm::kConstant || code.form == ExprForm::kVariable;
  return code.dtype.is_int() && (is_leaf || (code.form == ExprForm::kLinear && code.terms.size() <= kMostTerms));
}
bool IsInteger(const ExprCode& code) { return code.form == ExprForm::kConstant && code.dtype.is_int(); }

uint64_t Unsigned(int64_t value) { return static_cast<uint64_t>(value); }
int64_t WrappedProduct(int64_t a, int64_t b) { return static_cast<int64_t>(Unsigned(a) * Unsigned(b)); }
int64_t WrappedSum(int64_t a, int64_t b) { return static_cast<int64_t>(Unsigned(a) + Unsigned(b)); }

/// Adds a multiple of a linear expression to another one.
void AddLinear(const ExprCode& from, int64_t factor, ExprCode* to) {
  const auto add = [&](int slot, int64_t more) {
    const auto same = [&](const LinearTerm& term) { return term.slot == slot; };
    const auto found = std::find_if(to->terms.begin(), to->terms.end(), same);
    if (found == to->terms.end()) {
      to->terms.push_back({slot, more});
    } else {
      found->factor = WrappedSum(found->factor, more);
    }
  };
  if (from.form == ExprForm::kVariable) return add(from.slot, factor);
  to->imm.i = WrappedSum(to->imm.i, WrappedProduct(from.imm.i, factor));
  to->per_lane = WrappedSum(to->per_lane, WrappedProduct(from.per_lane, factor));
  for (const LinearTerm& term : from.terms) add(term.slot, WrappedProduct(term.factor, factor));
}

/// Makes an integer linear, if what it is made of is.
void MakeLinear(ExprCode* code) {
  const std::vector<ExprCode>& of = code->children;
  if (!code->dtype.is_int() || of.empty() || !std::all_of(of.begin(), of.end(), IsLinear)) return;
  switch (code->kind) {
    case ExprKind::kAdd:
    case ExprKind::kSub:
      AddLinear(of[0], 1, code);
      AddLinear(of[1], code->kind == ExprKind::kAdd ? 1 : -1, code);
      break;
    case ExprKind::kMul:
      if (!IsInteger(of[0]) && !IsInteger(of[1])) return;
      AddLinear(IsInteger(of[0]) ? of[1] : of[0], IsInteger(of[0]) ? of[0].imm.i : of[1].imm.i, code);
      break;
    case ExprKind::kRamp:
    case ExprKind::kBroadcast:
      if (code->kind == ExprKind::kRamp && !IsInteger(of[1])) return;
      AddLinear(of[0], 1, code);
      code->per_lane = code->kind == ExprKind::kRamp ? of[1].imm.i : 0;
      break;
    case ExprKind::kCast:
      // What is wider holds the same.
      if (of[0].form == ExprForm::kLinear || code->dtype.bits() < of[0].dtype.bits()) return;
      AddLinear(of[0], 1, code);
      break;
    default:
      return;
  }
  code->form = ExprForm::kLinear;
  code->children.clear();
  if (code->per_lane != 0) return;
  if (code->terms.empty()) {
    code->form = ExprForm::kConstant;
    code->imm.i = WrapToWidth(code->dtype, code->imm.i);
  } else if (code->terms.size() == 1 && code->terms[0].factor == 1 && code->imm.i == 0) {
    code->form = ExprForm::kVariable;
    code->slot = code->terms[0].slot;
  }
}

/// Of arithmetic of float32.
ExprForm SingleForm(ExprKind kind) {
  switch (kind) {
    case ExprKind::kAdd:
      return ExprForm::kSingleAdd;
    case ExprKind::kSub:
      return ExprForm::kSingleSub;
    case ExprKind::kMul:
      return ExprForm::kSingleMul;
    default:
      return ExprForm::kBinary;
  }
}

void SetForm(ExprCode* code) {
  const bool is_single = code->dtype == DataType::Float(32);
  switch (code->kind) {
    case ExprKind::kIntImm:
    case ExprKind::kFloatImm:
    case ExprKind::kStringImm:
      code->form = ExprForm::kConstant;
      return;
    case ExprKind::kVar:
      if (code->lanes == 1) code->form = ExprForm::kVariable;
      return;
    case ExprKind::kBufferLoad:
      code->form = is_single ? ExprForm::kSingleLoad : ExprForm::kLoad;
      return;
    case ExprKind::kAnd:
    case ExprKind::kOr:
      return;
    default:
      break;
  }
  code->binary = FindBinary(code->kind, code->operand);
  if (code->binary != nullptr) code->form = is_single ? SingleForm(code->kind) : ExprForm::kBinary;
  MakeLinear(code);
}

/// Gives sums of variables their slots, equal ones the same.
class SumNumberer {
 public:
  explicit SumNumberer(TirProgram* program) : program_(program) { program->followers.resize(program->num_vars); }

  void Run() {
    for (BufferCode& buffer : program_->param_buffers) Visit(&buffer);
    for (ViewCode& view : program_->views) Visit(&view.buffer);
    Visit(&program_->body);
  }

 private:
  void Visit(std::vector<ExprCode>* exprs) {
    for (ExprCode& expr : *exprs) Visit(&expr);
  }
  void Visit(BufferCode* buffer) {
    Visit(&buffer->shape);
    Visit(&buffer->strides);
    Visit(&buffer->offset);
  }
  void Visit(StmtCode* stmt) {
    Visit(&stmt->exprs);
    if (stmt->kind == StmtKind::kBufferStore) stmt->index_slots = SlotsOf(stmt->exprs, 1);
    for (IterCode& iter : stmt->iters) {
      Visit(&iter.value);
      Visit(&iter.dom_min);
    }
    for (BufferCode& buffer : stmt->allocs) Visit(&buffer);
    if (stmt->init != nullptr) Visit(stmt->init.get());
    for (StmtCode& child : stmt->body) Visit(&child);
  }
  void Visit(ExprCode* expr) {
    Visit(&expr->children);
    if (expr->kind == ExprKind::kBufferLoad) expr->index_slots = SlotsOf(expr->children, 0);
    if (expr->form != ExprForm::kLinear) return;
    std::sort(expr->terms.begin(), expr->terms.end());
    expr->slot = SlotOf(expr->imm.i, expr->terms);
    if (expr->per_lane == 0 && expr->dtype.bits() == 64) expr->form = ExprForm::kVariable;
  }

  int SlotOf(int64_t constant, const std::vector<LinearTerm>& terms) {
    const int next = program_->num_vars + static_cast<int>(slots_.size());
    const auto [it, inserted] = slots_.try_emplace({constant, terms}, next);
    if (inserted) {
      program_->sums.push_back(constant);
      for (const LinearTerm& term : terms) program_->followers[term.slot].push_back({next, term.factor});
    }
    return it->second;
  }

  /// Of the indices from one on.
  std::vector<int> SlotsOf(const std::vector<ExprCode>& indices, size_t first) {
    std::vector<int> slots;
    for (size_t i = first; i < indices.size(); ++i) {
      const ExprCode& index = indices[i];
      const bool is_constant = index.form == ExprForm::kConstant;
      if (index.dtype.bits() < 64 || (!is_constant && index.form != ExprForm::kVariable)) return {};
      slots.push_back(is_constant ? SlotOf(index.imm.i, {}) : index.slot);
    }
    return slots;
  }

  TirProgram* program_;
  std::map<std::pair<int64_t, std::vector<LinearTerm>>, int> slots_;
};

class Preparer {
 public:
  std::shared_ptr<const TirProgram> Run(const PrimFunc& given) {
    const PrimFunc func = BindParameterOffsets(given);
    auto program = std::make_shared<TirProgram>();
    program_ = program.get();
    program->name = func->GetAttr<String>("global_symbol").value_or("prim_func");
    for (const Var& param : func->params) {
      auto it = func->buffer_map.find(param);
      if (it == func->buffer_map.end()) {
        program->scalar_params.push_back(VarSlot(param));
        continue;
      }
      const Buffer buffer = (*it).second;
      std::vector<int> slots;
      for (const PrimExpr& extent : buffer->shape) {
        const auto* var = extent.as<VarNode>();
        slots.push_back(var == nullptr ? -1 : VarSlot(GetRef<Var>(var)));
      }
      program->shape_slots.push_back(std::move(slots));
      program->param_buffers.push_back(Define(buffer));
    }
    program->body = Compile(RunInitsOfEmptyReductions(func->body));
    program->num_vars = static_cast<int>(vars_.size());
    program->num_buffers = static_cast<int>(buffers_.size());
    SumNumberer(program.get()).Run();
    return program;
  }

 private:
  int VarSlot(const Var& var) { return vars_.try_emplace(var, static_cast<int>(vars_.size())).first->second; }
  int BufferSlot(const Buffer& buffer) {
    const auto [it, inserted] = buffers_.try_emplace(buffer, static_cast<int>(buffers_.size()));
    const int slot = it->second;
    const auto owner = inserted ? owners_.find(buffer->data.get()) : owners_.end();
    if (owner != owners_.end()) program_->views.push_back({CodeOf(buffer, slot), owner->second});
    return slot;
  }
  BufferCode Define(const Buffer& buffer) {
    const int slot = BufferSlot(buffer);
    owners_[buffer->data.get()] = slot;
    return CodeOf(buffer, slot);
  }
  BufferCode CodeOf(const Buffer& buffer, int slot) {
    const bool begins_behind = buffer->elem_offset.defined();
    return {std::string(buffer->name),
            buffer->dtype,
            Compile(buffer->shape),
            Compile(buffer->strides),
            Compile(begins_behind ? Array<PrimExpr>{buffer->elem_offset} : Array<PrimExpr>()),
            slot};
  }
  std::vector<ExprCode> Compile(const Array<PrimExpr>& exprs) {
    std::vector<ExprCode> code;
    code.reserve(exprs.size());
    for (const PrimExpr& expr : exprs) code.push_back(Compile(expr));
    return code;
  }

  ExprCode Compile(const PrimExpr& expr) {
    if (const auto it = sums_.find(expr.get()); it != sums_.end()) return it->second;
    ExprCode code = CompileByKind(expr);
    SetForm(&code);
    return code;
  }

  ExprCode CompileByKind(const PrimExpr& expr) {
    ExprCode code{.kind = expr->kind, .dtype = expr.dtype().element(), .lanes = expr.dtype().lanes()};
    switch (expr->kind) {
      case ExprKind::kVar:
        code.slot = VarSlot(GetRef<Var>(expr.as<VarNode>()));
        break;
      case ExprKind::kIntImm:
        code.imm = Scalar::Int(expr.as<IntImmNode>()->value);
        break;
      case ExprKind::kFloatImm:
        code.imm = Scalar::Float(RoundToFormat(expr->dtype, expr.as<FloatImmNode>()->value));
        break;
      case ExprKind::kStringImm:
        break;
      case ExprKind::kCast: {
        const auto* op = expr.as<CastNode>();
        code.operand = op->value.dtype().element();
        code.children.push_back(Compile(op->value));
        break;
      }
      case ExprKind::kNot:
        code.children.push_back(Compile(expr.as<NotNode>()->a));
        break;
      case ExprKind::kSelect: {
        const auto* op = expr.as<SelectNode>();
        code.children = Compile(Array<PrimExpr>{op->condition, op->true_value, op->false_value});
        break;
      }
      case ExprKind::kLet: {
        const auto* op = expr.as<LetNode>();
        code.slot = VarSlot(op->var);
        code.children = Compile(Array<PrimExpr>{op->value, op->body});
        break;
      }
      case ExprKind::kRamp: {
        const auto* op = expr.as<RampNode>();
        code.children = Compile(Array<PrimExpr>{op->base, op->stride});
        break;
      }
      case ExprKind::kBroadcast:
        code.children.push_back(Compile(expr.as<BroadcastNode>()->value));
        break;
      case ExprKind::kShuffle: {
        const auto* op = expr.as<ShuffleNode>();
        code.imm = Scalar::Int(static_cast<int64_t>(op->vectors.size()));
        code.children = Compile(op->vectors);
        for (const PrimExpr& index : op->indices) code.children.push_back(Compile(index));
        break;
      }
      case ExprKind::kCall: {
        const auto* op = expr.as<CallNode>();
        const tir::Intrinsic* info = tir::FindIntrinsicInfo(op->op);
        if (info != nullptr && info->kind == tir::IntrinKind::kConstant)
          return Compile(tir::ConstantIntrinsic(op->op, op->dtype));
        CompileCall(op, &code);
        break;
      }
      case ExprKind::kBufferLoad: {
        const auto* op = expr.as<BufferLoadNode>();
        code.slot = BufferSlot(op->buffer);
        code.children = Compile(op->indices);
        break;
      }
      case ExprKind::kProducerLoad:
      case ExprKind::kReduce:
        DEUTERON_THROW(InternalError) << "a tensor expression inside of a loop-level function";
      case ExprKind::kAdd:
      case ExprKind::kSub:
      case ExprKind::kMul:
      case ExprKind::kDiv:
      case ExprKind::kMod:
      case ExprKind::kFloorDiv:
      case ExprKind::kFloorMod:
      case ExprKind::kMin:
      case ExprKind::kMax:
      case ExprKind::kEQ:
      case ExprKind::kNE:
      case ExprKind::kLT:
      case ExprKind::kLE:
      case ExprKind::kGT:
      case ExprKind::kGE:
      case ExprKind::kAnd:
      case ExprKind::kOr: {
        const auto* op = static_cast<const BinaryNode*>(expr.get());
        code.operand = op->a.dtype().element();
        code.children = Compile(Array<PrimExpr>{op->a, op->b});
        break;
      }
    }
    return code;
  }

  void CompileCall(const CallNode* op, ExprCode* code) {
    const std::string name(op->op->name);
    code->children = Compile(op->args);
    code->operand = op->args.empty() ? code->dtype : op->args[0].dtype().element();
    if (name == "tir.if_then_else") {
      code->special = ExprCode::Special::kIfThenElse;
      return;
    }
    if (name == "tir.reinterpret") {
      code->special = ExprCode::Special::kReinterpret;
      return;
    }
    code->intrinsic = FindIntrinsic(name);
    if (code->intrinsic == nullptr || op->args.size() > kMostArguments) {
      DEUTERON_THROW(UnsupportedError) << "the interpreter does not know the intrinsic " << name;
    }
  }

  StmtCode Compile(const Stmt& stmt) {
    StmtCode code{.kind = stmt->kind};
    switch (stmt->kind) {
      case StmtKind::kBind: {
        const auto* op = stmt.as<BindNode>();
        code.exprs.push_back(Compile(op->value));
        code.slot = VarSlot(op->var);
        break;
      }
      case StmtKind::kAssert: {
        const auto* op = stmt.as<AssertStmtNode>();
        code.exprs.push_back(Compile(op->condition));
        code.text = std::string(op->message);
        break;
      }
      case StmtKind::kBufferStore: {
        const auto* op = stmt.as<BufferStoreNode>();
        code.slot = BufferSlot(op->buffer);
        code.exprs.push_back(Compile(op->value));
        for (const PrimExpr& index : op->indices) code.exprs.push_back(Compile(index));
        break;
      }
      case StmtKind::kAllocBuffer:
        code.allocs.push_back(Define(stmt.as<AllocBufferNode>()->buffer));
        break;
      case StmtKind::kSeq:
        for (const Stmt& child : stmt.as<SeqStmtNode>()->seq) code.body.push_back(Compile(child));
        break;
      case StmtKind::kIfThenElse: {
        const auto* op = stmt.as<IfThenElseNode>();
        code.exprs.push_back(Compile(op->condition));
        code.body.push_back(Compile(op->then_case));
        if (op->else_case.defined()) code.body.push_back(Compile(op->else_case));
        break;
      }
      case StmtKind::kEvaluate:
        code.exprs.push_back(Compile(stmt.as<EvaluateNode>()->value));
        break;
      case StmtKind::kFor: {
        const auto* op = stmt.as<ForNode>();
        code.slot = VarSlot(op->loop_var);
        code.exprs = Compile(Array<PrimExpr>{op->min, op->extent});
        code.body.push_back(Compile(op->body));
        break;
      }
      case StmtKind::kWhile: {
        const auto* op = stmt.as<WhileNode>();
        code.exprs.push_back(Compile(op->condition));
        code.body.push_back(Compile(op->body));
        break;
      }
      case StmtKind::kAttr:
        return Compile(stmt.as<AttrStmtNode>()->body);
      case StmtKind::kSBlock:
        DEUTERON_THROW(InternalError) << "block " << stmt.as<SBlockNode>()->name_hint << " is not realised";
      case StmtKind::kSBlockRealize:
        CompileBlock(stmt.as<SBlockRealizeNode>(), &code);
        break;
    }
    return code;
  }

  void CompileBlock(const SBlockRealizeNode* op, StmtCode* code) {
    const SBlock& block = op->block;
    code->text = std::string(block->name_hint);
    code->exprs.push_back(Compile(op->predicate));
    std::vector<std::pair<const Object*, ExprCode>> sums;
    for (size_t i = 0; i < op->iter_values.size(); ++i) {
      const IterVar& iter = block->iter_vars[i];
      const bool is_reduce = iter->type == IterVarType::kReduce;
      ExprCode value = Compile(op->iter_values[i]);
      const bool is_sum = IsLinear(value) && iter->var.dtype() == value.dtype;
      if (is_sum) sums.emplace_back(iter->var.get(), value);
      if (is_sum && !is_reduce) continue;
      code->iters.push_back({is_sum ? -1 : VarSlot(iter->var), is_reduce, std::move(value), Compile(iter->dom->min)});
    }
    // A block may stand in two places, with other values.
    for (const IterVar& iter : block->iter_vars) sums_.erase(iter->var.get());
    for (const auto& [var, sum] : sums) sums_.emplace(var, sum);
    for (const Buffer& buffer : block->alloc_buffers) code->allocs.push_back(Define(buffer));
    if (block->init.defined()) code->init = std::make_unique<StmtCode>(Compile(block->init));
    code->body.push_back(Compile(block->body));
  }

  std::unordered_map<Var, int, ObjectPtrHash, ObjectPtrEqual> vars_;
  std::unordered_map<Buffer, int, ObjectPtrHash, ObjectPtrEqual> buffers_;
  /// By variable, what iterators of blocks are that are sums of variables around their blocks.
  std::unordered_map<const Object*, ExprCode> sums_;
  /// Slots of buffers by the data that they own.
  std::unordered_map<const Object*, int> owners_;
  TirProgram* program_ = nullptr;
};

}  // namespace

std::shared_ptr<const TirProgram> Prepare(const PrimFunc& func) { return Preparer().Run(func); }

void RunPrimFunc(const PrimFunc& func, const std::vector<Tensor>& tensors, const std::vector<int64_t>& scalars,
                 const Options& options) {
  Execute(*Prepare(func), tensors, scalars, options);
}

}  // namespace deuteron::interpreter
