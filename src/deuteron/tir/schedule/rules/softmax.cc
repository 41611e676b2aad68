#include "deuteron/tir/schedule/rules/softmax.h"

#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "deuteron/ir/prim_ops.h"
#include "deuteron/tir/analysis/block_analysis.h"
#include "deuteron/tir/functor.h"

namespace deuteron::tir {
namespace {

using Iters = std::unordered_set<const Object*>;

/// The call that a value is but for casts, if it is an exponential of a difference of two loads.
struct Exponential {
  PrimExpr call;
  BufferLoad element;
  BufferLoad maximum;
};
std::optional<Exponential> FindExponential(const PrimExpr& value) {
  static const Op exp = Op::Get("tir.exp");
  const PrimExpr inner = WithoutCasts(value);
  const auto* call = inner.as<CallNode>();
  if (call == nullptr || !call->op.same_as(exp)) return std::nullopt;
  const PrimExpr shifted = WithoutCasts(call->args[0]);
  const auto* difference = shifted.as<SubNode>();
  if (difference == nullptr) return std::nullopt;
  const BufferLoad element = AsLoad(difference->a), maximum = AsLoad(difference->b);
  if (!element.defined() || !maximum.defined()) return std::nullopt;
  return Exponential{inner, element, maximum};
}

/// Writes other expressions in the place of some.
class Replacer : public StmtExprMutator {
 public:
  std::unordered_map<const Object*, PrimExpr> values;

 protected:
  PrimExpr VisitExpr(const PrimExpr& expr) override {
    const auto value = values.find(expr.get());
    return value == values.end() ? StmtExprMutator::VisitExpr(expr) : value->second;
  }
};

class Softmax {
 public:
  Softmax(const PrimFunc& func, const ScopeInfo& scope) : func_(func), scope_(scope) {}

  /// The exponential that the block stores, if it is that of a softmax and used for nothing else.
  std::optional<Exponential> ExponentialOf(const SBlock& block) const {
    if (ClassifyBlock(block).kind != BlockClass::kInjective) return std::nullopt;
    const auto stored = GetStoredValue(block->body);
    if (!stored || IsParameter(stored->buffer)) return std::nullopt;
    const auto exponential = FindExponential(stored->value);
    if (!exponential) return std::nullopt;
    const auto rows = Reduced(block, *exponential);
    if (!rows || !IsNormalised(*stored, *rows)) return std::nullopt;
    return exponential;
  }

 private:
  bool IsParameter(const Buffer& buffer) const {
    for (const auto& [param, bound] : func_->buffer_map) {
      if (bound->data.same_as(buffer->data)) return true;
    }
    return false;
  }

  std::optional<SBlock> WriterOf(const Buffer& buffer) const {
    const auto writers = scope_.writers.find(buffer.get());
    if (writers == scope_.writers.end() || writers->second.size() != 1) return std::nullopt;
    return scope_.blocks[writers->second[0]]->block;
  }

  /// The iterators of `block` along which what its exponential is shifted by is the maximum of its elements.
  std::optional<Iters> Reduced(const SBlock& block, const Exponential& exponential) const {
    const auto writer = WriterOf(exponential.maximum->buffer);
    if (!writer) return std::nullopt;
    const auto update = GetReductionUpdate(*writer);
    const BufferLoad source = update && update->combiner == ExprKind::kMax ? AsLoad(update->source) : BufferLoad();
    if (!source.defined() || !source->buffer.same_as(exponential.element->buffer)) return std::nullopt;
    // The maximum's iterators, where it reads the element.
    VarMap at;
    for (size_t dim = 0; dim < source->indices.size(); ++dim) {
      const auto i = static_cast<int64_t>(dim);
      const PrimExpr& index = exponential.element->indices[i];
      if (const Var var = As<Var>(source->indices[i]); var.defined()) {
        const auto [known, is_new] = at.emplace(var, index);
        if (!is_new && !ExprEqual(known->second, index)) return std::nullopt;
      } else if (!ExprEqual(source->indices[i], index)) {
        return std::nullopt;
      }
    }
    for (size_t dim = 0; dim < update->indices.size(); ++dim) {
      const auto i = static_cast<int64_t>(dim);
      if (!ExprEqual(Substitute(update->indices[i], at), exponential.maximum->indices[i])) return std::nullopt;
    }
    Iters reduced;
    for (const IterVar& iter : (*writer)->iter_vars) {
      if (iter->type != IterVarType::kReduce) continue;
      const auto index = at.find(iter->var);
      if (index == at.end() || !RunsAlike(block, index->second, iter)) return std::nullopt;
      reduced.insert(index->second.get());
    }
    return reduced;
  }

  /// Whether an index is an iterator of the block that has the range of `other`.
  static bool RunsAlike(const SBlock& block, const PrimExpr& index, const IterVar& other) {
    for (const IterVar& iter : block->iter_vars) {
      if (index.same_as(iter->var))
        return ExprEqual(iter->dom->min, other->dom->min) && ExprEqual(iter->dom->extent, other->dom->extent);
    }
    return false;
  }

  /// Whether the exponentials are only summed up along `rows`, and divided by their sum.
  bool IsNormalised(const StoredValue& stored, const Iters& rows) const {
    const auto readers = scope_.readers.find(stored.buffer.get());
    if (readers == scope_.readers.end()) return false;
    std::optional<Buffer> sum;
    for (const size_t at : readers->second) {
      const auto update = GetReductionUpdate(scope_.blocks[at]->block);
      if (!update) continue;
      if (sum || !IsSum(scope_.blocks[at]->block, *update, stored, rows)) return false;
      sum = update->buffer;
    }
    if (!sum) return false;
    for (const size_t at : readers->second) {
      const SBlock& block = scope_.blocks[at]->block;
      if (!GetReductionUpdate(block) && !OnlyDivides(block, stored.buffer, *sum)) return false;
    }
    return true;
  }

  static bool IsSum(const SBlock& block, const ReductionUpdate& update, const StoredValue& stored, const Iters& rows) {
    const BufferLoad source = update.combiner == ExprKind::kAdd ? AsLoad(update.source) : BufferLoad();
    if (!source.defined() || !source->buffer.same_as(stored.buffer)) return false;
    Iters summed;
    for (const IterVar& iter : block->iter_vars) {
      if (iter->type != IterVarType::kReduce) continue;
      for (size_t dim = 0; dim < source->indices.size(); ++dim) {
        const auto i = static_cast<int64_t>(dim);
        if (source->indices[i].same_as(iter->var)) summed.insert(stored.indices[i].get());
      }
    }
    return summed == rows;
  }

  /// Whether the block reads exponentials as dividends of their sum.
  static bool OnlyDivides(const SBlock& block, const Buffer& exponentials, const Buffer& sum) {
    int64_t loads = 0, quotients = 0;
    PostOrderVisit(block->body, [&](const ObjectRef& node) {
      if (const auto* load = node.as<BufferLoadNode>()) loads += load->buffer.same_as(exponentials) ? 1 : 0;
      const auto* quotient = node.as<DivNode>();
      if (quotient == nullptr) return;
      const BufferLoad a = AsLoad(quotient->a), b = AsLoad(quotient->b);
      quotients += a.defined() && b.defined() && a->buffer.same_as(exponentials) && b->buffer.same_as(sum) ? 1 : 0;
    });
    return loads == quotients;
  }

  const PrimFunc& func_;
  const ScopeInfo& scope_;
};

/// The least logarithm of a number that is not denormal; nothing for a type that has no such products.
std::optional<double> LeastLogarithm(DataType dtype) {
  if (dtype == DataType::Float(64)) return std::log(std::numeric_limits<double>::min());
  if (dtype == DataType::Float(32)) return std::log(static_cast<double>(std::numeric_limits<float>::min()));
  return std::nullopt;
}

}  // namespace

PrimExpr WithoutDenormals(const PrimExpr& exponential) {
  const auto least = LeastLogarithm(exponential.dtype());
  if (!least) return exponential;
  const PrimExpr& shifted = exponential.as<CallNode>()->args[0];
  const DataType dtype = exponential.dtype();
  return SelectExpr(shifted < MakeConst(dtype, *least), MakeConst(dtype, 0), exponential);
}

PrimExpr WithDenormals(const PrimExpr& value) {
  const auto* choice = value.as<SelectNode>();
  if (choice == nullptr || choice->false_value->kind != ExprKind::kCall) return value;
  return ExprEqual(WithoutDenormals(choice->false_value), value) ? choice->false_value : value;
}

PrimFunc WithoutDenormalWeights(const PrimFunc& func) {
  const ScopeInfo scope = AnalyzeScope(RootBlock(func)->body);
  const Softmax softmax(func, scope);
  Replacer replacer;
  for (const SBlockRealize& realize : scope.blocks) {
    const auto exponential = softmax.ExponentialOf(realize->block);
    if (exponential) replacer.values.emplace(exponential->call.get(), WithoutDenormals(exponential->call));
  }
  if (replacer.values.empty()) return func;
  PrimFunc result = func;
  CopyOnWrite(&result)->body = replacer.VisitStmt(func->body);
  return result;
}

}  // namespace deuteron::tir
