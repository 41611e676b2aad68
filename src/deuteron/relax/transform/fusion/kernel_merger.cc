/// \file
/// Purpose: one kernel from a chain of kernels. The bodies of the kernels stand one after another; what one
/// writes and another reads becomes a buffer of the root block. Making those buffers small, or nothing, is
/// the business of the schedule after it (docs/fusion.md).
///
/// What it must not do: change what a block computes, or its order. A kernel's buffers, block iterators, loop
/// variables and symbolic dimensions are renewed for each call, since one kernel may be called twice, and
/// replaced by those of the caller: SymbolicMatcher says by what.
#include "deuteron/relax/transform/fusion/kernel_merger.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/inplace_arguments.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/fusion/symbolic_matcher.h"
#include "deuteron/tir/block_annotations.h"
#include "deuteron/tir/renew_defs.h"
#include "deuteron/tir/transform/views.h"

namespace deuteron::relax::fusion {
namespace {

using tir::Buffer;
using tir::BufferRegion;
using tir::PrimFunc;
using tir::Range;
using tir::SBlock;

/// The reason why a function stays unmerged. Caught in MergeKernels.
struct CannotMerge {
  std::string why;
};

/// Puts a kernel's body into its caller: buffers, symbolic variables, and names of blocks; what it defines is renewed.
class BodyAdapter : public tir::DefRenewer {
 public:
  BodyAdapter(const tir::VarMap& symbols, bool as_written, FunctionNames* block_names, arith::Analyzer* analyzer)
      : symbols_(symbols), as_written_(as_written), block_names_(block_names), analyzer_(analyzer) {}

  using StmtExprMutator::MapBuffer;
  Buffer Define(const Buffer& buffer) { return VisitBufferDef(buffer); }

 protected:
  PrimExpr VisitVar_(const tir::VarNode* op) override {
    auto it = symbols_.find(GetRef<tir::Var>(op));
    return it == symbols_.end() ? DefRenewer::VisitVar_(op) : it->second;
  }
  // TVM does not evaluate what the numbers of the caller make constant.
  PrimExpr VisitCast_(const tir::CastNode* op) override {
    if (!as_written_) return DefRenewer::VisitCast_(op);
    PrimExpr value = VisitExpr(op->value);
    return value.same_as(op->value) ? GetRef<PrimExpr>(op) : tir::Cast(op->dtype, std::move(value));
  }
  PrimExpr VisitBinary_(const tir::BinaryNode* op) override {
    if (!as_written_) return DefRenewer::VisitBinary_(op);
    PrimExpr a = VisitExpr(op->a);
    PrimExpr b = VisitExpr(op->b);
    if (a.same_as(op->a) && b.same_as(op->b)) return GetRef<PrimExpr>(op);
    return MakeBinary(op->kind, std::move(a), std::move(b));
  }
  PrimExpr VisitSelect_(const tir::SelectNode* op) override {
    if (!as_written_) return DefRenewer::VisitSelect_(op);
    PrimExpr condition = VisitExpr(op->condition);
    PrimExpr true_value = VisitExpr(op->true_value);
    PrimExpr false_value = VisitExpr(op->false_value);
    return tir::Select(std::move(condition), std::move(true_value), std::move(false_value));
  }
  tir::Stmt VisitSBlock_(const tir::SBlockNode* op) override {
    auto block = Downcast<SBlock>(DefRenewer::VisitSBlock_(op));
    const Array<BufferRegion> reads = MergeRegions(block->reads);
    const Array<BufferRegion> writes = MergeRegions(block->writes);
    const std::string name = block_names_->Unique(std::string(op->name_hint));
    // TVM's annotations go on naming the buffers of the kernel that there was.
    if (as_written_ && !block->annotations.same_as(op->annotations)) {
      CopyOnWrite(&block)->annotations = RenewBuffers(op->annotations);
    }
    if (reads.same_as(block->reads) && writes.same_as(block->writes) && name == block->name_hint) return block;
    auto* node = CopyOnWrite(&block);
    node->reads = reads;
    node->writes = writes;
    node->name_hint = name;
    return block;
  }

 private:
  /// Buffers that are defined nowhere are each block's own: the text declares them there.
  static Map<String, Any> RenewBuffers(Map<String, Any> annotations) {
    for (const auto& [key, value] : Map<String, Any>(annotations)) {
      const auto list = value.try_cast<Array<ObjectRef>>();
      if (!list.has_value()) continue;
      annotations.Set(key, list->Map([](const ObjectRef& item) -> ObjectRef {
        const auto buffer = As<Buffer>(item);
        if (!buffer.defined()) return item;
        return Buffer(buffer->name, buffer->dtype, buffer->shape, buffer->scope, buffer->strides, buffer->elem_offset,
                      buffer->offset_factor);
      }));
    }
    return annotations;
  }

  /// One region a buffer: arguments that are one tensor in the caller are one buffer here.
  Array<BufferRegion> MergeRegions(const Array<BufferRegion>& regions) {
    const auto same_buffer = [](const BufferRegion& a, const BufferRegion& b) { return a->buffer.same_as(b->buffer); };
    if (regions.size() < 2 || (regions.size() == 2 && !same_buffer(regions[0], regions[1]))) return regions;
    std::unordered_map<const Object*, int64_t> index;
    Array<BufferRegion> merged;
    for (const BufferRegion& region : regions) {
      auto [it, inserted] = index.try_emplace(region->buffer.get(), static_cast<int64_t>(merged.size()));
      if (inserted) {
        merged.push_back(region);
      } else if (!as_written_) {
        merged.Set(it->second, Union(merged[it->second], region));
      }
    }
    return merged.size() == regions.size() ? regions : merged;
  }

  BufferRegion Union(const BufferRegion& a, const BufferRegion& b) {
    std::vector<Range> ranges;
    for (size_t i = 0; i < a->region.size(); ++i) {
      ranges.push_back(Union(a->region[i], b->region[i], a->buffer->shape[i]));
    }
    return BufferRegion(a->buffer, ranges);
  }
  /// The least range that covers both, where their distance is known; else the whole dimension.
  Range Union(const Range& a, const Range& b, const PrimExpr& extent) {
    if (ExprEqual(a->min, b->min) && ExprEqual(a->extent, b->extent)) return a;
    const auto low = AsConstInt(analyzer_->Simplify(b->min - a->min));
    const auto high = AsConstInt(analyzer_->Simplify(b->min + b->extent - a->min - a->extent));
    if (!low || !high) return Range::FromMinExtent(MakeConst(extent.dtype(), 0), extent);
    const PrimExpr min = *low < 0 ? b->min : a->min;
    const PrimExpr end = *high > 0 ? b->min + b->extent : a->min + a->extent;
    return Range::FromMinExtent(min, analyzer_->Simplify(end - min));
  }

  const tir::VarMap& symbols_;
  /// As TVM's, where it takes what kernels say.
  const bool as_written_;
  FunctionNames* block_names_;
  arith::Analyzer* analyzer_;
};

class Merger {
 public:
  Merger(const IRModule& module, const GlobalVar& name, const Function& function, const MergeOptions& options)
      : module_(module),
        name_(name),
        function_(function),
        options_(options),
        block_names_(IRModule::Empty()),
        buffer_names_(IRModule::Empty()) {}

  MergedKernel Merge() {
    for (const Var& param : function_->params) AddParam(param);
    for (const BindingBlock& block : function_->body->blocks) {
      for (const Binding& binding : block->bindings) AddBinding(binding);
    }
    return Finish();
  }

 private:
  // ----- Parameters.

  void AddParam(const Var& param) {
    if (const auto* shape = param.ty().as<ShapeTypeNode>()) {
      if (!shape->values.has_value())
        Fail("the shape parameter " + std::string(param->name_hint) + " has no known dimensions");
      for (const PrimExpr& value : *shape->values) {
        if (value->kind != ExprKind::kVar)
          Fail("the shape parameter " + std::string(param->name_hint) + " is not made of variables");
        scalars_.push_back(Downcast<tir::Var>(value));
      }
      return;
    }
    if (const auto* prim = param.ty().as<PrimTypeNode>()) {
      const tir::Var scalar(buffer_names_.Unique(param->name_hint), prim->dtype);
      own_scalars_.emplace(param.get(), scalar);
      params_.push_back(scalar);
      return;
    }
    std::vector<Buffer> buffers;
    AddParamBuffers(param.ty(), param->name_hint, &buffers);
    for (const Buffer& buffer : buffers) {
      param_index_.emplace(buffer.get(), static_cast<int64_t>(params_.size()));
      params_.push_back(buffer);
    }
    values_[param.get()] = std::move(buffers);
  }

  void AddParamBuffers(const Type& type, const std::string& name, std::vector<Buffer>* buffers) {
    if (const auto* tuple = type.as<TupleTypeNode>()) {
      for (size_t i = 0; i < tuple->fields.size(); ++i) {
        AddParamBuffers(tuple->fields[i], name + "_" + std::to_string(i), buffers);
      }
      return;
    }
    const auto* tensor = type.as<TensorTypeNode>();
    if (tensor == nullptr || !tensor->has_shape() || tensor->dtype.is_void()) {
      Fail("parameter " + name + " is not a tensor of known shape and dtype");
    }
    buffers->push_back(Buffer(buffer_names_.Unique(name), tensor->dtype, *tensor->shape));
  }

  // ----- Bindings.

  void AddBinding(const Binding& binding) {
    if (!binding->IsInstance<VarBindingNode>()) {
      DEUTERON_THROW(ModelError) << "function " << name_->name_hint << " is Primitive but holds a match_cast ("
                                 << binding->var->name_hint << "): run FuseOps on a module without it there";
    }
    const Expr& value = BoundValue(binding);
    if (IsAnyCallTIR(value)) {
      if (!options_.trust_inplace) CheckInplace(binding->var, Downcast<Call>(value));
      values_[binding->var.get()] = AddCall(Downcast<Call>(value));
      return;
    }
    if (const auto* item = value.as<TupleGetItemNode>()) {
      values_[binding->var.get()] = ItemBuffers(item);
      return;
    }
    if (IsVar(value) || value->kind == RelaxKind::kTuple) {
      values_[binding->var.get()] = BuffersOf(value);
      return;
    }
    if (value->kind == RelaxKind::kConstant) ThrowConstant();
    DEUTERON_THROW(ModelError)
        << "function " << name_->name_hint << " is Primitive, but " << binding->var->name_hint
        << " is not the call of a kernel: only call_tir, call_tir_inplace and tuples can be merged";
  }

  /// Whoever calls the merged kernel sees to what it overwrites. Inside there is nobody who would copy what is needed
  /// again, nor may a parameter be overwritten that is no result's memory.
  void CheckInplace(const Var& var, const Call& call) {
    const auto* inplace = call->attrs.as<CallTIRInplaceAttrsNode>();
    if (inplace == nullptr) return;
    if (!inplace_arguments_) inplace_arguments_.emplace(function_);
    const CallTIRView view = ViewCallTIR(call);
    for (const int64_t index : inplace->inplace_indices) {
      if (index < 0) continue;
      const Expr& arg = view.args->fields[index];
      const bool free = IsParam(arg) ? IsResult(var) && inplace_arguments_->IsLastUse(var, arg)
                                     : inplace_arguments_->MayOverwrite(var, arg);
      if (free) continue;
      const auto* name = arg.as<VarNode>();
      Fail("the call of " + std::string(view.func->name_hint) + " overwrites " +
           (name == nullptr ? "an argument" : std::string(name->name_hint)) + ", which is needed besides");
    }
  }

  bool IsParam(const Expr& expr) const {
    return std::any_of(function_->params.begin(), function_->params.end(),
                       [&](const Var& param) { return param.same_as(expr); });
  }

  /// Whether the function returns the value, all of it, as it is bound.
  bool IsResult(const Var& var) const {
    const Expr& result = function_->body->body;
    if (const auto* tuple = result.as<TupleNode>()) {
      return std::any_of(tuple->fields.begin(), tuple->fields.end(),
                         [&](const Expr& field) { return field.same_as(var); });
    }
    return result.same_as(var);
  }

  [[noreturn]] void ThrowConstant() {
    DEUTERON_THROW(ModelError) << "function " << name_->name_hint
                               << " is Primitive but holds a constant: pass it as a parameter";
  }

  std::vector<Buffer> BuffersOf(const Expr& expr) {
    if (expr->kind == RelaxKind::kConstant) ThrowConstant();
    if (const auto* tuple = expr.as<TupleNode>()) {
      std::vector<Buffer> buffers;
      for (const Expr& field : tuple->fields) {
        const auto inner = BuffersOf(field);
        buffers.insert(buffers.end(), inner.begin(), inner.end());
      }
      return buffers;
    }
    auto it = values_.find(expr.get());
    if (it == values_.end()) Fail("an argument of a kernel is not a tensor");
    return it->second;
  }

  static size_t CountTensors(const Type& type) {
    const auto* tuple = type.as<TupleTypeNode>();
    if (tuple == nullptr) return 1;
    size_t count = 0;
    for (const Type& field : tuple->fields) count += CountTensors(field);
    return count;
  }

  std::vector<Buffer> ItemBuffers(const TupleGetItemNode* item) {
    const auto all = BuffersOf(item->tuple);
    const auto* type = item->tuple.ty().as<TupleTypeNode>();
    size_t begin = 0;
    for (int64_t i = 0; i < item->index; ++i) begin += CountTensors(type->fields[i]);
    const size_t count = CountTensors(type->fields[item->index]);
    return {all.begin() + begin, all.begin() + begin + count};
  }

  /// Adds the body of the kernel that is called; its output buffers.
  std::vector<Buffer> AddCall(const Call& call) {
    const CallTIRView view = ViewCallTIR(call);
    const auto original = As<PrimFunc>(module_.Lookup(view.func));
    if (!original.defined()) Fail(std::string(view.func->name_hint) + " is not a kernel");
    if (!tir::HasRootBlock(original)) Fail("the body of " + std::string(view.func->name_hint) + " is no root block");
    // Symbols of two calls, or of the caller, must not meet in what is to be solved.
    const PrimFunc placed = tir::BindParameterOffsets(original);
    const PrimFunc kernel = IsStatic(placed) ? placed : tir::RenewDefs(placed);
    const SBlock root = tir::RootBlock(kernel);
    SymbolicMatcher matcher;
    std::vector<std::pair<Buffer, Buffer>> mapped;
    const Arguments arguments = MatchArguments(kernel, view, &matcher, &mapped);
    const std::vector<Buffer> outputs = AddOutputs(call, view, arguments, root, &matcher, &mapped);
    if (!matcher.Solve(&analyzer_)) Fail("calling " + std::string(view.func->name_hint) + ": " + matcher.why());

    BodyAdapter adapter(matcher.values(), options_.first_region_only, &block_names_, &analyzer_);
    for (const auto& [from, to] : mapped) adapter.MapBuffer(from, to);
    for (const auto& [at, buffer] : pending_allocs_) alloc_buffers_[at] = adapter.Define(buffer);
    pending_allocs_.clear();
    if (options_.keep_kernels) {
      bodies_.push_back(KernelBlock(view, root, arguments.tensors, outputs, &adapter));
    } else {
      bodies_.push_back(adapter.VisitStmt(root->body));
    }
    if (original->HasNonzeroAttr("s_tir")) has_s_tir_ = true;
    return outputs;
  }

  tir::Stmt KernelBlock(const CallTIRView& view, const SBlock& root, const std::vector<Buffer>& reads,
                        const std::vector<Buffer>& writes, BodyAdapter* adapter) {
    const auto all = [](const std::vector<Buffer>& buffers) {
      Array<BufferRegion> regions;
      for (const Buffer& buffer : buffers) regions.push_back(BufferRegion::Full(buffer));
      return regions;
    };
    const auto allocs = root->alloc_buffers.Map([&](const Buffer& buffer) { return adapter->Define(buffer); });
    // Both give names: the blocks within are first.
    const tir::Stmt body = adapter->VisitStmt(root->body);
    const std::string name = block_names_.Unique(std::string(view.func->name_hint));
    const SBlock block(kEmpty, all(reads), all(writes), name, body, tir::Stmt(), allocs, {{tir::kKernelBlock, true}});
    return tir::SBlockRealize(kEmpty, True(), block);
  }

  static bool IsStatic(const PrimFunc& kernel) {
    return kernel->params.size() == kernel->buffer_map.size() &&
           std::all_of(kernel->buffer_map.begin(), kernel->buffer_map.end(), [](const auto& param_buffer) {
             const Array<PrimExpr>& shape = param_buffer.second->shape;
             return std::all_of(shape.begin(), shape.end(),
                                [](const PrimExpr& e) { return AsConstInt(e).has_value(); });
           });
  }

  /// The tensors given to a kernel, and the parameters left for its results.
  struct Arguments {
    std::vector<Buffer> tensors;
    /// The tensor that each argument is; null for scalars.
    std::vector<Buffer> by_index;
    std::vector<Buffer> results;
  };

  /// Pairs the kernel's parameters with what it is given. Scalars may stand among the arguments, where the
  /// kernel has them, or in tir_vars.
  Arguments MatchArguments(const PrimFunc& kernel, const CallTIRView& view, SymbolicMatcher* matcher,
                           std::vector<std::pair<Buffer, Buffer>>* mapped) {
    const std::string callee(view.func->name_hint);
    Arguments arguments;
    std::vector<PrimExpr> scalars;
    for (const Expr& field : view.args->fields) {
      const auto own = own_scalars_.find(field.get());
      if (const auto* scalar = field.as<PrimValueNode>()) {
        scalars.push_back(scalar->value);
      } else if (own != own_scalars_.end()) {
        scalars.emplace_back(own->second);
      } else {
        const auto buffers = BuffersOf(field);
        arguments.tensors.insert(arguments.tensors.end(), buffers.begin(), buffers.end());
        arguments.by_index.resize(arguments.by_index.size() + 1);
        if (buffers.size() == 1) arguments.by_index.back() = buffers[0];
        continue;
      }
      arguments.by_index.emplace_back();
    }
    if (view.tir_vars.defined()) {
      scalars.insert(scalars.end(), view.tir_vars->values.begin(), view.tir_vars->values.end());
    }
    size_t next_tensor = 0;
    size_t next_scalar = 0;
    for (const tir::Var& param : kernel->params) {
      auto it = kernel->buffer_map.find(param);
      if (it == kernel->buffer_map.end()) {
        if (next_scalar == scalars.size()) Fail(callee + " is given too few scalars");
        matcher->Match(param, scalars[next_scalar++]);
        continue;
      }
      const Buffer buffer = (*it).second;
      if (next_tensor == arguments.tensors.size()) {
        arguments.results.push_back(buffer);
        continue;
      }
      const Buffer& given = arguments.tensors[next_tensor++];
      if (buffer->dtype != given->dtype) Fail("an argument of " + callee + " has another dtype");
      matcher->Match(buffer->shape, given->shape);
      mapped->emplace_back(buffer, given);
    }
    if (next_tensor != arguments.tensors.size() || next_scalar != scalars.size()) {
      Fail(callee + " is given too many arguments");
    }
    return arguments;
  }

  /// Makes the buffers of the call's results: fresh ones, or, in place, those of arguments.
  std::vector<Buffer> AddOutputs(const Call& call, const CallTIRView& view, const Arguments& arguments,
                                 const SBlock& root, SymbolicMatcher* matcher,
                                 std::vector<std::pair<Buffer, Buffer>>* mapped) {
    // TVM lists the kernel's own buffers before its results.
    for (const Buffer& buffer : options_.keep_kernels ? Array<Buffer>() : root->alloc_buffers) {
      pending_allocs_.emplace_back(alloc_buffers_.size(), buffer);
      alloc_buffers_.push_back(buffer);
    }
    std::vector<Type> types;
    if (const auto* tuple = view.out_ty.as<TupleTypeNode>()) {
      types.assign(tuple->fields.begin(), tuple->fields.end());
    } else {
      types.push_back(view.out_ty);
    }
    const auto* inplace = call->attrs.as<CallTIRInplaceAttrsNode>();
    size_t next = 0;
    std::vector<Buffer> outputs;
    for (size_t i = 0; i < types.size(); ++i) {
      const int64_t index = inplace ? inplace->inplace_indices[static_cast<int64_t>(i)] : -1;
      if (index >= 0) {
        outputs.push_back(arguments.by_index.at(static_cast<size_t>(index)));
        if (!outputs.back().defined()) Fail("a result of " + std::string(view.func->name_hint) + " is no tensor's");
        written_.insert(outputs.back().get());
        continue;
      }
      const auto* tensor = types[i].as<TensorTypeNode>();
      if (tensor == nullptr || !tensor->has_shape())
        Fail("a result of " + std::string(view.func->name_hint) + " has no known shape");
      if (next == arguments.results.size())
        Fail(std::string(view.func->name_hint) + " has fewer parameters than its call has results");
      const Buffer& param = arguments.results[next++];
      Buffer buffer(buffer_names_.Unique(std::string(param->name) + "_intermediate", "_"), param->dtype,
                    *tensor->shape);
      matcher->Match(param->shape, buffer->shape);
      mapped->emplace_back(param, buffer);
      alloc_buffers_.push_back(buffer);
      outputs.push_back(buffer);
    }
    if (next != arguments.results.size()) Fail(std::string(view.func->name_hint) + " is given too few arguments");
    return outputs;
  }

  // ----- The result.

  MergedKernel Finish() {
    MergedKernel merged;
    std::unordered_set<const Object*> results;
    bool any_inplace = false;
    std::vector<Buffer> outputs;
    for (const Buffer& buffer : BuffersOf(function_->body->body)) {
      if (!results.insert(buffer.get()).second) Fail("one value is returned twice");
      auto it = param_index_.find(buffer.get());
      if (it == param_index_.end()) {
        outputs.push_back(buffer);
        merged.inplace_indices.push_back(-1);
        continue;
      }
      if (!written_.count(buffer.get())) Fail("a parameter is returned as it is");
      merged.inplace_indices.push_back(it->second);
      any_inplace = true;
    }
    if (!any_inplace) merged.inplace_indices = {};
    if (bodies_.empty()) Fail("it calls no kernel");

    Array<Buffer> allocs;
    for (const Buffer& buffer : alloc_buffers_) {
      if (!results.count(buffer.get())) allocs.push_back(buffer);
    }
    const SBlock root(
        kEmpty, kEmpty, kEmpty, "root",
        options_.side_by_side ? SideBySide() : tir::SeqStmt::Flatten(Array<tir::Stmt>(bodies_.begin(), bodies_.end())),
        tir::Stmt(), std::move(allocs));
    Map<String, Any> attrs{{"tirx.noalias", true}};
    if (has_s_tir_) attrs.Set("s_tir", true);
    merged.func = WithParams(outputs, tir::SBlockRealize(kEmpty, True(), root), DictAttrs(std::move(attrs)));
    merged.func->span = function_->span;
    return merged;
  }

  tir::Stmt SideBySide() const {
    const tir::Var side("side", DataType::Int(64));
    tir::Stmt body = bodies_.back();
    for (int64_t i = std::ssize(bodies_) - 1; i-- > 0;) {
      body = tir::IfThenElse(MakeBinary(ExprKind::kEQ, side, I64(i)), bodies_[static_cast<size_t>(i)], body);
    }
    return tir::For(side, I64(0), I64(std::ssize(bodies_)), tir::ForKind::kParallel, body);
  }

  /// The kernel: parameters as the function has them, results, and the scalars of its shapes.
  PrimFunc WithParams(const std::vector<Buffer>& outputs, tir::Stmt body, DictAttrs attrs) const {
    Array<Buffer> buffers;
    for (const ObjectRef& param : params_) {
      if (const auto buffer = As<Buffer>(param); buffer.defined()) buffers.push_back(buffer);
    }
    for (const Buffer& buffer : outputs) buffers.push_back(buffer);
    PrimFunc func = PrimFunc::FromBuffers(buffers, kEmpty, std::move(body), std::move(attrs));
    std::vector<tir::Var> vars;
    auto handle = func->params.begin();
    for (const ObjectRef& param : params_) {
      const auto scalar = As<tir::Var>(param);
      vars.push_back(scalar.defined() ? scalar : *handle++);
    }
    if (options_.scalars_before_results) vars.insert(vars.end(), scalars_.begin(), scalars_.end());
    vars.insert(vars.end(), handle, func->params.end());
    if (!options_.scalars_before_results) vars.insert(vars.end(), scalars_.begin(), scalars_.end());
    const_cast<tir::PrimFuncNode*>(func.get())->params = Array<tir::Var>(vars.begin(), vars.end());
    return func;
  }

  [[noreturn]] static void Fail(std::string why) { throw CannotMerge{std::move(why)}; }

  const IRModule& module_;
  const GlobalVar& name_;
  const Function& function_;
  const MergeOptions& options_;
  arith::Analyzer analyzer_;
  FunctionNames block_names_;
  FunctionNames buffer_names_;

  /// The tensors that make up the value of a variable, tuples flattened.
  std::unordered_map<const Object*, std::vector<Buffer>> values_;
  /// Buffers, and variables of scalars.
  std::vector<ObjectRef> params_;
  std::unordered_map<const Object*, int64_t> param_index_;
  /// Of parameters that are scalars.
  std::unordered_map<const Object*, tir::Var> own_scalars_;
  /// Of parameters that are shapes.
  std::vector<tir::Var> scalars_;
  std::vector<Buffer> alloc_buffers_;
  /// Places in alloc_buffers_ whose shapes are still in the kernel's own symbols.
  std::vector<std::pair<size_t, Buffer>> pending_allocs_;
  /// Buffers that a kernel writes in place.
  std::unordered_set<const Object*> written_;
  /// Known once a call in place is met.
  std::optional<InplaceArguments> inplace_arguments_;
  std::vector<tir::Stmt> bodies_;
  bool has_s_tir_ = false;
};

}  // namespace

MergedKernel MergeKernels(const IRModule& module, const GlobalVar& name, const Function& function,
                          const MergeOptions& options) {
  try {
    return Merger(module, name, function, options).Merge();
  } catch (const CannotMerge& failure) {
    return {tir::PrimFunc(), failure.why, {}};
  }
}

}  // namespace deuteron::relax::fusion
