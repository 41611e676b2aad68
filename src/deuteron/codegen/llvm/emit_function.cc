/// \file
/// Functions: the kernel itself and the outlined bodies of its parallel loops.
#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_set>

#include "deuteron/codegen/llvm/emitter.h"
#include "deuteron/codegen/llvm/finish_loops.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/analysis/kernel_signature.h"
#include "deuteron/tir/functor.h"

namespace deuteron::codegen {
namespace {

/// Data variables of all buffers of a function, in a fixed order.
class BufferCollector : public tir::StmtExprVisitor {
 public:
  void Add(const tir::Buffer& buffer) {
    if (seen_.insert(buffer->data.get()).second) data.push_back(buffer->data.get());
  }
  std::vector<const tir::VarNode*> data;

 protected:
  void VisitAllocBuffer_(const tir::AllocBufferNode* op) override {
    Add(op->buffer);
    StmtExprVisitor::VisitAllocBuffer_(op);
  }

 private:
  std::unordered_set<const tir::VarNode*> seen_;
};

/// Data variables of the buffers that a statement stores to, or hands to a function.
class WrittenCollector : public tir::StmtExprVisitor {
 public:
  std::unordered_set<const tir::VarNode*> written;

 protected:
  void VisitVar_(const tir::VarNode* op) override { written.insert(op); }
  void VisitBufferStore_(const tir::BufferStoreNode* op) override {
    written.insert(op->buffer->data.get());
    StmtExprVisitor::VisitBufferStore_(op);
  }
};

/// Variables and data variables of buffers that occur in a statement, each once, in order of occurrence; with those
/// that the extents of the buffers consist of, if `with_extents`.
class UseCollector : public tir::StmtExprVisitor {
 public:
  using Loads = std::function<bool(const tir::BufferLoadNode*)>;
  /// Extents of buffers are used by all accesses, or by some loads.
  UseCollector(bool with_extents, Loads needs_extents)
      : with_extents_(with_extents), needs_extents_(std::move(needs_extents)) {}
  std::vector<const tir::VarNode*> used;

 protected:
  void VisitVar_(const tir::VarNode* op) override {
    if (seen_.insert(op).second) used.push_back(op);
  }
  void VisitBufferStore_(const tir::BufferStoreNode* op) override {
    Visit(op->buffer, with_extents_);
    StmtExprVisitor::VisitBufferStore_(op);
  }
  void VisitBufferLoad_(const tir::BufferLoadNode* op) override {
    Visit(op->buffer, with_extents_ || needs_extents_(op));
    StmtExprVisitor::VisitBufferLoad_(op);
  }

 private:
  void Visit(const tir::Buffer& buffer, bool with_extents) {
    VisitVar_(buffer->data.get());
    if (!with_extents) return;
    for (const PrimExpr& extent : buffer->shape) VisitExpr(extent);
  }

  bool with_extents_;
  Loads needs_extents_;
  std::unordered_set<const tir::VarNode*> seen_;
};

void SetFunctionAttributes(llvm::Function* function, const Target& target) {
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("prefer-vector-width", std::to_string(target.machine.vector_bits));
  function->addFnAttr("min-legal-vector-width", std::to_string(target.machine.vector_bits));
  function->addFnAttr("no-trapping-math", "true");
}

}  // namespace

KernelEmitter::KernelEmitter(llvm::Module* module, const Target& target, const CodegenOptions& options)
    : target_(target),
      options_(options),
      costs_(target.machine),
      module_(module),
      llvm_(module->getContext()),
      builder_(module->getContext()) {
  llvm::FastMathFlags flags;
  flags.setAllowContract(true);
  builder_.setFastMathFlags(flags);
}

void KernelEmitter::BeginFrame(FrameState* frame, llvm::Function* function, llvm::Value* context) {
  frame->function = function;
  frame->context = context;
  SetFunctionAttributes(function, target_);
  if (!symbols_.empty()) function->addFnAttr(kHasOpenLoops);
  auto* entry = llvm::BasicBlock::Create(llvm_, "entry", function);
  auto* body = llvm::BasicBlock::Create(llvm_, "body", function);
  frame->exit = llvm::BasicBlock::Create(llvm_, "exit", function);
  builder_.SetInsertPoint(frame->exit);
  frame->result = builder_.CreatePHI(builder_.getInt32Ty(), 2, "result");
  builder_.SetInsertPoint(entry);
  frame->alloca_point = builder_.CreateBr(body);
  builder_.SetInsertPoint(body);
  frame_ = frame;
}

void KernelEmitter::EndFrame() {
  if (frame_->zero_divided != nullptr) {
    llvm::Value* failed = builder_.CreateLoad(builder_.getInt1Ty(), frame_->zero_divided);
    ExitUnless(builder_.CreateNot(failed), "division of an integer by zero");
  }
  frame_->result->addIncoming(builder_.getInt32(0), builder_.GetInsertBlock());
  builder_.CreateBr(frame_->exit);
  frame_->exit->moveAfter(builder_.GetInsertBlock());
  builder_.SetInsertPoint(frame_->exit);
  if (frame_->tile_shapes) builder_.CreateIntrinsic(llvm::Intrinsic::x86_tilerelease, {}, {});
  llvm::Type* pointer = builder_.getPtrTy();
  for (llvm::Value* slot : frame_->scratch_slots) {
    llvm::Value* memory = builder_.CreateLoad(pointer, slot);
    auto* release = llvm::BasicBlock::Create(llvm_, "release", frame_->function);
    auto* next = llvm::BasicBlock::Create(llvm_, "next", frame_->function);
    builder_.CreateCondBr(builder_.CreateIsNull(memory), next, release);
    builder_.SetInsertPoint(release);
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer}, false);
    builder_.CreateCall(type, ContextField(3, pointer), {frame_->context, memory});
    builder_.CreateBr(next);
    builder_.SetInsertPoint(next);
  }
  builder_.CreateRet(frame_->result);
}

llvm::Value* KernelEmitter::ContextField(unsigned field, llvm::Type* type) {
  llvm::Value* address = builder_.CreateConstInBoundsGEP1_64(builder_.getPtrTy(), frame_->context, field);
  return builder_.CreateLoad(type, address);
}

llvm::Value* KernelEmitter::LoadDataPointer(llvm::Value* address) {
  llvm::LoadInst* load = builder_.CreateLoad(builder_.getPtrTy(), address);
  llvm::Metadata* align = llvm::ConstantAsMetadata::get(builder_.getInt64(64));
  load->setMetadata(llvm::LLVMContext::MD_align, llvm::MDNode::get(llvm_, align));
  load->setMetadata(llvm::LLVMContext::MD_noundef, llvm::MDNode::get(llvm_, {}));
  return load;
}

void KernelEmitter::ExitIf(llvm::Value* failed, llvm::Value* code) {
  auto* proceed = llvm::BasicBlock::Create(llvm_, "proceed", frame_->function);
  frame_->result->addIncoming(code, builder_.GetInsertBlock());
  builder_.CreateCondBr(failed, frame_->exit, proceed);
  builder_.SetInsertPoint(proceed);
}

void KernelEmitter::ExitUnless(llvm::Value* condition, const std::string& message) {
  auto* failed = llvm::BasicBlock::Create(llvm_, "failed", frame_->function);
  auto* passed = llvm::BasicBlock::Create(llvm_, "passed", frame_->function);
  builder_.CreateCondBr(condition, passed, failed, llvm::MDBuilder(llvm_).createBranchWeights(1000, 1));
  builder_.SetInsertPoint(failed);
  llvm::Type* pointer = builder_.getPtrTy();
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer}, false);
  builder_.CreateCall(type, ContextField(1, pointer), {frame_->context, builder_.CreateGlobalString(message)});
  frame_->result->addIncoming(builder_.getInt32(1), builder_.GetInsertBlock());
  builder_.CreateBr(frame_->exit);
  builder_.SetInsertPoint(passed);
}

void KernelEmitter::MakeAliasScopes(const tir::PrimFunc& func) {
  alias_scopes_.clear();
  if (!func->HasNonzeroAttr("tirx.noalias")) return;
  BufferCollector collector;
  for (const tir::Buffer& buffer : tir::ParamBuffers(func)) collector.Add(buffer);
  const size_t num_params = collector.data.size();
  collector.VisitStmt(func->body);
  llvm::MDBuilder metadata(llvm_);
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain(symbol_);
  // Every scope lists all others: buffers of which there are more share the last.
  constexpr size_t kMostScopes = 64;
  std::vector<llvm::Metadata*> scopes;
  for (size_t i = 0; i < std::min(collector.data.size(), kMostScopes); ++i) {
    scopes.push_back(metadata.createAnonymousAliasScope(domain, std::string(collector.data[i]->name_hint)));
  }
  std::vector<AliasScope> nodes;
  for (size_t i = 0; i < scopes.size(); ++i) {
    std::vector<llvm::Metadata*> others = scopes;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    nodes.push_back({llvm::MDNode::get(llvm_, scopes[i]), others.empty() ? nullptr : llvm::MDNode::get(llvm_, others)});
  }
  WrittenCollector stores;
  stores.VisitStmt(func->body);
  for (size_t i = 0; i < collector.data.size(); ++i) {
    AliasScope scope = nodes[std::min(i, nodes.size() - 1)];
    scope.is_read_only = i < num_params && stores.written.count(collector.data[i]) == 0;
    alias_scopes_[collector.data[i]] = scope;
  }
}

void KernelEmitter::BindParameters(const tir::PrimFunc& func) {
  parameters_.clear();
  const auto bind = [&](const tir::Var& var, bool is_buffer, uint64_t position) {
    if (parameters_.emplace(var.get(), Parameter{is_buffer, position}).second) BindParameter(var.get());
  };
  uint64_t position = 0;
  for (const tir::Buffer& buffer : tir::ParamBuffers(func)) bind(buffer->data, true, position++);
  position = 0;
  for (const tir::Var& var : tir::KernelScalars(func)) bind(var, false, position++);
}

bool KernelEmitter::BindParameter(const tir::VarNode* var) {
  const auto known = parameters_.find(var);
  if (known == parameters_.end()) return false;
  const Parameter& parameter = known->second;
  if (parameter.is_buffer) {
    values_[var] =
        LoadDataPointer(builder_.CreateConstInBoundsGEP1_64(builder_.getPtrTy(), frame_->data, parameter.position));
    return true;
  }
  llvm::Type* i64 = builder_.getInt64Ty();
  llvm::Value* address = builder_.CreateConstInBoundsGEP1_64(i64, frame_->scalars, parameter.position);
  llvm::Value* bits = builder_.CreateLoad(i64, address, std::string(var->name_hint));
  const DataType type = var->dtype;
  if (type.is_float()) {
    llvm::Value* low = builder_.CreateTrunc(bits, builder_.getIntNTy(static_cast<unsigned>(type.bits())));
    values_[var] = builder_.CreateBitCast(low, ScalarType(type));
  } else {
    values_[var] = EmitCast(type, DataType::Int(64), bits);
  }
  return true;
}

llvm::Function* KernelEmitter::Emit(const tir::PrimFunc& func, const std::string& symbol) {
  symbol_ = symbol;
  outlined_ = 0;
  values_.clear();
  data_vars_.clear();
  mask_ = nullptr;
  symbols_.clear();
  for (const tir::Var& scalar : tir::KernelScalars(func)) symbols_.insert(scalar.get());
  llvm::Type* pointer = builder_.getPtrTy();
  auto* type = llvm::FunctionType::get(builder_.getInt32Ty(), {pointer, pointer, pointer}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, symbol, module_);
  function->addParamAttr(0, llvm::Attribute::ReadOnly);
  for (unsigned i = 0; i < 3; ++i) function->addParamAttr(i, llvm::Attribute::NoAlias);
  MakeAliasScopes(func);
  FrameState frame;
  BeginFrame(&frame, function, function->getArg(0));
  frame.data = function->getArg(1);
  frame.scalars = function->getArg(2);
  BindParameters(func);
  EmitStmt(func->body);
  EndFrame();
  frame_ = nullptr;
  return function;
}

llvm::Function* KernelEmitter::EmitShared(const tir::PrimFunc& func, const std::string& symbol) {
  llvm::Function* shared = Emit(func, symbol + "_shared");
  shared->setLinkage(llvm::GlobalValue::InternalLinkage);
  return shared;
}

llvm::Function* KernelEmitter::EmitEntry(llvm::Function* shared, const std::vector<uint64_t>& scalars,
                                         const std::string& symbol) {
  // One more is there for those that read beyond the end of a table (emit_byte_table.cc).
  std::vector<uint64_t> words = scalars;
  words.push_back(0);
  llvm::Constant* data = llvm::ConstantDataArray::get(llvm_, words);
  auto* memory = new llvm::GlobalVariable(*module_, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data,
                                          symbol + "_scalars");
  auto* entry = llvm::Function::Create(shared->getFunctionType(), llvm::GlobalValue::ExternalLinkage, symbol, module_);
  SetFunctionAttributes(entry, target_);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(llvm_, "entry", entry));
  builder.CreateRet(builder.CreateCall(shared, {entry->getArg(0), entry->getArg(1), memory}));
  return entry;
}

llvm::Function* KernelEmitter::OutlineParallelBody(const tir::ForNode* op, llvm::StructType* closure_type,
                                                   const std::vector<const tir::VarNode*>& used) {
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::Type* i64 = builder_.getInt64Ty();
  auto* type = llvm::FunctionType::get(builder_.getInt32Ty(), {pointer, i64, i64}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                          symbol_ + "_parallel_" + std::to_string(outlined_++), module_);
  function->addParamAttr(0, llvm::Attribute::NoAlias);
  function->addParamAttr(0, llvm::Attribute::ReadOnly);
  const llvm::IRBuilderBase::InsertPoint saved_point = builder_.saveIP();
  FrameState* saved_frame = frame_;
  auto saved_values = std::move(values_);
  values_.clear();
  FrameState frame;
  frame.parallel_body = true;
  BeginFrame(&frame, function, nullptr);
  unsigned field = 0;
  const auto next_field = [&] { return builder_.CreateStructGEP(closure_type, function->getArg(0), field++); };
  for (llvm::Value** argument : {&frame.context, &frame.data, &frame.scalars}) {
    *argument = builder_.CreateLoad(pointer, next_field());
  }
  for (const tir::VarNode* var : used) {
    if (BindParameter(var)) continue;
    llvm::Value* outer = saved_values.at(var);
    llvm::Type* const of = outer->getType();
    values_[var] = llvm::isa<llvm::Constant>(outer) ? outer
                   : of->isPointerTy()              ? LoadDataPointer(next_field())
                                                    : builder_.CreateLoad(of, next_field());
  }
  llvm::Value* min = EmitCast(DataType::Int(64), op->min.dtype(), EmitExpr(op->min));
  llvm::Value* begin = builder_.CreateAdd(function->getArg(1), min, "", false, true);
  llvm::Value* end = builder_.CreateAdd(function->getArg(2), min, "", false, true);
  begin = EmitCast(op->loop_var.dtype(), DataType::Int(64), begin);
  end = EmitCast(op->loop_var.dtype(), DataType::Int(64), end);
  EmitSerialLoop(begin, end, op, std::nullopt);
  EndFrame();
  frame_ = saved_frame;
  values_ = std::move(saved_values);
  builder_.restoreIP(saved_point);
  return function;
}

void KernelEmitter::EmitParallelFor(const tir::ForNode* op) {
  const auto visible = [this](const tir::VarNode* var) { return values_.count(var) != 0; };
  const PrimExpr grain = costs_.Grain(op, visible);
  const std::optional<int64_t> iterations = AsConstInt(op->extent), least = AsConstInt(grain);
  // A loop of less than two grains needs no other thread.
  if (iterations && least && *iterations / 2 < std::max<int64_t>(*least, 1)) {
    frame_->in_lone_loop = true;
    EmitLoop(op);
    frame_->in_lone_loop = false;
    return;
  }
  UseCollector uses(options_.check_bounds, [&](const tir::BufferLoadNode* load) {
    return load->indices.size() == 1 && LooksForNearLanes(load->buffer, load->indices[0]);
  });
  uses.VisitStmt(op->body);
  uses.VisitExpr(op->min);
  std::vector<const tir::VarNode*> used;
  for (const tir::VarNode* var : uses.used) {
    if (values_.count(var)) used.push_back(var);
  }
  llvm::Type* pointer = builder_.getPtrTy();
  std::vector<llvm::Type*> fields = {pointer, pointer, pointer};
  std::vector<llvm::Value*> field_values = {frame_->context, frame_->data, frame_->scalars};
  for (const tir::VarNode* var : used) {
    llvm::Value* value = values_.at(var);
    if (parameters_.count(var) || llvm::isa<llvm::Constant>(value)) continue;
    fields.push_back(value->getType());
    field_values.push_back(value);
  }
  auto* closure_type = llvm::StructType::get(llvm_, fields);
  llvm::IRBuilder<> entry(frame_->alloca_point);
  llvm::Value* closure = entry.CreateAlloca(closure_type, nullptr, "closure");
  for (unsigned i = 0; i < field_values.size(); ++i) {
    builder_.CreateStore(field_values[i], builder_.CreateStructGEP(closure_type, closure, i));
  }
  llvm::Function* body = OutlineParallelBody(op, closure_type, used);
  llvm::Value* extent = EmitCast(DataType::Int(64), op->extent.dtype(), EmitExpr(op->extent));
  auto* type = llvm::FunctionType::get(
      builder_.getInt32Ty(), {pointer, builder_.getInt64Ty(), builder_.getInt64Ty(), pointer, pointer}, false);
  llvm::Value* result =
      builder_.CreateCall(type, ContextField(0, pointer), {frame_->context, extent, EmitIndex(grain), body, closure});
  ExitIf(builder_.CreateICmpNE(result, builder_.getInt32(0)), result);
}

}  // namespace deuteron::codegen
