#include "deuteron/relax/op_info.h"

#include <sstream>
#include <unordered_map>

#include "deuteron/support/error.h"

namespace deuteron::relax {
namespace {

std::vector<OpInfo> (*list_rows)() = nullptr;

/// The rows, by name and by the number of their Op.
struct Table {
  std::vector<OpInfo> rows = list_rows();
  std::unordered_map<std::string_view, const OpInfo*> by_name;
  std::vector<const OpInfo*> by_index;

  Table() {
    for (const OpInfo& row : rows) {
      DEUTERON_CHECK(by_name.emplace(row.name, &row).second) << "two rows of operator " << row.name;
      const size_t index = Op::Get(std::string("relax.") + row.name)->index;
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

void SetOpTable(std::vector<OpInfo> (*rows)()) { list_rows = rows; }

const OpInfo* FindOpInfo(std::string_view name) {
  constexpr std::string_view kPrefix = "relax.";
  if (name.substr(0, kPrefix.size()) == kPrefix) name.remove_prefix(kPrefix.size());
  const auto& by_name = GetTable().by_name;
  const auto it = by_name.find(name);
  return it == by_name.end() ? nullptr : it->second;
}

const OpInfo* FindOpInfo(const Op& op) {
  const auto& by_index = GetTable().by_index;
  const auto index = static_cast<size_t>(op->index);
  return index < by_index.size() ? by_index[index] : nullptr;
}

std::span<const OpInfo> AllOps() { return GetTable().rows; }

Call MakeCall(const char* name, Array<Expr> args, Attrs attrs, Array<Type> ty_args) {
  return Call(Op::Get(std::string("relax.") + name), std::move(args), std::move(attrs), std::move(ty_args));
}

std::string OpName(const Call& call) {
  if (const auto* op = call->op.as<OpNode>()) {
    const std::string name(op->name);
    return name.rfind("relax.", 0) == 0 ? name.substr(6) : name;
  }
  if (const auto* global = call->op.as<GlobalVarNode>()) return std::string(global->name_hint);
  if (const auto* external = call->op.as<ExternFuncNode>()) return std::string(external->global_symbol);
  if (const auto* var = call->op.as<VarNode>()) return std::string(var->name_hint);
  return "a call";
}

void ThrowOpError(const Call& call, const std::string& message) {
  std::ostringstream place;
  if (call->span.defined()) {
    place << " (at " << call->span->source;
    if (call->span->line > 0) place << ":" << call->span->line << ":" << call->span->column;
    place << ")";
  }
  DEUTERON_THROW(ModelError) << OpName(call) << place.str() << ": " << message;
}

void CheckArity(const Call& call, size_t least, size_t most) {
  if (call->args.size() >= least && call->args.size() <= most) return;
  const std::string expected =
      least == most ? std::to_string(least) : std::to_string(least) + " to " + std::to_string(most);
  ThrowOpError(call, "takes " + expected + " arguments and is given " + std::to_string(call->args.size()));
}

}  // namespace deuteron::relax
