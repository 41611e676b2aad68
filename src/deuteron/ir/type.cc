#include "deuteron/ir/type.h"

namespace deuteron {

AnyType AnyType::Get() {
  static const AnyType instance(MakeNode<AnyTypeNode>());
  return instance;
}

PrimType::PrimType(DataType dtype) {
  auto node = MakeNode<PrimTypeNode>();
  node->dtype = dtype;
  data_ = std::move(node);
}

ShapeType::ShapeType(Array<PrimExpr> values) {
  auto node = MakeNode<ShapeTypeNode>();
  node->ndim = static_cast<int64_t>(values.size());
  node->values = std::move(values);
  data_ = std::move(node);
}

ShapeType ShapeType::WithNDim(int64_t ndim) {
  auto node = MakeNode<ShapeTypeNode>();
  node->ndim = ndim;
  return ShapeType(std::move(node));
}

VDevice::VDevice(String target, int64_t device_id, String memory_scope) {
  auto node = MakeNode<VDeviceNode>();
  node->target = std::move(target);
  node->device_id = device_id;
  node->memory_scope = std::move(memory_scope);
  data_ = std::move(node);
}

TensorType::TensorType(Array<PrimExpr> shape, DataType dtype, VDevice vdevice) {
  auto node = MakeNode<TensorTypeNode>();
  node->ndim = static_cast<int64_t>(shape.size());
  node->shape = std::move(shape);
  node->dtype = dtype;
  node->vdevice = std::move(vdevice);
  data_ = std::move(node);
}

TensorType TensorType::WithNDim(int64_t ndim, DataType dtype, VDevice vdevice) {
  auto node = MakeNode<TensorTypeNode>();
  node->ndim = ndim;
  node->dtype = dtype;
  node->vdevice = std::move(vdevice);
  return TensorType(std::move(node));
}

TupleType::TupleType(Array<Type> fields) {
  auto node = MakeNode<TupleTypeNode>();
  node->fields = std::move(fields);
  data_ = std::move(node);
}

FuncType::FuncType(Array<Type> params, Type ret, bool purity) {
  auto node = MakeNode<FuncTypeNode>();
  node->params = std::move(params);
  node->ret = std::move(ret);
  node->purity = purity;
  data_ = std::move(node);
}

FuncType FuncType::Opaque(Type ret, bool purity) {
  auto node = MakeNode<FuncTypeNode>();
  node->ret = std::move(ret);
  node->purity = purity;
  return FuncType(std::move(node));
}

}  // namespace deuteron
