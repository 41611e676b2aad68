/// \file
/// Types of graph-level values.
///
/// They form a lattice: Any above all; a tensor of unknown rank above one of known rank above one of known
/// shape. Shapes are arrays of int64 expressions over symbolic variables (`tir::Var`); two shapes are equal
/// where the prover (arith/) says so.
#pragma once

#include "deuteron/ir/dtype.h"
#include "deuteron/ir/prim_expr.h"
#include "deuteron/ir/relax_expr.h"

namespace deuteron {

/// Rank of a tensor or shape of which nothing is known.
inline constexpr int64_t kUnknownNDim = -1;

/// Nothing is known of the value (R.Any, formerly R.Object).
class AnyTypeNode : public TypeNode {
 public:
  AnyTypeNode() : TypeNode(TypeKind::kAny) {}
  DEUTERON_NODE("deuteron.AnyType", AnyTypeNode, TypeNode);
};
class AnyType : public Type {
 public:
  /// The one instance.
  static AnyType Get();
  DEUTERON_REF(AnyType, Type, AnyTypeNode);
};

/// A scalar of type `dtype` (R.Prim).
class PrimTypeNode : public TypeNode {
 public:
  PrimTypeNode() : TypeNode(TypeKind::kPrim) {}
  DataType dtype;
  DEUTERON_NODE("deuteron.PrimType", PrimTypeNode, TypeNode);
};
class PrimType : public Type {
 public:
  explicit PrimType(DataType dtype);
  DEUTERON_REF(PrimType, Type, PrimTypeNode);
};

/// A shape as a value (R.Shape): its dimensions, or only how many there are, or not even that.
class ShapeTypeNode : public TypeNode {
 public:
  ShapeTypeNode() : TypeNode(TypeKind::kShape) {}
  Optional<Array<PrimExpr>> values;
  int64_t ndim = kUnknownNDim;
  DEUTERON_NODE("deuteron.ShapeType", ShapeTypeNode, TypeNode);
};
class ShapeType : public Type {
 public:
  explicit ShapeType(Array<PrimExpr> values);
  /// Dimensions unknown; `ndim` may be kUnknownNDim.
  static ShapeType WithNDim(int64_t ndim);
  DEUTERON_REF(ShapeType, Type, ShapeTypeNode);
};

/// Where a tensor lives: "cpu", 0 (module global info; none = the default device).
class VDeviceNode : public Object {
 public:
  String target;
  int64_t device_id = 0;
  String memory_scope;
  DEUTERON_TREE_NODE
  DEUTERON_NODE("deuteron.VDevice", VDeviceNode, Object);
};
class VDevice : public ObjectRef {
 public:
  VDevice(String target, int64_t device_id, String memory_scope = "global");
  DEUTERON_REF(VDevice, ObjectRef, VDeviceNode);
};

/// A tensor (R.Tensor): its shape, or only its rank, or not even that; its dtype, void if unknown.
class TensorTypeNode : public TypeNode {
 public:
  TensorTypeNode() : TypeNode(TypeKind::kTensor) {}
  Optional<Array<PrimExpr>> shape;
  DataType dtype;
  int64_t ndim = kUnknownNDim;
  /// Null: the default device.
  VDevice vdevice;
  bool has_shape() const { return shape.has_value(); }
  DEUTERON_NODE("deuteron.TensorType", TensorTypeNode, TypeNode);
};
class TensorType : public Type {
 public:
  TensorType(Array<PrimExpr> shape, DataType dtype, VDevice vdevice = VDevice());
  /// Shape unknown; `ndim` may be kUnknownNDim, `dtype` void.
  static TensorType WithNDim(int64_t ndim, DataType dtype, VDevice vdevice = VDevice());
  DEUTERON_REF(TensorType, Type, TensorTypeNode);
};

class TupleTypeNode : public TypeNode {
 public:
  TupleTypeNode() : TypeNode(TypeKind::kTuple) {}
  Array<Type> fields = kEmpty;
  DEUTERON_NODE("deuteron.TupleType", TupleTypeNode, TypeNode);
};
class TupleType : public Type {
 public:
  explicit TupleType(Array<Type> fields);
  DEUTERON_REF(TupleType, Type, TupleTypeNode);
};

/// A function (R.Callable). Without `params` it takes anything (a packed function).
class FuncTypeNode : public TypeNode {
 public:
  FuncTypeNode() : TypeNode(TypeKind::kFunc) {}
  Optional<Array<Type>> params;
  Type ret;
  bool purity = true;
  DEUTERON_NODE("deuteron.FuncType", FuncTypeNode, TypeNode);
};
class FuncType : public Type {
 public:
  FuncType(Array<Type> params, Type ret, bool purity = true);
  static FuncType Opaque(Type ret, bool purity = false);
  DEUTERON_REF(FuncType, Type, FuncTypeNode);
};

}  // namespace deuteron
