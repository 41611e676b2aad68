#include "deuteron/relax/transform/memory/tvm_memory_plan.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "deuteron/arith/analyzer.h"
#include "deuteron/relax/op/memory.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

constexpr int64_t kMatchRange = 16;

/// A tensor that may get a place in a storage.
struct Token {
  PrimExpr bytes;
  DataType dtype;
  String scope;
  Expr device;
  /// The list of bindings that it is allocated in, and how many uses there are to come.
  size_t seq = 0;
  int64_t uses = 0;
  bool planned = true;
  /// Index into `storages_`.
  size_t storage = 0;
};

struct Storage {
  PrimExpr bytes;
  DataType dtype;
  String scope;
  Expr device;
  size_t seq = 0;
  Var var = Var("storage", AnyType::Get());
  bool bound = false;
};

/// The tokens of a value: of a tensor, or field by field.
struct TokensOf {
  std::optional<uint32_t> token;
  std::vector<std::shared_ptr<const TokensOf>> fields;
};
using TokensRef = std::shared_ptr<const TokensOf>;

/// Free storages of one dtype and scope.
struct Pool {
  std::multimap<int64_t, size_t> constant;
  std::vector<size_t> symbolic;
};

/// Three rounds: which tensors, in which storages (whose sizes are known then), and the new bindings.
class GreedyPlanner : public SeqRewriter {
 public:
  GreedyPlanner(const IRModule& module, const Function& function) : module_(module) { FindBounds(function); }

  Function Plan(const Function& function) {
    FindTokens(function->body);
    if (tokens_.empty()) return function;
    seqs_ = 0;
    Assign(function->body);
    return RewriteBody(function);
  }

 protected:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const auto found = token_of_.find(binding->var.get());
    if (found == token_of_.end() || !tokens_[found->second].planned) return SeqRewriter::RewriteBinding(binding, out);
    Storage& storage = storages_[tokens_[found->second].storage];
    if (!storage.bound) {
      storage.bound = true;
      const Call alloc = MakeCall("memory.alloc_storage", {ShapeExpr({storage.bytes}), storage.device,
                                                           StringImm(storage.scope), DataTypeImm(storage.dtype)});
      alloc->ty = AnyType::Get();
      out->push_back(VarBinding(storage.var, alloc));
    }
    const TensorType type = AllocatedType(Downcast<Call>(BoundValue(binding)));
    const Call tensor = MakeCall(
        "memory.alloc_tensor",
        {storage.var, PrimValue::Int64(0), ShapeExpr(type->shape.value()), DataTypeImm(type->dtype), storage.device});
    tensor->ty = BoundValue(binding).ty();
    out->push_back(VarBinding(binding->var, tensor, binding->span));
  }

 private:
  void FindBounds(const Function& function) {
    const auto upper = function->GetAttr<Map<String, Any>>("tir_var_upper_bound");
    const auto lower = function->GetAttr<Map<String, Any>>("tir_var_lower_bound");
    if (!upper.has_value()) return;
    for (const Var& param : function->params) {
      for (const tir::Var& symbol : SymbolicVars(param.ty())) {
        const auto high = upper->find(symbol->name_hint);
        if (high == upper->end()) continue;
        int64_t low = 0;
        if (lower.has_value() && lower->count(symbol->name_hint)) low = lower->at(symbol->name_hint).cast<int64_t>();
        const int64_t extent = (*high).second.cast<int64_t>() - low + 1;
        bounds_.emplace(symbol, tir::Range::FromMinExtent(I64(low), I64(extent)));
      }
    }
  }

  /// The first round: tokens and how often they are used.
  void FindTokens(const SeqExpr& seq) {
    const size_t own = ++seqs_;
    open_.push_back(own);
    for (const BindingBlock& block : seq->blocks) {
      for (const Binding& binding : block->bindings) FindTokens(binding->var, BoundValue(binding));
    }
    Discard(Of(seq->body));
    open_.pop_back();
  }

  void FindTokens(const Var& var, const Expr& value) {
    if (MemoryCallOf(value) == MemoryCall::kBuiltinAlloc) return NewToken(var, Downcast<Call>(value));
    if (const auto* branch = value.as<IfNode>()) {
      Discard(Of(branch->cond));
      FindTokens(branch->true_branch);
      return FindTokens(branch->false_branch);
    }
    const auto* call = value.as<CallNode>();
    if (call == nullptr) {
      const TokensRef tokens = Of(value);
      if (tokens != nullptr) values_[var.get()] = tokens;
      return;
    }
    if (call->op.as<OpNode>() != nullptr && OpName(GetRef<Call>(call)) == "reshape") {
      if (const TokensRef tokens = Of(call->args[0]); tokens != nullptr) values_[var.get()] = tokens;
      return;
    }
    for (const Expr& arg : call->args) {
      ForEachToken(Of(arg), [&](Token* token) {
        if (CountsUses(value) && token->seq == open_.back()) {
          ++token->uses;
        } else {
          token->planned = false;
        }
      });
    }
  }

  void NewToken(const Var& var, const Call& call) {
    const TensorType type = AllocatedType(call);
    if (!type->has_shape()) return;
    int64_t constant = type->dtype.bytes();
    PrimExpr symbolic;
    for (const PrimExpr& dim : type->shape.value()) {
      const PrimExpr extent = UpperBound(dim);
      if (const auto value = AsConstInt(extent)) {
        constant *= *value;
      } else {
        symbolic = symbolic.defined() ? symbolic * extent : extent;
      }
    }
    const auto* scope = call->args.size() > 3 ? call->args[3].as<StringImmNode>() : nullptr;
    Token token;
    token.bytes = symbolic.defined() ? I64(constant) * symbolic : I64(constant);
    token.dtype = type->dtype;
    token.device = call->args.size() > 2 ? call->args[2] : Expr(PrimValue::Int64(0));
    token.scope = scope == nullptr ? String("global") : scope->value;
    token.seq = open_.back();
    const auto id = static_cast<uint32_t>(tokens_.size());
    tokens_.push_back(std::move(token));
    token_of_[var.get()] = id;
    values_[var.get()] = std::make_shared<const TokensOf>(TokensOf{id, {}});
  }

  PrimExpr UpperBound(const PrimExpr& dim) {
    if (bounds_.empty() || dim->kind == ExprKind::kIntImm) return dim;
    const auto used = FreeVars(dim);
    if (std::none_of(used.begin(), used.end(), [&](const tir::Var& v) { return bounds_.count(v) != 0; })) return dim;
    const PrimExpr bound = arith::EvalInterval(dim, bounds_, &analyzer_).max;
    return bound.defined() ? analyzer_.Simplify(bound) : dim;
  }

  /// Calls of kernels and external functions: they use their arguments while they run and not later.
  bool CountsUses(const Expr& value) const {
    const auto* call = value.as<CallNode>();
    if (call == nullptr) return false;
    if (call->op.as<ExternFuncNode>() != nullptr) return true;
    const auto* callee = call->op.as<GlobalVarNode>();
    if (callee == nullptr) return false;
    return module_.Lookup(GetRef<GlobalVar>(callee))->kind == RelaxKind::kPrimFunc;
  }

  TokensRef Of(const Expr& expr) const {
    if (IsVar(expr)) {
      const auto found = values_.find(expr.get());
      return found == values_.end() ? nullptr : found->second;
    }
    if (const auto* tuple = expr.as<TupleNode>()) {
      TokensOf tokens;
      for (const Expr& field : tuple->fields) tokens.fields.push_back(Of(field));
      return std::make_shared<const TokensOf>(std::move(tokens));
    }
    if (const auto* item = expr.as<TupleGetItemNode>()) {
      const TokensRef tuple = Of(item->tuple);
      const bool known = tuple != nullptr && static_cast<size_t>(item->index) < tuple->fields.size();
      return known ? tuple->fields[static_cast<size_t>(item->index)] : nullptr;
    }
    return nullptr;
  }
  template <typename Visit>
  void ForEachToken(const TokensRef& tokens, const Visit& visit) {
    if (tokens == nullptr) return;
    if (tokens->token.has_value()) visit(&tokens_[*tokens->token]);
    for (const TokensRef& field : tokens->fields) ForEachToken(field, visit);
  }
  void Discard(const TokensRef& tokens) {
    ForEachToken(tokens, [](Token* token) { token->planned = false; });
  }

  void Assign(const SeqExpr& seq) {
    open_.push_back(++seqs_);
    for (const BindingBlock& block : seq->blocks) {
      for (const Binding& binding : block->bindings) Assign(binding->var, BoundValue(binding));
    }
    open_.pop_back();
  }

  void Assign(const Var& var, const Expr& value) {
    if (const auto* branch = value.as<IfNode>()) {
      Assign(branch->true_branch);
      return Assign(branch->false_branch);
    }
    if (const auto token = token_of_.find(var.get()); token != token_of_.end()) {
      if (tokens_[token->second].planned) tokens_[token->second].storage = FindStorage(tokens_[token->second]);
      return;
    }
    if (!CountsUses(value)) return;
    for (const Expr& arg : value.as<CallNode>()->args) {
      ForEachToken(Of(arg), [this](Token* token) {
        if (token->planned && --token->uses == 0) Release(token->storage);
      });
    }
  }

  /// A free storage that was made here or around, or a new one.
  size_t FindStorage(const Token& token) {
    Pool& pool = PoolOf(token.dtype, token.scope);
    const auto usable = [this](size_t storage) {
      return std::find(open_.begin(), open_.end(), storages_[storage].seq) != open_.end();
    };
    if (const auto bytes = AsConstInt(token.bytes)) {
      auto found = pool.constant.lower_bound(*bytes);
      const auto begin = pool.constant.lower_bound(*bytes / kMatchRange);
      const auto end = pool.constant.upper_bound(*bytes * kMatchRange);
      const auto middle = found;
      while (found != end && !usable(found->second)) ++found;
      if (found == end) {
        for (found = middle; found != begin;) {
          if (usable((--found)->second)) return Take(&pool, found, *bytes);
        }
      } else {
        return Take(&pool, found, *bytes);
      }
    } else {
      for (auto it = pool.symbolic.begin(); it != pool.symbolic.end(); ++it) {
        if (!usable(*it) || !analyzer_.CanProveEqual(storages_[*it].bytes, token.bytes)) continue;
        const size_t storage = *it;
        pool.symbolic.erase(it);
        return storage;
      }
    }
    Storage storage;
    storage.bytes = token.bytes;
    storage.dtype = token.dtype;
    storage.scope = token.scope;
    storage.device = token.device;
    storage.seq = token.seq;
    if (!storages_.empty()) storage.var = Var("storage" + std::to_string(storages_.size()), AnyType::Get());
    storages_.push_back(std::move(storage));
    return storages_.size() - 1;
  }

  size_t Take(Pool* pool, std::multimap<int64_t, size_t>::iterator entry, int64_t bytes) {
    const size_t storage = entry->second;
    if (bytes > entry->first) storages_[storage].bytes = I64(bytes);
    pool->constant.erase(entry);
    return storage;
  }

  void Release(size_t index) {
    const Storage& storage = storages_[index];
    Pool& pool = PoolOf(storage.dtype, storage.scope);
    if (const auto bytes = AsConstInt(storage.bytes)) {
      pool.constant.emplace(*bytes, index);
    } else {
      pool.symbolic.push_back(index);
    }
  }

  Pool& PoolOf(DataType dtype, const String& scope) { return pools_[{dtype.ToString(), std::string(scope)}]; }

  const IRModule& module_;
  arith::Analyzer analyzer_;
  arith::DomainMap bounds_;
  std::vector<Token> tokens_;
  std::unordered_map<const Object*, uint32_t> token_of_;
  std::unordered_map<const Object*, TokensRef> values_;
  std::vector<Storage> storages_;
  std::map<std::pair<std::string, std::string>, Pool> pools_;
  /// Lists of bindings are numbered in the same order in the first two rounds; those that are open now.
  size_t seqs_ = 0;
  std::vector<size_t> open_;
};

}  // namespace

Function PlanMemoryAsTVM(const IRModule& module, const Function& function) {
  return GreedyPlanner(module, function).Plan(function);
}

}  // namespace deuteron::relax
