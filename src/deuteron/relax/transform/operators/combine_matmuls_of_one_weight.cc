/// \file
/// CombineMatmulsOfOneWeight: products of several inputs with the same weight become one product.
///
///     a = matmul(x0, w)            x = concat((x0, x1), axis=0)
///     b = matmul(x1, w)     →      y = matmul(x, w)                                  (or nn.dense)
///                                  a = strided_slice(y, rows of x0)
///                                  b = strided_slice(y, rows of x1)
///
/// A product of few rows takes as long as it takes to read the weight; combined, the weight is read once. The
/// typical case is a recurrent network unrolled over time, whose inputs of all steps meet one weight. (XLA's
/// DotMerger does this too, for either operand; CombineParallelMatmul is the mirror image: one input, several
/// weights.) The slices are injective and fuse into what consumes them.
///
/// Which products may be combined: the *level* of a binding is the largest number of candidates on a path that
/// ends before it. Two candidates of one weight and one level do not depend on each other; and combining all
/// such groups at once makes no cycle, since the level rises along every path that goes through a candidate.
/// That is linear, and gives up only groups that could be had by delaying some candidate. Bindings keep
/// their order but for what the combined product needs, which moves before it.
///
/// When it pays: a product of few rows takes as long as its weight takes to load (CostModel::RowsOfLoad).
/// Not done: batched weights, symbolic shapes, blocks with a match_cast (a symbol's uses would have to be ordered too).
#include <fmt/core.h>

#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/operators/passes.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/cost.h"

namespace deuteron::relax {
namespace {

/// The extents of a tensor type of static shape; nothing otherwise.
std::optional<std::vector<int64_t>> StaticShape(const Expr& expr) {
  const auto* type = expr.ty().as<TensorTypeNode>();
  if (type == nullptr || !type->has_shape()) return std::nullopt;
  return AsConstInts(*type->shape);
}

PrimExpr Int64(int64_t value) { return tir::IntImm(DataType::Int(64), value); }

/// A product x·w of few rows with a matrix w.
struct Candidate {
  uint32_t binding;
  const CallNode* call;
  int64_t rows;
};

class Combiner {
 public:
  explicit Combiner(const transform::PassContext& context, String function)
      : context_(context),
        function_(std::move(function)),
        most_rows_(tir::CostModel(Target::Current().machine).RowsOfLoad()) {}

  Function Run(const Function& function) {
    builder_.BeginScope(function->params);
    Array<BindingBlock> blocks = function->body->blocks.Map([this](const BindingBlock& b) { return Visit(b); });
    builder_.EndScope();
    if (blocks.same_as(function->body->blocks)) return function;
    return WithBody(function, SeqExpr(std::move(blocks), function->body->body, function->body->span));
  }

 private:
  BindingBlock Visit(const BindingBlock& block) {
    if (!block->IsInstance<DataflowBlockNode>()) return block;
    const auto count = static_cast<uint32_t>(block->bindings.size());
    for (const Binding& binding : block->bindings) {
      if (binding->IsInstance<MatchCastNode>()) return block;
    }
    std::vector<std::vector<uint32_t>> dependencies = Dependencies(block);
    const std::vector<std::vector<Candidate>> groups = Groups(block, dependencies);
    if (groups.empty()) return block;

    // One node for a group: its first binding, which depends on all that any of them does.
    std::vector<uint32_t> node(count);
    std::iota(node.begin(), node.end(), 0);
    std::unordered_map<uint32_t, const std::vector<Candidate>*> group_at;
    for (const auto& group : groups) {
      const uint32_t first = group[0].binding;
      group_at[first] = &group;
      for (size_t i = 1; i < group.size(); ++i) {
        node[group[i].binding] = first;
        auto& moved = dependencies[group[i].binding];
        dependencies[first].insert(dependencies[first].end(), moved.begin(), moved.end());
        moved = {first};
      }
    }
    for (auto& list : dependencies) {
      for (uint32_t& dependency : list) dependency = node[dependency];
    }
    const auto order =
        TopologicalOrder(count, [&](uint32_t i) -> const std::vector<uint32_t>& { return dependencies[i]; });

    builder_.BeginDataflowBlock();
    for (const uint32_t i : order) {
      if (node[i] != i) continue;
      auto group = group_at.find(i);
      if (group == group_at.end()) {
        builder_.EmitNormalized(block->bindings[i]);
      } else {
        Emit(block, *group->second);
      }
    }
    return builder_.EndBlock();
  }

  /// For each binding those of this block that it uses.
  static std::vector<std::vector<uint32_t>> Dependencies(const BindingBlock& block) {
    std::vector<std::vector<uint32_t>> dependencies(block->bindings.size());
    std::unordered_map<const Object*, uint32_t> index_of;
    for (uint32_t i = 0; i < dependencies.size(); ++i) {
      const Binding& binding = block->bindings[i];
      VisitLeaves(BoundValue(binding), [&](const Expr& leaf) {
        if (auto it = index_of.find(leaf.get()); it != index_of.end()) dependencies[i].push_back(it->second);
      });
      index_of[binding->var.get()] = i;
    }
    return dependencies;
  }

  /// Groups of two candidates or more with the same weight and level.
  std::vector<std::vector<Candidate>> Groups(const BindingBlock& block,
                                             const std::vector<std::vector<uint32_t>>& dependencies) const {
    const size_t count = block->bindings.size();
    std::vector<int64_t> level(count, 0), level_after(count, 0);
    // Weight, level, and the types of input and result (as text) → group.
    std::map<std::tuple<size_t, int64_t, std::string>, size_t> group_of;
    std::unordered_map<const Object*, size_t> weight_number;
    std::vector<std::vector<Candidate>> groups;
    for (uint32_t i = 0; i < count; ++i) {
      for (const uint32_t d : dependencies[i]) level[i] = std::max(level[i], level_after[d]);
      level_after[i] = level[i];
      const auto candidate = Match(block->bindings[i], i);
      if (!candidate) continue;
      ++level_after[i];
      const size_t weight =
          weight_number.try_emplace(candidate->call->args[1].get(), weight_number.size()).first->second;
      const std::string types = TypeOf(candidate->call->args[0]) + TypeOf(block->bindings[i]->var);
      auto [it, inserted] = group_of.try_emplace({weight, level[i], types}, groups.size());
      if (inserted) groups.emplace_back();
      groups[it->second].push_back(*candidate);
    }
    std::erase_if(groups, [](const auto& group) { return group.size() < 2; });
    return groups;
  }

  static std::string TypeOf(const Expr& tensor) { return tensor.ty().as<TensorTypeNode>()->dtype.ToString(); }

  std::optional<Candidate> Match(const Binding& binding, uint32_t index) const {
    static const Op matmul = Op::Get("relax.matmul");
    const auto* call = BoundValue(binding).as<CallNode>();
    if (call == nullptr || !(call->op.same_as(matmul) || IsDense(*call))) return std::nullopt;
    const auto x = StaticShape(call->args[0]);
    const auto w = StaticShape(call->args[1]);
    if (!x || !w || x->empty() || w->size() != 2) return std::nullopt;
    const int64_t rows = std::accumulate(x->begin(), x->end() - 1, int64_t{1}, std::multiplies<>());
    if (rows == 0 || rows > most_rows_) return std::nullopt;
    return Candidate{index, call, rows};
  }

  /// Whether the weight has a row for each output.
  static bool IsDense(const CallNode& call) {
    static const Op dense = Op::Get("relax.nn.dense");
    return call.op.same_as(dense);
  }

  /// The combined product, and the variables of the old ones as slices of it.
  void Emit(const BindingBlock& block, const std::vector<Candidate>& group) {
    const Expr& weight = group[0].call->args[1];
    const std::vector<int64_t> shape = *StaticShape(weight);
    const int64_t depth = shape[IsDense(*group[0].call) ? 1 : 0];
    const auto matrix = [](int64_t rows, int64_t columns) { return Array<PrimExpr>{Int64(rows), Int64(columns)}; };
    Array<Expr> inputs;
    for (const Candidate& member : group) {
      const Expr& x = member.call->args[0];
      inputs.push_back(StaticShape(x)->size() == 2 ? x : builder_.Emit(Reshape(x, matrix(member.rows, depth))));
    }
    const Span span = group[0].call->span;
    const Var input = builder_.Emit(Concat(inputs, 0), "", span);
    const Var product =
        builder_.Emit(Call(group[0].call->op, {input, weight}, group[0].call->attrs, {}, span), "", span);
    int64_t row = 0;
    for (const Candidate& member : group) {
      const Binding& binding = block->bindings[member.binding];
      Expr slice = StridedSlice(product, {0}, {Int64(row)}, {Int64(row + member.rows)});
      const auto* type = binding->var.ty().as<TensorTypeNode>();
      if (type->ndim != 2) slice = Reshape(builder_.Emit(slice, "", member.call->span), *type->shape);
      builder_.EmitNormalized(VarBinding(binding->var, slice, member.call->span));
      row += member.rows;
    }
    Report(block, group, shape, row);
  }

  void Report(const BindingBlock& block, const std::vector<Candidate>& group, const std::vector<int64_t>& weight,
              int64_t rows) {
    const int64_t bytes = weight[0] * weight[1] * group[0].call->args[1].ty().as<TensorTypeNode>()->dtype.bytes();
    context_.decisions->Add(
        {.pass = "CombineMatmulsOfOneWeight",
         .function = function_,
         .subject = block->bindings[group[0].binding]->var->name_hint,
         .reason = transform::Reason::kCombined,
         .message = fmt::format("{} products with one weight become one of {} rows", group.size(), rows),
         .figures = {{"bytes_saved", bytes * static_cast<int64_t>(group.size() - 1)}},
         .subject_span = group[0].call->span});
  }

  const transform::PassContext& context_;
  const String function_;
  const int64_t most_rows_;
  BlockBuilder builder_;
};

}  // namespace

transform::Pass CombineMatmulsOfOneWeight() {
  return transform::ModulePass({.name = "CombineMatmulsOfOneWeight", .opt_level = 1},
                               [](IRModule module, const transform::PassContext& context) {
                                 return UpdateFunctions(std::move(module),
                                                        [&](const GlobalVar& var, const Function& function) {
                                                          return Combiner(context, var->name_hint).Run(function);
                                                        });
                               });
}

}  // namespace deuteron::relax
