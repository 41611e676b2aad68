/// \file
/// Scalar expressions: what shapes, loop bounds, indices and the bodies of kernels are made of.
///
/// Semantics, which the interpreter defines and generated code follows:
///  - Integers are two's complement; `+ - *` wrap around. Simplification of *index* expressions (int64 and
///    int32 made of shape variables and loop variables) assumes that they do not overflow.
///  - `Div`/`Mod` truncate toward zero, `FloorDiv`/`FloorMod` toward minus infinity. Of integers, by -1 wraps around,
///  by
///    zero is an error of the run (undefined in generated code where the divisor is an extent). Of floats it is IEEE.
///  - Floats are IEEE 754, round to nearest even, in the type's own precision, and are not reassociated but by a pass
///    that says so. Generated code may contract a product and the sum that it goes into to one rounding (fma);
///    the interpreter does not. Min and max propagate NaN.
///  - Casts float → int truncate; out of range saturates. Casts int → int wrap; anything → bool is `!= 0`.
///  - A cast to a float that is too small for the value gives what the format has for it: infinity, NaN or its greatest
///    number (support/element.h).
///  - `Select` evaluates both branches, the intrinsic `tir.if_then_else` only the one taken.
///  - `And`/`Or` evaluate the right side only where the left does not decide.
///  - No expression has a side effect, except a Call to an impure intrinsic.
///
/// Every node stores its kind, so that `switch (expr->kind)` is exhaustive without a `default:`.
#pragma once

#include <string>
#include <vector>

#include "deuteron/ir/dtype.h"
#include "deuteron/ir/object.h"
#include "deuteron/ir/op.h"

namespace deuteron {

enum class ExprKind : uint8_t {
  kVar,
  kIntImm,
  kFloatImm,
  kStringImm,
  kCast,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kFloorDiv,
  kFloorMod,
  kMin,
  kMax,
  kEQ,
  kNE,
  kLT,
  kLE,
  kGT,
  kGE,
  kAnd,
  kOr,
  kNot,
  kSelect,
  kLet,
  kRamp,
  kBroadcast,
  kShuffle,
  kCall,
  kBufferLoad,
  kProducerLoad,
  kReduce,
};

/// Base of all scalar (and vector, dtype.lanes > 1) expressions.
class PrimExprNode : public Object {
 public:
  DataType dtype;
  const ExprKind kind;

  DEUTERON_TREE_NODE
  DEUTERON_BASE_NODE("deuteron.PrimExpr", PrimExprNode, Object);

 protected:
  explicit PrimExprNode(ExprKind kind) : kind(kind) {}
};

class PrimExpr : public ObjectRef {
 public:
  DataType dtype() const { return get()->dtype; }
  DEUTERON_REF(PrimExpr, ObjectRef, PrimExprNode);
};

namespace tir {

/// A scalar variable: a loop variable, a block iterator, a symbolic dimension, a pointer to a buffer's data.
/// Compared by identity.
class VarNode : public PrimExprNode {
 public:
  VarNode() : PrimExprNode(ExprKind::kVar) {}
  String name_hint;
  DEUTERON_VAR_NODE
  DEUTERON_NODE("deuteron.tir.Var", VarNode, PrimExprNode);
};
class Var : public PrimExpr {
 public:
  explicit Var(String name_hint, DataType dtype = DataType::Int(64));
  DEUTERON_REF(Var, PrimExpr, VarNode);
};

/// An integer or boolean constant. Unsigned 64-bit values are stored as their two's complement.
class IntImmNode : public PrimExprNode {
 public:
  IntImmNode() : PrimExprNode(ExprKind::kIntImm) {}
  int64_t value = 0;
  DEUTERON_NODE("deuteron.tir.IntImm", IntImmNode, PrimExprNode);
};
class IntImm : public PrimExpr {
 public:
  /// Wraps `value` to `dtype`.
  IntImm(DataType dtype, int64_t value);
  DEUTERON_REF(IntImm, PrimExpr, IntImmNode);
};

/// A floating-point constant, rounded to `dtype` at construction.
class FloatImmNode : public PrimExprNode {
 public:
  FloatImmNode() : PrimExprNode(ExprKind::kFloatImm) {}
  double value = 0;
  DEUTERON_NODE("deuteron.tir.FloatImm", FloatImmNode, PrimExprNode);
};
class FloatImm : public PrimExpr {
 public:
  FloatImm(DataType dtype, double value);
  DEUTERON_REF(FloatImm, PrimExpr, FloatImmNode);
};

/// A string, only as an argument of a call.
class StringImmNode : public PrimExprNode {
 public:
  StringImmNode() : PrimExprNode(ExprKind::kStringImm) {}
  String value;
  DEUTERON_NODE("deuteron.tir.StringImm", StringImmNode, PrimExprNode);
};
class StringImm : public PrimExpr {
 public:
  explicit StringImm(String value);
  DEUTERON_REF(StringImm, PrimExpr, StringImmNode);
};

class CastNode : public PrimExprNode {
 public:
  CastNode() : PrimExprNode(ExprKind::kCast) {}
  PrimExpr value;
  DEUTERON_NODE("deuteron.tir.Cast", CastNode, PrimExprNode);
};
class Cast : public PrimExpr {
 public:
  Cast(DataType dtype, PrimExpr value);
  DEUTERON_REF(Cast, PrimExpr, CastNode);
};

/// Base of all expressions of two operands of one type.
class BinaryNode : public PrimExprNode {
 public:
  PrimExpr a;
  PrimExpr b;
  DEUTERON_BASE_NODE("deuteron.tir.Binary", BinaryNode, PrimExprNode);

 protected:
  using PrimExprNode::PrimExprNode;
};
class Binary : public PrimExpr {
 public:
  DEUTERON_REF(Binary, PrimExpr, BinaryNode);
};

/// The constructors of the binary nodes take operands of equal type and build the node as it is; the operators and
/// functions of prim_ops.h also promote and fold.
#define DEUTERON_BINARY(Name)                                     \
  class Name##Node : public BinaryNode {                          \
   public:                                                        \
    Name##Node() : BinaryNode(ExprKind::k##Name) {}               \
    DEUTERON_NODE("deuteron.tir." #Name, Name##Node, BinaryNode); \
  };                                                              \
  class Name : public Binary {                                    \
   public:                                                        \
    Name(PrimExpr a, PrimExpr b);                                 \
    DEUTERON_REF(Name, Binary, Name##Node);                       \
  };
DEUTERON_BINARY(Add)
DEUTERON_BINARY(Sub)
DEUTERON_BINARY(Mul)
DEUTERON_BINARY(Div)
DEUTERON_BINARY(Mod)
DEUTERON_BINARY(FloorDiv)
DEUTERON_BINARY(FloorMod)
DEUTERON_BINARY(Min)
DEUTERON_BINARY(Max)
DEUTERON_BINARY(EQ)
DEUTERON_BINARY(NE)
DEUTERON_BINARY(LT)
DEUTERON_BINARY(LE)
DEUTERON_BINARY(GT)
DEUTERON_BINARY(GE)
DEUTERON_BINARY(And)
DEUTERON_BINARY(Or)
#undef DEUTERON_BINARY

class NotNode : public PrimExprNode {
 public:
  NotNode() : PrimExprNode(ExprKind::kNot) {}
  PrimExpr a;
  DEUTERON_NODE("deuteron.tir.Not", NotNode, PrimExprNode);
};
class Not : public PrimExpr {
 public:
  explicit Not(PrimExpr a);
  DEUTERON_REF(Not, PrimExpr, NotNode);
};

/// `condition ? true_value : false_value`, both evaluated.
class SelectNode : public PrimExprNode {
 public:
  SelectNode() : PrimExprNode(ExprKind::kSelect) {}
  PrimExpr condition;
  PrimExpr true_value;
  PrimExpr false_value;
  DEUTERON_NODE("deuteron.tir.Select", SelectNode, PrimExprNode);
};
class Select : public PrimExpr {
 public:
  Select(PrimExpr condition, PrimExpr true_value, PrimExpr false_value);
  DEUTERON_REF(Select, PrimExpr, SelectNode);
};

/// `body` with `var` bound to `value`.
class LetNode : public PrimExprNode {
 public:
  LetNode() : PrimExprNode(ExprKind::kLet) {}
  Var var;
  PrimExpr value;
  PrimExpr body;
  DEUTERON_NODE("deuteron.tir.Let", LetNode, PrimExprNode);
};
class Let : public PrimExpr {
 public:
  Let(Var var, PrimExpr value, PrimExpr body);
  DEUTERON_REF(Let, PrimExpr, LetNode);
};

/// The vector [base, base + stride, ..., base + (lanes - 1) * stride].
class RampNode : public PrimExprNode {
 public:
  RampNode() : PrimExprNode(ExprKind::kRamp) {}
  PrimExpr base;
  PrimExpr stride;
  int64_t lanes = 0;
  DEUTERON_NODE("deuteron.tir.Ramp", RampNode, PrimExprNode);
};
class Ramp : public PrimExpr {
 public:
  Ramp(PrimExpr base, PrimExpr stride, int64_t lanes);
  DEUTERON_REF(Ramp, PrimExpr, RampNode);
};

/// The scalar `value`, `lanes` times.
class BroadcastNode : public PrimExprNode {
 public:
  BroadcastNode() : PrimExprNode(ExprKind::kBroadcast) {}
  PrimExpr value;
  int64_t lanes = 0;
  DEUTERON_NODE("deuteron.tir.Broadcast", BroadcastNode, PrimExprNode);
};
class Broadcast : public PrimExpr {
 public:
  Broadcast(PrimExpr value, int64_t lanes);
  DEUTERON_REF(Broadcast, PrimExpr, BroadcastNode);
};

/// Elements `indices` of the concatenation of `vectors`.
class ShuffleNode : public PrimExprNode {
 public:
  ShuffleNode() : PrimExprNode(ExprKind::kShuffle) {}
  Array<PrimExpr> vectors = kEmpty;
  Array<PrimExpr> indices = kEmpty;
  DEUTERON_NODE("deuteron.tir.Shuffle", ShuffleNode, PrimExprNode);
};
class Shuffle : public PrimExpr {
 public:
  Shuffle(Array<PrimExpr> vectors, Array<PrimExpr> indices);
  DEUTERON_REF(Shuffle, PrimExpr, ShuffleNode);
};

/// A call to an intrinsic (`tir.exp`, see tir/intrinsics.h) or, in lowered code, to a function by name.
class CallNode : public PrimExprNode {
 public:
  CallNode() : PrimExprNode(ExprKind::kCall) {}
  Op op;
  Array<PrimExpr> args = kEmpty;
  DEUTERON_NODE("deuteron.tir.Call", CallNode, PrimExprNode);
};
class Call : public PrimExpr {
 public:
  Call(DataType dtype, Op op, Array<PrimExpr> args);
  DEUTERON_REF(Call, PrimExpr, CallNode);
};

/// [min, min + extent).
class RangeNode : public Object {
 public:
  PrimExpr min;
  PrimExpr extent;
  DEUTERON_TREE_NODE
  DEUTERON_NODE("deuteron.tir.Range", RangeNode, Object);
};
class Range : public ObjectRef {
 public:
  static Range FromMinExtent(PrimExpr min, PrimExpr extent);
  DEUTERON_REF(Range, ObjectRef, RangeNode);
};

enum class IterVarType : uint8_t {
  kSpatial,  ///< data parallel: every value may run at any time
  kReduce,   ///< commutative reduction: any order, not in parallel
  kOpaque,   ///< in order, no assumption
  kThread,   ///< bound to a hardware thread index
};

/// A variable with its domain and how it may be iterated.
class IterVarNode : public Object {
 public:
  Range dom;
  Var var;
  IterVarType type = IterVarType::kSpatial;
  DEUTERON_TREE_NODE
  DEUTERON_NODE("deuteron.tir.IterVar", IterVarNode, Object);
};
class IterVar : public ObjectRef {
 public:
  IterVar(Range dom, Var var, IterVarType type);
  DEUTERON_REF(IterVar, ObjectRef, IterVarNode);
};

/// A multi-dimensional array in memory. Identity counts: two buffers of equal fields are different buffers.
class BufferNode : public Object {
 public:
  /// The pointer to its data; one per buffer.
  Var data;
  DataType dtype;
  /// Extent of each dimension, in elements.
  Array<PrimExpr> shape = kEmpty;
  /// Stride of each dimension in elements; empty = compact, row major.
  Array<PrimExpr> strides = kEmpty;
  /// Where its first element lies, in elements behind `data`; null = there. A parameter's is what the caller's tensor
  /// says: a variable alone is bound to it, anything else must be equal to it.
  PrimExpr elem_offset;
  /// A promise: elem_offset is a multiple of it.
  int64_t offset_factor = 1;
  String name;
  /// "global" (the arena or an argument), "local" (registers or the stack of one thread).
  String scope;
  DEUTERON_DAG_NODE
  DEUTERON_NODE("deuteron.tir.Buffer", BufferNode, Object);
};
class Buffer : public ObjectRef {
 public:
  Buffer(String name, DataType dtype, Array<PrimExpr> shape, String scope = "global", Array<PrimExpr> strides = kEmpty,
         PrimExpr elem_offset = PrimExpr(), int64_t offset_factor = 1);
  /// Whether its elements lie from `data` on, one behind the other.
  bool IsCompact() const { return get()->strides.empty() && !get()->elem_offset.defined(); }
  DEUTERON_REF(Buffer, ObjectRef, BufferNode);
};

/// The element of `buffer` at `indices` (one an axis; a vector if the last index is one).
class BufferLoadNode : public PrimExprNode {
 public:
  BufferLoadNode() : PrimExprNode(ExprKind::kBufferLoad) {}
  Buffer buffer;
  Array<PrimExpr> indices = kEmpty;
  DEUTERON_NODE("deuteron.tir.BufferLoad", BufferLoadNode, PrimExprNode);
};
class BufferLoad : public PrimExpr {
 public:
  BufferLoad(Buffer buffer, Array<PrimExpr> indices);
  DEUTERON_REF(BufferLoad, PrimExpr, BufferLoadNode);
};

/// The element of a te::Tensor at `indices`. Only inside tensor expressions, gone after CreatePrimFunc.
class ProducerLoadNode : public PrimExprNode {
 public:
  ProducerLoadNode() : PrimExprNode(ExprKind::kProducerLoad) {}
  /// A te::Tensor.
  ObjectRef producer;
  Array<PrimExpr> indices = kEmpty;
  DEUTERON_NODE("deuteron.tir.ProducerLoad", ProducerLoadNode, PrimExprNode);
};
class ProducerLoad : public PrimExpr {
 public:
  ProducerLoad(ObjectRef producer, DataType dtype, Array<PrimExpr> indices);
  DEUTERON_REF(ProducerLoad, PrimExpr, ProducerLoadNode);
};

/// A commutative, associative combination of tuples of values: result(lhs, rhs), with its identity.
class CommReducerNode : public Object {
 public:
  Array<Var> lhs = kEmpty;
  Array<Var> rhs = kEmpty;
  Array<PrimExpr> result = kEmpty;
  Array<PrimExpr> identity = kEmpty;
  DEUTERON_TREE_NODE
  DEUTERON_NODE("deuteron.tir.CommReducer", CommReducerNode, Object);
};
class CommReducer : public ObjectRef {
 public:
  CommReducer(Array<Var> lhs, Array<Var> rhs, Array<PrimExpr> result, Array<PrimExpr> identity);
  DEUTERON_REF(CommReducer, ObjectRef, CommReducerNode);
};

/// Value number `value_index` of the reduction of `source` over `axis`. Only at the root of a te compute.
class ReduceNode : public PrimExprNode {
 public:
  ReduceNode() : PrimExprNode(ExprKind::kReduce) {}
  CommReducer combiner;
  Array<PrimExpr> source = kEmpty;
  Array<IterVar> axis = kEmpty;
  int64_t value_index = 0;
  DEUTERON_NODE("deuteron.tir.Reduce", ReduceNode, PrimExprNode);
};
class Reduce : public PrimExpr {
 public:
  Reduce(CommReducer combiner, Array<PrimExpr> source, Array<IterVar> axis, int64_t value_index = 0);
  DEUTERON_REF(Reduce, PrimExpr, ReduceNode);
};

}  // namespace tir
}  // namespace deuteron
