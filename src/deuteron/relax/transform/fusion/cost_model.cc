#include "deuteron/relax/transform/fusion/cost_model.h"

namespace deuteron::relax::fusion {

double BytesOf(const Type& type) {
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    double bytes = 0;
    for (const Type& field : tuple->fields) bytes += BytesOf(field);
    return bytes;
  }
  const auto* tensor = type.as<TensorTypeNode>();
  if (tensor == nullptr || !tensor->has_shape() || tensor->dtype.is_void()) return 0;
  double bytes = static_cast<double>((tensor->dtype.bits() * tensor->dtype.lanes() + 7) / 8);
  for (const PrimExpr& dim : *tensor->shape) {
    const auto extent = AsConstInt(dim);
    bytes *= extent ? static_cast<double>(*extent) : kSymbolicExtent;
  }
  return bytes;
}

}  // namespace deuteron::relax::fusion
