/// \file
/// The base of graph-level expressions. It lies here, not in relax/, because operators and global
/// variables are such expressions too.
#pragma once

#include "deuteron/ir/object.h"
#include "deuteron/ir/span.h"

namespace deuteron {

enum class RelaxKind : uint8_t {
  kVar,
  kDataflowVar,
  kGlobalVar,
  kConstant,
  kTuple,
  kTupleGetItem,
  kCall,
  kShapeExpr,
  kPrimValue,
  kStringImm,
  kDataTypeImm,
  kSeqExpr,
  kIf,
  kFunction,
  kExternFunc,
  kPrimFunc,
  kOp,
};

enum class TypeKind : uint8_t { kAny, kPrim, kShape, kTensor, kTuple, kFunc };

/// What is known statically of a value. See type.h for the kinds.
class TypeNode : public Object {
 public:
  const TypeKind kind;
  DEUTERON_TREE_NODE
  DEUTERON_BASE_NODE("deuteron.Type", TypeNode, Object);

 protected:
  explicit TypeNode(TypeKind kind) : kind(kind) {}
};

class Type : public ObjectRef {
 public:
  DEUTERON_REF(Type, ObjectRef, TypeNode);
};

/// Base of graph-level expressions.
class RelaxExprNode : public Object {
 public:
  const RelaxKind kind;
  /// Null until the BlockBuilder has normalised the expression.
  mutable Type ty;
  /// Where it comes from; may be null. Not part of equality.
  mutable Span span;

  DEUTERON_TREE_NODE
  static constexpr bool _type_s_eq_hash_subclass_kind_fixed = false;
  DEUTERON_BASE_NODE("deuteron.relax.Expr", RelaxExprNode, Object);

 protected:
  explicit RelaxExprNode(RelaxKind kind) : kind(kind) {}
};

class RelaxExpr : public ObjectRef {
 public:
  const Type& ty() const { return get()->ty; }
  DEUTERON_REF(RelaxExpr, ObjectRef, RelaxExprNode);
};

}  // namespace deuteron
