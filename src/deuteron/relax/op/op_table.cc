#include "deuteron/relax/op/op_table.h"

#include <string>
#include <unordered_map>

#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/call.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/image.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/loss.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/memory.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/shape.h"
#include "deuteron/relax/op/sorting.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/op/vision.h"

namespace deuteron::relax {
namespace {

/// Every family of operators there is.
std::vector<OpInfo> ConcatenateFamilies() {
  std::vector<OpInfo> rows;
  const auto add = [&rows](std::vector<OpInfo> family) {
    rows.insert(rows.end(), std::make_move_iterator(family.begin()), std::make_move_iterator(family.end()));
  };
  add(CallOps());
  add(UnaryOps());
  add(BinaryOps());
  add(NNActivationOps());
  add(NNNormOps());
  add(NNConvOps());
  add(NNPoolOps());
  add(NNMiscOps());
  add(LinearAlgebraOps());
  add(BuiltinOps());
  add(MemoryOps());
  add(VMOps());
  add(ManipulateOps());
  add(CopyOps());
  add(CreateOps());
  add(StatisticalOps());
  add(SearchOps());
  add(IndexOps());
  add(DatatypeOps());
  add(ShapeOps());
  add(GatherOps());
  add(SortingOps());
  add(QdqOps());
  add(ImageOps());
  add(VisionOps());
  add(LossOps());
  return rows;
}

/// The rows, by name and by the number of their Op.
struct Table {
  std::vector<OpInfo> rows = ConcatenateFamilies();
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

}  // namespace deuteron::relax
