/// \file
/// ComputeMasks: what depends on nothing but its indices is computed where it is read.
///
/// Purpose: a causal mask is a tensor of queries × keys that exporters store in the model, or make of ranges and
/// comparisons. As a comparison of indices within the kernel that applies it, it is not read from memory, and shows
/// which scores of an attention are not needed at all (tir/schedule/rules/attention_causal.cc).
///
/// When: an elementwise, broadcasting or injective kernel reads
///  - a constant whose last two dimensions hold one value up to a diagonal and another beyond, in all matrices alike;
///  or
///  - the result of an injective kernel of one block that reads no tensor, of few operations, in the same block.
/// What is left of such a chain (ones, a triangle of them, a comparison, a choice) depends on nothing but indices
/// again.
///
/// What it must not do: compute with symbols that the reader does not have; change what tvm_compat promises.
///
/// Place: after the last FoldConstant, which would make constants of such kernels, before FuseOps. Off under
/// tvm_compat.
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <unordered_map>

#include "deuteron/ir/transform/tvm_compat.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/operators/passes.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/tir/analysis/block_analysis.h"
#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/analysis/op_pattern.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/renew_defs.h"

namespace deuteron::relax {
namespace {

/// An element costs no more than a load from memory.
constexpr double kMostOps = 8;
/// Smaller masks stay in the first cache.
constexpr int64_t kFewestElements = 64;

/// An element of a tensor, by its indices.
struct IndexValue {
  std::vector<tir::Var> vars;
  PrimExpr value;
  /// What the tensor's dimensions are called in it.
  Array<PrimExpr> shape;
  /// Equal ones have equal keys.
  std::string key;
};

/// Of elements T at any address.
template <typename T>
std::optional<IndexValue> BandOf(const char* data, const std::vector<int64_t>& shape, DataType dtype) {
  const size_t rank = shape.size();
  const int64_t rows = shape[rank - 2], columns = shape[rank - 1];
  int64_t matrices = 1;
  for (size_t dim = 0; dim + 2 < rank; ++dim) matrices *= shape[dim];
  // Most constants are none, which their first row tells.
  std::vector<T> values(static_cast<size_t>(columns));
  const auto read = [&](int64_t row) {
    const size_t bytes = values.size() * sizeof(T);
    std::memcpy(values.data(), data + static_cast<size_t>(row) * bytes, bytes);
  };
  read(0);
  const T low = values.front(), high = values.back();
  if (low == high || low != low || high != high) return std::nullopt;
  const int64_t first = std::find(values.begin(), values.end(), high) - values.begin();
  for (int64_t row = 0; row < matrices * rows; ++row) {
    read(row);
    const auto end = values.begin() + std::min(first + row % rows, columns);
    if (!std::all_of(values.begin(), end, [&](T value) { return value == low; }) ||
        !std::all_of(end, values.end(), [&](T value) { return value == high; }))
      return std::nullopt;
  }
  IndexValue band;
  for (size_t dim = 0; dim < rank; ++dim) {
    band.vars.push_back(tir::Var("i" + std::to_string(dim), DataType::Int(64)));
    band.shape.push_back(I64(shape[dim]));
  }
  const PrimExpr row = band.vars[rank - 2], column = band.vars[rank - 1];
  const auto constant = [&](T value) {
    if constexpr (std::is_floating_point_v<T>) return MakeConst(dtype, static_cast<double>(value));
    return MakeConst(dtype, static_cast<int64_t>(value));
  };
  band.value = SelectExpr(column - row < I64(first), constant(low), constant(high));
  band.key = "band " + std::to_string(first) + " " + std::to_string(static_cast<double>(low)) + " " +
             std::to_string(static_cast<double>(high));
  return band;
}

/// A constant as a comparison of its last two indices.
std::optional<IndexValue> BandOf(const Constant& constant) {
  const auto* type = constant.ty().as<TensorTypeNode>();
  const auto shape = type != nullptr && type->has_shape() ? AsConstInts(*type->shape) : std::nullopt;
  if (!shape || shape->size() < 2 || (*shape)[shape->size() - 2] < 2 || shape->back() < 2) return std::nullopt;
  int64_t elements = 1;
  for (const int64_t extent : *shape) elements *= extent;
  if (elements < kFewestElements) return std::nullopt;
  const DataType dtype = type->dtype;
  const Tensor tensor = ContiguousData(constant);
  const char* data = static_cast<const char*>(tensor.data_ptr()) + tensor.byte_offset();
  if (dtype == DataType::Float(32)) return BandOf<float>(data, *shape, dtype);
  if (dtype == DataType::Int(64)) return BandOf<int64_t>(data, *shape, dtype);
  if (dtype == DataType::Int(32)) return BandOf<int32_t>(data, *shape, dtype);
  if (dtype.is_bool()) return BandOf<uint8_t>(data, *shape, dtype);
  return std::nullopt;
}

/// The one block of an injective kernel of one result, whose root allocates nothing; null if it is none.
tir::SBlock SoleBlock(const tir::PrimFunc& func) {
  if (!func.defined() || !tir::HasRootBlock(func) || tir::ParamBuffers(func).size() != func->params.size()) return {};
  const tir::SBlock root = tir::RootBlock(func);
  if (!root->alloc_buffers.empty()) return {};
  const tir::ScopeInfo scope = tir::AnalyzeScope(root->body);
  if (scope.blocks.size() != 1 || !IsOne(scope.blocks[0]->predicate)) return {};
  const tir::SBlock& block = scope.blocks[0]->block;
  const auto stored = tir::GetStoredValue(block->body);
  const bool is_result = stored && stored->buffer.same_as(tir::ParamBuffers(func).back());
  return is_result && tir::ClassifyBlock(block).kind == tir::BlockClass::kInjective ? block : tir::SBlock();
}

/// What the kernel's result is, if it reads no tensor.
std::optional<IndexValue> ValueOf(const tir::PrimFunc& func, const std::string& key) {
  const tir::SBlock block = SoleBlock(func);
  if (!block.defined() || tir::ParamBuffers(func).size() != 1 || tir::OpsPerInstance(block) > kMostOps)
    return std::nullopt;
  const auto stored = tir::GetStoredValue(block->body);
  if (block->body->kind != tir::StmtKind::kBufferStore) return std::nullopt;
  IndexValue value{{}, stored->value, stored->buffer->shape, key};
  for (const PrimExpr& index : stored->indices) {
    value.vars.push_back(index->kind == ExprKind::kVar ? Downcast<tir::Var>(index) : tir::Var("i", DataType::Int(64)));
  }
  for (const tir::IterVar& iter : block->iter_vars) {
    const bool indexes =
        std::any_of(value.vars.begin(), value.vars.end(), [&](const tir::Var& var) { return var.same_as(iter->var); });
    if (!indexes && !IsOne(iter->dom->extent)) return std::nullopt;
    if (!indexes) value.value = Substitute(value.value, ExprVarMap{{iter->var, iter->dom->min}});
  }
  return value;
}

/// Puts the values of buffers where they are read.
class ValueInliner : public tir::StmtExprMutator {
 public:
  explicit ValueInliner(const std::unordered_map<const Object*, IndexValue>& values) : values_(values) {}

 protected:
  PrimExpr VisitBufferLoad_(const tir::BufferLoadNode* op) override {
    const auto it = values_.find(op->buffer.get());
    if (it == values_.end()) return StmtExprMutator::VisitBufferLoad_(op);
    ExprVarMap indices;
    for (size_t i = 0; i < it->second.vars.size(); ++i) {
      indices[it->second.vars[i]] = VisitExpr(op->indices[static_cast<int64_t>(i)]);
    }
    return Substitute(it->second.value, indices);
  }
  tir::Stmt VisitSBlock_(const tir::SBlockNode* op) override {
    return tir::WithDetectedRegions(Downcast<tir::SBlock>(StmtExprMutator::VisitSBlock_(op)));
  }

 private:
  const std::unordered_map<const Object*, IndexValue>& values_;
};

class MaskComputer {
 public:
  explicit MaskComputer(const IRModule& module) : module_(module), names_(module) {}

  BindingBlock Run(const BindingBlock& block) {
    if (!block->IsInstance<DataflowBlockNode>()) return block;
    bool changed = false;
    const auto bindings = block->bindings.Map([&](const Binding& binding) {
      const Expr& value = BoundValue(binding);
      if (!binding->IsInstance<VarBindingNode>() || !IsCallTIR(value)) return binding;
      const Call call = Rewritten(Downcast<Call>(value));
      Note(binding->var, call);
      if (call.same_as(value)) return binding;
      changed = true;
      return Binding(VarBinding(binding->var, call, binding->span));
    });
    return changed ? WithBindings(block, bindings) : block;
  }

  std::vector<std::pair<GlobalVar, BaseFunc>> TakeAdded() { return std::move(added_); }

 private:
  tir::PrimFunc Kernel(const GlobalVar& name) const {
    const auto made = made_.find(name.get());
    return made != made_.end() ? made->second : As<tir::PrimFunc>(module_.Lookup(name));
  }

  /// Remembers what a call computes, if that depends on nothing but indices.
  void Note(const Var& var, const Call& call) {
    const CallTIRView view = ViewCallTIR(call);
    if (!view.args->fields.empty() || view.tir_vars.defined()) return;
    const auto [it, inserted] = value_of_kernel_.try_emplace(view.func.get());
    if (inserted) it->second = ValueOf(Kernel(view.func), "kernel " + std::string(view.func->name_hint));
    if (it->second) value_of_var_.emplace(var.get(), *it->second);
  }

  std::optional<IndexValue> ValueOfArgument(const Expr& argument) {
    if (argument->kind == RelaxKind::kConstant) {
      const auto [it, inserted] = value_of_constant_.try_emplace(argument.get());
      if (inserted) it->second = BandOf(Downcast<Constant>(argument));
      return it->second;
    }
    const auto it = value_of_var_.find(argument.get());
    return it == value_of_var_.end() ? std::nullopt : std::optional(it->second);
  }

  Call Rewritten(const Call& call) {
    const CallTIRView view = ViewCallTIR(call);
    if (view.tir_vars.defined() || !view.func.defined()) return call;
    std::map<size_t, IndexValue> values;
    std::string key = view.func->name_hint;
    Array<Expr> left;
    for (size_t i = 0; i < view.args->fields.size(); ++i) {
      const Expr& argument = view.args->fields[static_cast<int64_t>(i)];
      if (const auto value = ValueOfArgument(argument)) {
        values.emplace(i, *value);
        key += ", " + std::to_string(i) + " " + value->key;
      } else {
        left.push_back(argument);
      }
    }
    if (values.empty()) return call;
    const auto [it, inserted] = computed_.try_emplace(key);
    if (inserted) it->second = Computed(view.func, values);
    if (!it->second.defined()) return call;
    Call computed = CallTIR(it->second, Tuple(left), view.out_ty);
    computed->ty = call->ty;
    computed->span = call->span;
    return computed;
  }

  /// The kernel without the arguments that `values` has; null if it cannot do without.
  GlobalVar Computed(const GlobalVar& name, const std::map<size_t, IndexValue>& values) {
    const tir::PrimFunc func = Kernel(name);
    const tir::SBlock block = SoleBlock(func);
    if (!block.defined() || tir::AnalyzeOpPattern(func) > tir::OpPatternKind::kInjective) return {};
    const Array<tir::Buffer> buffers = tir::ParamBuffers(func);
    Array<tir::Buffer> params;
    std::unordered_map<const Object*, IndexValue> inlined;
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (values.count(i) == 0) params.push_back(buffers[static_cast<int64_t>(i)]);
    }
    for (const auto& [i, own] : values) {
      const tir::Buffer& buffer = buffers[static_cast<int64_t>(i)];
      auto value = InTermsOf(own, buffer, params);
      if (!value) return {};
      inlined.emplace(buffer.get(), std::move(*value));
    }
    const tir::Stmt body = ValueInliner(inlined).VisitStmt(tir::RootBlock(func)->body);
    if (!tir::ShapesDefineSymbols(params, buffers, body)) return {};
    const tir::SBlock root(kEmpty, kEmpty, kEmpty, "root", body);
    tir::PrimFunc kernel =
        tir::PrimFunc::FromBuffers(params, {}, tir::SBlockRealize(kEmpty, True(), root), func->attrs);
    Map<String, Any> attrs = kernel->attrs->dict;
    attrs.Set("op_pattern", static_cast<int64_t>(tir::AnalyzeOpPattern(kernel)));
    CopyOnWrite(&kernel)->attrs = DictAttrs(std::move(attrs));
    kernel = tir::RenewDefs(kernel);
    GlobalVar var(names_.Unique(std::string(name->name_hint) + "_of_indices"), kernel.ty());
    made_.emplace(var.get(), kernel);
    added_.emplace_back(var, kernel);
    return var;
  }

  /// The value in the symbols of `buffer`, in whose place it is to stand; nothing if these do not suffice, or the
  /// shapes of `params` do not define them.
  static std::optional<IndexValue> InTermsOf(IndexValue value, const tir::Buffer& buffer,
                                             const Array<tir::Buffer>& params) {
    if (value.shape.size() != buffer->shape.size()) return std::nullopt;
    ExprVarMap symbols;
    for (size_t dim = 0; dim < value.shape.size(); ++dim) {
      const PrimExpr& own = value.shape[static_cast<int64_t>(dim)];
      if (own->kind == ExprKind::kVar) symbols[Downcast<tir::Var>(own)] = buffer->shape[static_cast<int64_t>(dim)];
    }
    value.value = Substitute(value.value, symbols);
    std::vector<tir::Var> known = value.vars;
    for (const tir::Buffer& param : params) {
      for (const PrimExpr& extent : param->shape) {
        if (extent->kind == ExprKind::kVar) known.push_back(Downcast<tir::Var>(extent));
      }
    }
    for (const tir::Var& var : FreeVars(value.value)) {
      if (std::none_of(known.begin(), known.end(), [&](const tir::Var& other) { return other.same_as(var); }))
        return std::nullopt;
    }
    return value;
  }

  const IRModule& module_;
  FunctionNames names_;
  std::unordered_map<const Object*, std::optional<IndexValue>> value_of_kernel_, value_of_constant_;
  std::unordered_map<const Object*, IndexValue> value_of_var_;
  std::map<std::string, GlobalVar> computed_;
  std::unordered_map<const Object*, tir::PrimFunc> made_;
  std::vector<std::pair<GlobalVar, BaseFunc>> added_;
};

}  // namespace

Pass ComputeMasks() {
  return transform::ModulePass({.name = "ComputeMasks"}, [](IRModule module, const transform::PassContext& context) {
    if (!transform::MergesBeyondFuseOps(context)) return module;
    const IRModule original = module;
    MaskComputer masks(original);
    bool changed = false;
    module = UpdateFunctions(std::move(module), [&](const GlobalVar&, const Function& function) {
      const auto blocks = function->body->blocks.Map([&](const BindingBlock& block) { return masks.Run(block); });
      if (blocks.same_as(function->body->blocks)) return function;
      changed = true;
      return WithBody(function, SeqExpr(blocks, function->body->body, function->body->span));
    });
    if (!changed) return module;
    for (auto& [var, func] : masks.TakeAdded()) module.Update(var, std::move(func));
    const IRModule computed = module;
    return UpdateFunctions(std::move(module), [&](const GlobalVar&, const Function& function) {
      return RemoveAllUnused(function, computed);
    });
  });
}

}  // namespace deuteron::relax
