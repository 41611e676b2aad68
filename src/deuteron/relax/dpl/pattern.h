/// \file
/// The dataflow pattern language: descriptions of expressions, to be found in functions.
///
///     DFPattern x = Wildcard(), w = Wildcard(), bias = Wildcard();
///     DFPattern matmul = IsOp("relax.matmul")(x, w);
///     DFPattern out = IsOp("relax.nn.relu")(matmul + bias) | (matmul + bias);
///
/// Rules (matcher.h has the calls that match):
///  - A pattern is an object with an identity: wherever it occurs in a larger one it matches the same expression.
///    `Wildcard()` twice is two patterns; `Dup` copies one.
///  - Variables are looked through: a pattern of a call matches a variable that is bound to such a call.
///  - The arguments of relax.add and relax.multiply match in either order.
///  - Matching tries every alternative (`|`, orders of arguments and of unordered tuples) before it says no.
///  - Shapes and symbolic dimensions are compared by the prover.
///
/// Relations between several expressions of a block, with `>>` and `^`, are in context.h.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <vector>

#include "deuteron/relax/expr.h"

namespace deuteron::relax::dpl {

enum class PatternKind : uint8_t {
  kExpr,
  kVar,
  kDataflowVar,
  kGlobalVar,
  kExternFunc,
  kConstant,
  kCall,
  kFunction,
  kTuple,
  kUnorderedTuple,
  kTupleGetItem,
  kOr,
  kAnd,
  kNot,
  kWildcard,
  kType,
  kDataType,
  kShape,
  kPrimArray,
  kAttr,
};

/// Base of patterns.
class DFPatternNode : public Object {
 public:
  const PatternKind kind;
  DEUTERON_BASE_NODE("deuteron.relax.dpl.DFPattern", DFPatternNode, Object);

 protected:
  explicit DFPatternNode(PatternKind kind) : kind(kind) {}
};

class PatternSeq;

class DFPattern : public ObjectRef {
 public:
  /// A call of what this pattern matches. Within a PatternContext, the arguments are then used by the call there.
  template <std::convertible_to<DFPattern>... Args>
  DFPattern operator()(const Args&... args) const {
    return MakeCall({DFPattern(args)...}, false);
  }
  /// The same with any further arguments behind (TVM's varg_default_wildcard); with none given: any arguments.
  template <std::convertible_to<DFPattern>... Args>
  DFPattern VarArgs(const Args&... args) const {
    return MakeCall({DFPattern(args)...}, true);
  }

  /// Item `index` of a tuple that this pattern matches; -1 is any item.
  DFPattern operator[](int64_t index) const;
  /// This pattern, for expressions with these attributes too: a call's, a function's, or an operator's ("FPurity").
  DFPattern HasAttr(Map<String, Any> attrs) const;
  /// …whose type is `type` or below it.
  DFPattern HasType(Type type) const;
  /// …that are tensors of this element type.
  DFPattern HasDtype(DataType dtype) const;
  DFPattern HasDtype(std::string_view dtype) const { return HasDtype(DataType(dtype)); }
  /// …that are tensors of provably this shape.
  DFPattern HasShape(Array<PrimExpr> shape) const;
  DFPattern HasShape(std::initializer_list<int64_t> shape) const;
  /// A pattern of its own that matches the same. Parts that occur several times in this one occur so in the copy.
  DFPattern Dup() const;

  /// In the current PatternContext: `other`'s first pattern uses what this one matches, as argument `index` (-1: any).
  PatternSeq UsedBy(const PatternSeq& other, int64_t index = -1) const;
  /// …and nothing else uses it.
  PatternSeq OnlyUsedBy(const PatternSeq& other, int64_t index = -1) const;
  /// UsedBy for each of `others`.
  void ForkTo(std::initializer_list<DFPattern> others) const;
  /// In the current PatternContext: what they match has provably the shape of what this one matches.
  void SameShapeAs(std::initializer_list<DFPattern> others) const;

  DEUTERON_REF(DFPattern, ObjectRef, DFPatternNode);

 private:
  DFPattern MakeCall(const std::vector<DFPattern>& args, bool varg_default_wildcard) const;
};

#define DEUTERON_PATTERN_NODE(Name, Kind)            \
  Name##Node() : DFPatternNode(PatternKind::Kind) {} \
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("deuteron.relax.dpl." #Name, Name##Node, DFPatternNode);

/// An expression structurally equal to `expr`.
class ExprPatternNode : public DFPatternNode {
 public:
  Expr expr;
  DEUTERON_PATTERN_NODE(ExprPattern, kExpr)
};
class ExprPattern : public DFPattern {
 public:
  explicit ExprPattern(Expr expr);
  DEUTERON_REF(ExprPattern, DFPattern, ExprPatternNode);
};

/// A variable of that name; any, if the name is empty. Not looked through to what it is bound to.
class VarPatternNode : public DFPatternNode {
 public:
  String name;
  DEUTERON_PATTERN_NODE(VarPattern, kVar)
};
class VarPattern : public DFPattern {
 public:
  explicit VarPattern(String name);
  DEUTERON_REF(VarPattern, DFPattern, VarPatternNode);
};
class DataflowVarPatternNode : public DFPatternNode {
 public:
  String name;
  DEUTERON_PATTERN_NODE(DataflowVarPattern, kDataflowVar)
};
class DataflowVarPattern : public DFPattern {
 public:
  explicit DataflowVarPattern(String name);
  DEUTERON_REF(DataflowVarPattern, DFPattern, DataflowVarPatternNode);
};

/// The name of a function of the module; any, if the name is empty.
class GlobalVarPatternNode : public DFPatternNode {
 public:
  String name;
  DEUTERON_PATTERN_NODE(GlobalVarPattern, kGlobalVar)
};
class GlobalVarPattern : public DFPattern {
 public:
  explicit GlobalVarPattern(String name);
  DEUTERON_REF(GlobalVarPattern, DFPattern, GlobalVarPatternNode);
};
/// An external function of that symbol; any, if it is empty.
class ExternFuncPatternNode : public DFPatternNode {
 public:
  String global_symbol;
  DEUTERON_PATTERN_NODE(ExternFuncPattern, kExternFunc)
};
class ExternFuncPattern : public DFPattern {
 public:
  explicit ExternFuncPattern(String global_symbol);
  DEUTERON_REF(ExternFuncPattern, DFPattern, ExternFuncPatternNode);
};

/// Any constant.
class ConstantPatternNode : public DFPatternNode {
 public:
  DEUTERON_PATTERN_NODE(ConstantPattern, kConstant)
};
class ConstantPattern : public DFPattern {
 public:
  ConstantPattern();
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(ConstantPattern, DFPattern, ConstantPatternNode);
};

/// A call of `op` with these arguments, and any others behind them if `varg_default_wildcard`.
class CallPatternNode : public DFPatternNode {
 public:
  DFPattern op;
  Array<DFPattern> args;
  bool varg_default_wildcard = false;
  DEUTERON_PATTERN_NODE(CallPattern, kCall)
};
class CallPattern : public DFPattern {
 public:
  CallPattern(DFPattern op, Array<DFPattern> args, bool varg_default_wildcard = false);
  DEUTERON_REF(CallPattern, DFPattern, CallPatternNode);
};

/// A function with these parameters, whose result (the body's) matches `body`.
class FunctionPatternNode : public DFPatternNode {
 public:
  Array<DFPattern> params;
  DFPattern body;
  DEUTERON_PATTERN_NODE(FunctionPattern, kFunction)
};
class FunctionPattern : public DFPattern {
 public:
  FunctionPattern(Array<DFPattern> params, DFPattern body);
  DEUTERON_REF(FunctionPattern, DFPattern, FunctionPatternNode);
};

/// A tuple of these fields.
class TuplePatternNode : public DFPatternNode {
 public:
  Array<DFPattern> fields;
  DEUTERON_PATTERN_NODE(TuplePattern, kTuple)
};
class TuplePattern : public DFPattern {
 public:
  explicit TuplePattern(Array<DFPattern> fields);
  DEUTERON_REF(TuplePattern, DFPattern, TuplePatternNode);
};
/// A tuple of these fields in some order.
class UnorderedTuplePatternNode : public DFPatternNode {
 public:
  Array<DFPattern> fields;
  DEUTERON_PATTERN_NODE(UnorderedTuplePattern, kUnorderedTuple)
};
class UnorderedTuplePattern : public DFPattern {
 public:
  explicit UnorderedTuplePattern(Array<DFPattern> fields);
  DEUTERON_REF(UnorderedTuplePattern, DFPattern, UnorderedTuplePatternNode);
};
/// Item `index` of a tuple; -1 is any item.
class TupleGetItemPatternNode : public DFPatternNode {
 public:
  DFPattern tuple;
  int64_t index = -1;
  DEUTERON_PATTERN_NODE(TupleGetItemPattern, kTupleGetItem)
};
class TupleGetItemPattern : public DFPattern {
 public:
  explicit TupleGetItemPattern(DFPattern tuple, int64_t index = -1);
  DEUTERON_REF(TupleGetItemPattern, DFPattern, TupleGetItemPatternNode);
};

/// What one of the two matches; `left` is tried first.
class OrPatternNode : public DFPatternNode {
 public:
  DFPattern left, right;
  DEUTERON_PATTERN_NODE(OrPattern, kOr)
};
class OrPattern : public DFPattern {
 public:
  OrPattern(DFPattern left, DFPattern right);
  DEUTERON_REF(OrPattern, DFPattern, OrPatternNode);
};
/// What both match.
class AndPatternNode : public DFPatternNode {
 public:
  DFPattern left, right;
  DEUTERON_PATTERN_NODE(AndPattern, kAnd)
};
class AndPattern : public DFPattern {
 public:
  AndPattern(DFPattern left, DFPattern right);
  DEUTERON_REF(AndPattern, DFPattern, AndPatternNode);
};
/// What `reject` does not match.
class NotPatternNode : public DFPatternNode {
 public:
  DFPattern reject;
  DEUTERON_PATTERN_NODE(NotPattern, kNot)
};
class NotPattern : public DFPattern {
 public:
  explicit NotPattern(DFPattern reject);
  DEUTERON_REF(NotPattern, DFPattern, NotPatternNode);
};

/// Anything.
class WildcardPatternNode : public DFPatternNode {
 public:
  DEUTERON_PATTERN_NODE(WildcardPattern, kWildcard)
};
class WildcardPattern : public DFPattern {
 public:
  WildcardPattern();
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(WildcardPattern, DFPattern, WildcardPatternNode);
};

/// See DFPattern::HasType, HasDtype, HasShape, HasAttr.
class TypePatternNode : public DFPatternNode {
 public:
  DFPattern pattern;
  Type type;
  DEUTERON_PATTERN_NODE(TypePattern, kType)
};
class TypePattern : public DFPattern {
 public:
  TypePattern(DFPattern pattern, Type type);
  DEUTERON_REF(TypePattern, DFPattern, TypePatternNode);
};
class DataTypePatternNode : public DFPatternNode {
 public:
  DFPattern pattern;
  DataType dtype;
  DEUTERON_PATTERN_NODE(DataTypePattern, kDataType)
};
class DataTypePattern : public DFPattern {
 public:
  DataTypePattern(DFPattern pattern, DataType dtype);
  DEUTERON_REF(DataTypePattern, DFPattern, DataTypePatternNode);
};
class ShapePatternNode : public DFPatternNode {
 public:
  DFPattern pattern;
  Array<PrimExpr> shape;
  DEUTERON_PATTERN_NODE(ShapePattern, kShape)
};
class ShapePattern : public DFPattern {
 public:
  ShapePattern(DFPattern pattern, Array<PrimExpr> shape);
  DEUTERON_REF(ShapePattern, DFPattern, ShapePatternNode);
};
class AttrPatternNode : public DFPatternNode {
 public:
  DFPattern pattern;
  Map<String, Any> attrs;
  DEUTERON_PATTERN_NODE(AttrPattern, kAttr)
};
class AttrPattern : public DFPattern {
 public:
  AttrPattern(DFPattern pattern, Map<String, Any> attrs);
  DEUTERON_REF(AttrPattern, DFPattern, AttrPatternNode);
};

/// A shape as a value (the argument of a reshape), of provably these dimensions.
class PrimArrayPatternNode : public DFPatternNode {
 public:
  Array<PrimExpr> values;
  DEUTERON_PATTERN_NODE(PrimArrayPattern, kPrimArray)
};
class PrimArrayPattern : public DFPattern {
 public:
  explicit PrimArrayPattern(Array<PrimExpr> values);
  DEUTERON_REF(PrimArrayPattern, DFPattern, PrimArrayPatternNode);
};
#undef DEUTERON_PATTERN_NODE

// ----- What patterns are written in.

DFPattern Wildcard();
/// The operator of that name ("relax.matmul"); call it for a pattern of its calls. A UsageError if there is none.
DFPattern IsOp(std::string_view name);
DFPattern IsExpr(Expr expr);
DFPattern IsVar(const String& name = "");
DFPattern IsDataflowVar(const String& name = "");
DFPattern IsGlobalVar(const String& name = "");
DFPattern IsConst();
DFPattern IsTuple(Array<DFPattern> fields, bool unordered = false);
DFPattern IsTupleGetItem(DFPattern tuple, int64_t index = -1);
DFPattern IsShape(Array<PrimExpr> values);
DFPattern IsShape(std::initializer_list<int64_t> values);
/// A call_tir of the function `name` (any, if empty), with these tensors; without `args`: with any.
DFPattern IsCallTIR(const String& name = "", Optional<Array<DFPattern>> args = std::nullopt);
/// A call_dps_packed of the external function `name`.
DFPattern IsCallDPSPacked(const String& name = "", Optional<Array<DFPattern>> args = std::nullopt);
/// A direct call of the external function `name`.
DFPattern IsCallPacked(const String& name = "", Optional<Array<DFPattern>> args = std::nullopt);
DFPattern HasAttr(Map<String, Any> attrs, DFPattern pattern = Wildcard());
DFPattern HasDtype(std::string_view dtype, DFPattern pattern = Wildcard());
DFPattern HasShape(Array<PrimExpr> shape, DFPattern pattern = Wildcard());
DFPattern HasType(Type type, DFPattern pattern = Wildcard());
DFPattern Reject(DFPattern pattern);
DFPattern Dup(const DFPattern& pattern);

DFPattern operator|(const DFPattern& a, const DFPattern& b);
DFPattern operator&(const DFPattern& a, const DFPattern& b);
DFPattern operator~(const DFPattern& a);
/// relax.add, subtract, multiply, divide.
DFPattern operator+(const DFPattern& a, const DFPattern& b);
DFPattern operator-(const DFPattern& a, const DFPattern& b);
DFPattern operator*(const DFPattern& a, const DFPattern& b);
DFPattern operator/(const DFPattern& a, const DFPattern& b);

/// The patterns that `pattern` is made of directly, in order.
Array<DFPattern> PartsOf(const DFPattern& pattern);
/// As it would be written: `relax.nn.relu(relax.matmul(_, _))`.
std::string Describe(const DFPattern& pattern);

}  // namespace deuteron::relax::dpl
