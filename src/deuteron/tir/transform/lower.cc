#include "deuteron/tir/transform/lower.h"

#include <vector>

#include "deuteron/tir/transform/views.h"

namespace deuteron::tir {

PrimFunc LowerPrimFunc(PrimFunc func, const Target& target) {
  func = ResolveViews(std::move(func));
  func = PlaceBuffers(std::move(func));
  func = LowerBlocks(std::move(func));
  func = WidenFloats(std::move(func), target);
  func = SimplifyLoops(std::move(func));
  func = CompactBuffers(std::move(func), target);
  func = WidenBuffers(std::move(func), target);
  func = SkipPadding(std::move(func));
  func = SplitUnrolled(std::move(func));
  func = PartitionLoops(std::move(func), target);
  func = FillLanes(std::move(func));
  func = FlattenBuffers(std::move(func));
  func = SimplifyLoops(std::move(func));
  func = VectorizeLoops(std::move(func), target);
  func = SimplifyLoops(std::move(func), /*lower_divisions=*/true);
  return HoistDivisions(std::move(func));
}

IRModule LowerModule(IRModule module, const Target& target) {
  std::vector<GlobalVar> names;
  for (const auto& [var, func] : module->functions) {
    if (func.as<PrimFuncNode>() != nullptr) names.push_back(var);
  }
  for (const GlobalVar& name : names) {
    module.Update(name, LowerPrimFunc(Downcast<PrimFunc>(module.Lookup(name)), target));
  }
  return module;
}

}  // namespace deuteron::tir
