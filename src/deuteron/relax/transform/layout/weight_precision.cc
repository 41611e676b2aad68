#include "deuteron/relax/transform/layout/weight_precision.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "deuteron/ir/transform/precision.h"
#include "deuteron/relax/functor.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/support/element.h"
#include "deuteron/target/cpu_table.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/analysis/narrow_floats.h"

namespace deuteron::relax {
namespace {

/// Bytes of all constants, each counted once.
double ConstantBytes(const IRModule& module) {
  std::set<const Object*> seen;
  double bytes = 0;
  for (const auto& [var, function] : module->functions) {
    const auto* graph = function.as<FunctionNode>();
    if (graph == nullptr) continue;
    PostOrderVisit(GetRef<Function>(graph), [&](const Expr& expr) {
      const auto* constant = expr.as<ConstantNode>();
      if (constant == nullptr || !seen.insert(constant).second) return;
      bytes += static_cast<double>(constant->data.numel() * ElementBytes(constant->data.dtype()));
    });
  }
  return bytes;
}

/// Whether the type has a number near each of these.
bool Holds(const float* numbers, int64_t count, DataType dtype) {
  const double greatest = FindFloatFormat(dtype)->Decode(FindFloatFormat(dtype)->greatest());
  return std::all_of(numbers, numbers + count,
                     [&](float value) { return !(std::fabs(static_cast<double>(value)) > greatest); });
}

/// Tiles of rows, each of which widens every weight of that many.
double TilesOfRows(double elements, double rows) {
  const tir::CostModel costs(Target::Current().machine);
  const int64_t vectors = costs.PanelVectors(static_cast<int64_t>(elements));
  const int64_t tile_rows = costs.BestTileRows(std::nullopt, costs.MostRows(vectors), vectors).rows;
  return std::ceil(rows / static_cast<double>(tile_rows));
}

}  // namespace

WeightPrecision::WeightPrecision(const IRModule& module, const transform::PassContext& context)
    : dtype_(transform::ProductPrecision(context)), bytes_(ConstantBytes(module)) {
  if (dtype_ == DataType::Float(32)) return;
  const Target target = Target::Current();
  // Half floats are widened by an instruction; where there is none, by a dozen.
  const bool is_x86 = ArchitectureOf(target.triple) == Architecture::kX86;
  const bool is_slow = dtype_ == DataType::Float(16) && is_x86 && !target.HasFeature("f16c");
  if (is_slow) dtype_ = DataType::Float(32);
}

bool WeightPrecision::Pays(DataType narrow, double elements, double rows) const {
  const tir::CostModel costs(Target::Current().machine);
  const double widened = TilesOfRows(elements, rows) * elements / static_cast<double>(costs.machine().Lanes(32));
  // A run reads all weights, so that they come from where all of them have room.
  const double saved_bytes = elements * (sizeof(float) - narrow.bytes());
  return costs.SecondsOfCycles(widened * costs.CyclesToWiden()) < costs.SecondsToMove(bytes_) * saved_bytes / bytes_;
}

Constant WeightPrecision::Widened(const Constant& weight, double rows) {
  const DataType narrow(weight->data.dtype());
  const int64_t elements = weight->data.numel();
  const int64_t wide_bytes = elements * static_cast<int64_t>(sizeof(float));
  if (wide_bytes > tir::CostModel(Target::Current().machine).PanelBytes()) return weight;
  const auto count = static_cast<double>(elements);
  if (TilesOfRows(count, rows) <= 1 || Pays(narrow, count, rows)) return weight;
  auto [it, inserted] = held_.try_emplace(weight.get(), weight);
  if (!inserted) return it->second;
  it->second = Constant(WidenedData(weight, DataType::Float(32)), weight->span);
  LetGoOfData(weight);
  return it->second;
}

Constant WeightPrecision::Hold(const Constant& weight, std::optional<double> rows) {
  const DataType given(weight->data.dtype());
  const int64_t elements = weight->data.numel();
  if (elements == 0) return weight;
  if (rows && tir::Is16BitFloat(given)) return Widened(weight, *rows);
  if (dtype_ == DataType::Float(32) || given != DataType::Float(32)) return weight;
  if (rows && !Pays(dtype_, static_cast<double>(elements), *rows)) return weight;
  return Narrow(weight);
}

Constant WeightPrecision::Narrow(const Constant& weight) {
  const int64_t elements = weight->data.numel();
  auto [it, inserted] = held_.try_emplace(weight.get(), weight);
  if (!inserted) return it->second;
  const Tensor wide = CompactData(weight);
  const auto* numbers = static_cast<const float*>(wide.data_ptr());
  if (Holds(numbers, elements, dtype_)) {
    const auto shape = weight->data.shape();
    Tensor narrow = runtime::AllocTensor({shape.begin(), shape.end()}, dtype_);
    NarrowFloats(numbers, elements, dtype_, static_cast<uint16_t*>(narrow.data_ptr()));
    it->second = Constant(std::move(narrow), weight->span);
    LetGoOfData(weight);
  }
  return it->second;
}

}  // namespace deuteron::relax
