#include "deuteron/backend/dnnl/making.h"

#include <algorithm>

#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/cost.h"

namespace deuteron::backend::dnnl {

Making MakingOfConvolution(const std::vector<int64_t>& weight, int64_t groups) {
  if (Product(weight, 2, weight.size()) == 1) return kOfPixel;
  if (weight[1] == 1) return kOfDepthwise;
  return groups == 1 ? kOfWindow : kOfGroups;
}

Making MakingOfProduct(const std::vector<int64_t>& result) {
  return Product(result, 0, result.size() - 1) <= double{kFewRows} ? kOfRows : kOfProduct;
}

double SecondsToCompile(const Making& making, bool transforms, double in_runs) {
  return transforms ? kSecondsOfTiles : in_runs <= kLightSeconds ? making.light : making.heavy;
}

bool IsOpen(const Type& type) {
  const auto* tensor = type.as<TensorTypeNode>();
  return tensor == nullptr || !tensor->has_shape() || !AsConstInts(*tensor->shape);
}

std::vector<int64_t> DimsOf(const Type& type) {
  std::vector<int64_t> dims;
  for (const PrimExpr& dim : *type.as<TensorTypeNode>()->shape) dims.push_back(tir::AssumedExtent(dim));
  return dims;
}

double Product(const std::vector<int64_t>& dims, size_t begin, size_t end) {
  double product = 1;
  for (size_t i = begin; i < end; ++i) product *= static_cast<double>(dims[i]);
  return product;
}

double SecondsOfLibraryWeights(double bytes, bool is_general) {
  return bytes / (is_general ? kHeldByLibraryPerSecond : kPackedByLibraryPerSecond);
}

bool HasWideVectors() { return Target::Current().HasFeature("avx512f"); }

double CoresAtWork(const Machine& machine) { return static_cast<double>(std::min(machine.threads, machine.cores)); }

}  // namespace deuteron::backend::dnnl
