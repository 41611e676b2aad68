#include "deuteron/relax/op/extent_demands.h"

#include "deuteron/ir/prim_ops.h"

namespace deuteron::relax {
namespace {

thread_local ExtentDemands* innermost = nullptr;

}  // namespace

ExtentDemands::ExtentDemands() : outer_(innermost) { innermost = this; }
ExtentDemands::~ExtentDemands() { innermost = outer_; }

bool ProvablyDiffers(const BlockBuilder& builder, const PrimExpr& given, const ExtentDemand& demand) {
  if (ExprEqual(given, demand.extent)) return false;
  if (builder.analyzer().CanProve(deuteron::NotEqual(given, demand.extent))) return true;
  if (innermost != nullptr && !builder.analyzer().CanProveEqual(given, demand.extent)) {
    innermost->list_.push_back(demand);
  }
  return false;
}

bool ProvablyExceeds(const BlockBuilder& builder, const PrimExpr& given, ExtentDemand demand) {
  if (ExprEqual(given, demand.extent)) return false;
  if (builder.analyzer().CanProve(given > demand.extent)) return true;
  if (innermost != nullptr && !builder.analyzer().CanProve(given <= demand.extent)) {
    demand.relation = ExtentDemand::Relation::kAtMost;
    innermost->list_.push_back(std::move(demand));
  }
  return false;
}

bool ProvablyFallsShort(const BlockBuilder& builder, const PrimExpr& given, ExtentDemand demand) {
  if (ExprEqual(given, demand.extent)) return false;
  if (builder.analyzer().CanProve(given < demand.extent)) return true;
  if (innermost != nullptr && !builder.analyzer().CanProve(given >= demand.extent)) {
    demand.relation = ExtentDemand::Relation::kAtLeast;
    innermost->list_.push_back(std::move(demand));
  }
  return false;
}

bool ProvablyNeitherNorOne(const BlockBuilder& builder, const PrimExpr& given, ExtentDemand demand) {
  if (ExprEqual(given, demand.extent) || builder.analyzer().CanProveEqual(given, I64(1))) return false;
  const ExtentDemand one{demand.arg, demand.axis, I64(1), demand.field};
  if (builder.analyzer().CanProve(deuteron::NotEqual(given, demand.extent))) {
    return ProvablyDiffers(builder, given, one);
  }
  if (builder.analyzer().CanProve(deuteron::NotEqual(given, I64(1)))) return ProvablyDiffers(builder, given, demand);
  if (innermost != nullptr && !builder.analyzer().CanProveEqual(given, demand.extent)) {
    demand.relation = ExtentDemand::Relation::kEqualOrOne;
    innermost->list_.push_back(std::move(demand));
  }
  return false;
}

}  // namespace deuteron::relax
