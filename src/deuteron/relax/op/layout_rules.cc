#include "deuteron/relax/op/layout_rules.h"

#include <algorithm>
#include <unordered_map>

namespace deuteron::relax {
namespace {

/// Dimensions of a broadcast result's layout, for an operand of rank `rank`: its axes are the last ones. Nothing unless
/// they stand together at the end, or if a block does not divide the operand. An operand of length 1 has blocks of 1.
std::optional<Layout> ForOperand(const Layout& result, int64_t rank, const TensorTypeNode* type) {
  const int64_t missing = result.rank() - rank;
  const auto& dims = result.dims();
  size_t begin = dims.size();
  while (begin > 0 && dims[begin - 1].axis >= missing) --begin;
  std::vector<Layout::Dim> own;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].axis < missing) continue;
    if (i < begin) return std::nullopt;
    Layout::Dim dim{dims[i].axis - missing, dims[i].block};
    if (dim.block != 0 && type->has_shape() && IsOne((*type->shape)[dim.axis])) dim.block = 1;
    own.push_back(dim);
  }
  Layout layout(rank, std::move(own));
  if (!layout.Fits(GetRef<Type>(type))) return std::nullopt;
  return layout;
}

/// `layout` for a result of rank `rank`, whose further axes come first.
Layout Extended(const Layout& layout, int64_t rank) {
  const int64_t further = rank - layout.rank();
  std::vector<Layout::Dim> dims = Layout::Initial(further).dims();
  for (const Layout::Dim& dim : layout.dims()) dims.push_back({dim.axis + further, dim.block});
  return {rank, std::move(dims)};
}

/// The layout of a broadcast result: that of the first operand of full rank that was moved, else of one of lower rank.
/// Blocks of 1, as reductions leave them, count last.
Layout ResultLayout(const std::vector<Layout>& operands, int64_t rank) {
  const auto reduced = [](const Layout& layout) {
    return std::any_of(layout.dims().begin(), layout.dims().end(),
                       [](const Layout::Dim& dim) { return dim.block == 1; });
  };
  for (const bool allow_reduced : {false, true}) {
    for (const Layout& layout : operands) {
      if (layout.rank() == rank && !layout.IsInitial() && (allow_reduced || !reduced(layout))) return layout;
    }
  }
  for (const Layout& layout : operands) {
    if (!layout.IsInitial()) return Extended(layout, rank);
  }
  return Layout::Initial(rank);
}

std::optional<LayoutAnswer> Broadcast(const LayoutQuery& query) {
  std::vector<Layout> operands;
  int64_t rank = 0;
  for (size_t i = 0; i < query.args.size(); ++i) {
    if (query.call->args[i].ty().as<TensorTypeNode>() == nullptr) continue;
    if (!query.args[i].tensor.known()) return std::nullopt;
    operands.push_back(query.args[i].tensor);
    rank = std::max(rank, operands.back().rank());
  }
  if (operands.empty()) return std::nullopt;
  const Layout result = ResultLayout(operands, rank);
  if (!result.Fits(query.call.ty())) return std::nullopt;
  LayoutAnswer answer;
  for (const Expr& arg : query.call->args) {
    const auto* type = arg.ty().as<TensorTypeNode>();
    if (type == nullptr) {
      answer.args.emplace_back();
      continue;
    }
    const auto layout = ForOperand(result, type->ndim, type);
    if (!layout) return std::nullopt;
    answer.args.emplace_back(*layout);
  }
  answer.result = result;
  return answer;
}

/// One tensor, element by element; further arguments are scalars.
std::optional<LayoutAnswer> Unary(const LayoutQuery& query) {
  if (!query.args[0].tensor.known()) return std::nullopt;
  LayoutAnswer answer;
  answer.args = {query.args[0]};
  answer.result = query.args[0];
  return answer;
}

struct Table {
  std::vector<LayoutRow> rows;
  std::unordered_map<std::string, const LayoutRow*> by_name;
  std::vector<const LayoutRow*> by_index;

  Table() {
    for (auto* family : {&ElementwiseLayouts, &NNLayouts, &ReductionLayouts, &ManipulateLayouts}) {
      const std::vector<LayoutRow> more = family();
      rows.insert(rows.end(), more.begin(), more.end());
    }
    for (const LayoutRow& row : rows) {
      DEUTERON_CHECK(by_name.emplace(row.name, &row).second) << "two layout rules of operator " << row.name;
      const auto index = static_cast<size_t>(Op::Get(std::string("relax.") + row.name)->index);
      if (by_index.size() <= index) by_index.resize(index + 1, nullptr);
      by_index[index] = &row;
    }
  }
};

const Table& GetTable() {
  static const auto* table = new Table();
  return *table;
}

}  // namespace

const LayoutRow* FindLayoutRow(const Op& op) {
  const auto& by_index = GetTable().by_index;
  const auto index = static_cast<size_t>(op->index);
  return index < by_index.size() ? by_index[index] : nullptr;
}

const LayoutRow* FindLayoutRow(const std::string& name) {
  const auto& by_name = GetTable().by_name;
  const auto it = by_name.find(name.rfind("relax.", 0) == 0 ? name.substr(6) : name);
  return it == by_name.end() ? nullptr : it->second;
}

std::string OpsWithDesiredLayouts() {
  std::string names;
  for (const LayoutRow& row : GetTable().rows) {
    if (row.takes_desired) names += (names.empty() ? "relax." : ", relax.") + std::string(row.name);
  }
  return names;
}

std::vector<LayoutRow> ElementwiseLayouts() {
  std::vector<LayoutRow> rows;
  const auto add = [&](LayoutRule rule, std::initializer_list<const char*> names) {
    for (const char* name : names) rows.push_back({.name = name, .rule = rule});
  };
  add(Unary, {"abs",    "acos",    "acosh",   "asin",         "asinh",        "atan",    "atanh",   "bitwise_not",
              "ceil",   "clip",    "cos",     "cosh",         "erf",          "exp",     "floor",   "isfinite",
              "isinf",  "isnan",   "log",     "logical_not",  "negative",     "round",   "rsqrt",   "sigmoid",
              "sign",   "sin",     "sinh",    "sqrt",         "square",       "tan",     "tanh",    "trunc",
              "astype", "nn.relu", "nn.gelu", "nn.gelu_tanh", "nn.leakyrelu", "nn.silu", "nn.selu", "nn.softplus"});
  add(Broadcast,
      {"add",         "subtract",   "multiply",    "divide",        "floor_divide", "mod",        "floor_mod",
       "power",       "atan2",      "log_add_exp", "maximum",       "minimum",      "equal",      "not_equal",
       "less",        "less_equal", "greater",     "greater_equal", "logical_and",  "logical_or", "logical_xor",
       "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift",    "right_shift",  "ewise_fma",  "where"});
  return rows;
}

}  // namespace deuteron::relax
