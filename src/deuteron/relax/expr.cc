#include "deuteron/relax/expr.h"

#include <algorithm>

#include "deuteron/support/element.h"
#include "deuteron/support/host_tensor.h"

namespace deuteron::relax {
namespace {

// Functions, not constants: reflection runs before the constants of a file are initialised.
auto Def() { return refl::AttachFieldFlag::SEqHashDefPattern(); }
auto Ignore() { return refl::AttachFieldFlag::SEqHashIgnore(); }

Tensor ScalarTensor(const PrimExpr& value) {
  const DataType dtype = value.dtype();
  Tensor tensor = EmptyHostTensor({}, dtype);
  if (const auto integer = AsConstInt(value)) {
    StoreInteger(tensor.data_ptr(), dtype, *integer);
  } else {
    StoreFloat(tensor.data_ptr(), dtype, value.as<tir::FloatImmNode>()->value);
  }
  return tensor;
}

}  // namespace

Var::Var(String name_hint, Type ty, Span span) {
  auto node = MakeNode<VarNode>();
  node->name_hint = std::move(name_hint);
  node->ty = std::move(ty);
  node->span = std::move(span);
  data_ = std::move(node);
}

DataflowVar::DataflowVar(String name_hint, Type ty, Span span) {
  auto node = MakeNode<DataflowVarNode>();
  node->name_hint = std::move(name_hint);
  node->ty = std::move(ty);
  node->span = std::move(span);
  data_ = std::move(node);
}

Constant::Constant(Tensor data, Span span) {
  auto node = MakeNode<ConstantNode>();
  Array<PrimExpr> shape;
  for (int64_t dim : data.shape()) shape.push_back(I64(dim));
  node->ty = TensorType(std::move(shape), DataType(data.dtype()));
  node->data = std::move(data);
  node->span = std::move(span);
  data_ = std::move(node);
}
Constant Constant::Scalar(DataType dtype, double value) { return Constant(ScalarTensor(MakeConst(dtype, value))); }
Constant Constant::Scalar(DataType dtype, int64_t value) { return Constant(ScalarTensor(MakeConst(dtype, value))); }

namespace {
/// Null unless all fields have types.
Type TypeOfFields(const Array<Expr>& fields) {
  const bool typed = std::all_of(fields.begin(), fields.end(), [](const Expr& f) { return f.ty().defined(); });
  return typed ? TupleType(fields.Map([](const Expr& field) { return field.ty(); })) : Type();
}
}  // namespace

Tuple::Tuple(Array<Expr> fields, Span span) : Tuple(fields, TypeOfFields(fields), std::move(span)) {}

Tuple::Tuple(Array<Expr> fields, Type type, Span span) {
  auto node = MakeNode<TupleNode>();
  node->ty = std::move(type);
  node->fields = std::move(fields);
  node->span = std::move(span);
  data_ = std::move(node);
}

TupleGetItem::TupleGetItem(Expr tuple, int64_t index, Span span) {
  auto node = MakeNode<TupleGetItemNode>();
  if (const auto* type = tuple.ty().as<TupleTypeNode>()) {
    if (index < 0 || index >= static_cast<int64_t>(type->fields.size())) {
      DEUTERON_THROW(ModelError) << "index " << index << " into a tuple of " << type->fields.size() << " fields";
    }
    node->ty = type->fields[index];
  }
  node->tuple = std::move(tuple);
  node->index = index;
  node->span = std::move(span);
  data_ = std::move(node);
}

Call::Call(Expr op, Array<Expr> args, Attrs attrs, Array<Type> ty_args, Span span) {
  auto node = MakeNode<CallNode>();
  node->op = std::move(op);
  node->args = std::move(args);
  node->attrs = std::move(attrs);
  node->ty_args = std::move(ty_args);
  node->span = std::move(span);
  data_ = std::move(node);
}

ShapeExpr::ShapeExpr(Array<PrimExpr> values, Span span) {
  auto node = MakeNode<ShapeExprNode>();
  node->ty = ShapeType(values);
  node->values = std::move(values);
  node->span = std::move(span);
  data_ = std::move(node);
}

PrimValue::PrimValue(PrimExpr value, Span span) {
  auto node = MakeNode<PrimValueNode>();
  node->ty = PrimType(value.dtype());
  node->value = std::move(value);
  node->span = std::move(span);
  data_ = std::move(node);
}
PrimValue PrimValue::Int64(int64_t value) { return PrimValue(I64(value)); }

StringImm::StringImm(String value, Span span) {
  auto node = MakeNode<StringImmNode>();
  node->ty = AnyType::Get();
  node->value = std::move(value);
  node->span = std::move(span);
  data_ = std::move(node);
}

DataTypeImm::DataTypeImm(DataType value, Span span) {
  auto node = MakeNode<DataTypeImmNode>();
  node->ty = AnyType::Get();
  node->value = value;
  node->span = std::move(span);
  data_ = std::move(node);
}

VarBinding::VarBinding(Var var, Expr value, Span span) {
  auto node = MakeNode<VarBindingNode>();
  node->var = std::move(var);
  node->value = std::move(value);
  node->span = std::move(span);
  data_ = std::move(node);
}

MatchCast::MatchCast(Var var, Expr value, Type ty, Span span) {
  auto node = MakeNode<MatchCastNode>();
  node->var = std::move(var);
  node->value = std::move(value);
  node->ty = std::move(ty);
  node->span = std::move(span);
  data_ = std::move(node);
}

BindingBlock::BindingBlock(Array<Binding> bindings) {
  auto node = MakeNode<BindingBlockNode>();
  node->bindings = std::move(bindings);
  data_ = std::move(node);
}

DataflowBlock::DataflowBlock(Array<Binding> bindings) {
  auto node = MakeNode<DataflowBlockNode>();
  node->bindings = std::move(bindings);
  data_ = std::move(node);
}

namespace {

/// Without empty blocks, and with neighbouring blocks that are not dataflow as one: text and meaning are the same.
Array<BindingBlock> JoinBlocks(Array<BindingBlock> blocks) {
  const auto is_plain = [](const BindingBlock& block) { return !block->IsInstance<DataflowBlockNode>(); };
  bool is_joined = true;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const bool follows_plain = i > 0 && is_plain(blocks[i - 1]);
    if (blocks[i]->bindings.empty() || (follows_plain && is_plain(blocks[i]))) is_joined = false;
  }
  if (is_joined) return blocks;
  Array<BindingBlock> joined;
  std::vector<Binding> run;
  const auto close = [&] {
    if (!run.empty()) joined.push_back(BindingBlock(Array<Binding>(run.begin(), run.end())));
    run.clear();
  };
  for (const BindingBlock& block : blocks) {
    if (is_plain(block)) {
      run.insert(run.end(), block->bindings.begin(), block->bindings.end());
    } else if (!block->bindings.empty()) {
      close();
      joined.push_back(block);
    }
  }
  close();
  return joined;
}

}  // namespace

SeqExpr::SeqExpr(Array<BindingBlock> blocks, Expr body, Span span) {
  auto node = MakeNode<SeqExprNode>();
  node->ty = body.ty();
  node->blocks = JoinBlocks(std::move(blocks));
  node->body = std::move(body);
  node->span = std::move(span);
  data_ = std::move(node);
}

If::If(Expr cond, SeqExpr true_branch, SeqExpr false_branch, Span span) {
  auto node = MakeNode<IfNode>();
  node->cond = std::move(cond);
  node->true_branch = std::move(true_branch);
  node->false_branch = std::move(false_branch);
  node->span = std::move(span);
  data_ = std::move(node);
}

Function::Function(Array<Var> params, SeqExpr body, Type ret_ty, bool is_pure, DictAttrs attrs, Span span) {
  auto node = MakeNode<FunctionNode>();
  node->ty = FuncType(params.Map([](const Var& param) { return param.ty(); }), ret_ty, is_pure);
  node->params = std::move(params);
  node->body = std::move(body);
  node->ret_ty = std::move(ret_ty);
  node->is_pure = is_pure;
  node->attrs = std::move(attrs);
  node->span = std::move(span);
  data_ = std::move(node);
}

ExternFunc::ExternFunc(String global_symbol, Type ty, Span span) {
  auto node = MakeNode<ExternFuncNode>();
  node->global_symbol = std::move(global_symbol);
  node->ty = ty.defined() ? std::move(ty) : FuncType::Opaque(AnyType::Get());
  node->span = std::move(span);
  data_ = std::move(node);
}

bool IsLeaf(const Expr& expr) {
  switch (expr->kind) {
    case RelaxKind::kVar:
    case RelaxKind::kDataflowVar:
    case RelaxKind::kGlobalVar:
    case RelaxKind::kConstant:
    case RelaxKind::kShapeExpr:
    case RelaxKind::kPrimValue:
    case RelaxKind::kStringImm:
    case RelaxKind::kDataTypeImm:
    case RelaxKind::kExternFunc:
    case RelaxKind::kOp:
      return true;
    case RelaxKind::kTuple: {
      const auto& fields = static_cast<const TupleNode*>(expr.get())->fields;
      return std::all_of(fields.begin(), fields.end(), IsLeaf);
    }
    case RelaxKind::kTupleGetItem:
    case RelaxKind::kCall:
    case RelaxKind::kSeqExpr:
    case RelaxKind::kIf:
    case RelaxKind::kFunction:
    case RelaxKind::kPrimFunc:
      return false;
  }
  DEUTERON_UNREACHABLE();
}

void VarNode::RegisterReflection() {
  refl::ObjectDef<VarNode>().def_ro("name_hint", &VarNode::name_hint, Ignore()).def_ro("ty", &VarNode::ty, Def());
}
void DataflowVarNode::RegisterReflection() { refl::ObjectDef<DataflowVarNode>(); }
void ConstantNode::RegisterReflection() { refl::ObjectDef<ConstantNode>().def_ro("data", &ConstantNode::data); }
void TupleNode::RegisterReflection() { refl::ObjectDef<TupleNode>().def_ro("fields", &TupleNode::fields); }
void TupleGetItemNode::RegisterReflection() {
  refl::ObjectDef<TupleGetItemNode>()
      .def_ro("tuple", &TupleGetItemNode::tuple)
      .def_ro("index", &TupleGetItemNode::index);
}
void CallNode::RegisterReflection() {
  refl::ObjectDef<CallNode>()
      .def_ro("op", &CallNode::op)
      .def_ro("args", &CallNode::args)
      .def_ro("attrs", &CallNode::attrs)
      .def_ro("ty_args", &CallNode::ty_args);
}
void ShapeExprNode::RegisterReflection() { refl::ObjectDef<ShapeExprNode>().def_ro("values", &ShapeExprNode::values); }
void PrimValueNode::RegisterReflection() { refl::ObjectDef<PrimValueNode>().def_ro("value", &PrimValueNode::value); }
void StringImmNode::RegisterReflection() { refl::ObjectDef<StringImmNode>().def_ro("value", &StringImmNode::value); }
void DataTypeImmNode::RegisterReflection() {
  refl::ObjectDef<DataTypeImmNode>().def_ro("value", &DataTypeImmNode::value);
}
void VarBindingNode::RegisterReflection() {
  refl::ObjectDef<VarBindingNode>().def_ro("value", &VarBindingNode::value).def_ro("var", &VarBindingNode::var, Def());
}
void MatchCastNode::RegisterReflection() {
  refl::ObjectDef<MatchCastNode>()
      .def_ro("value", &MatchCastNode::value)
      .def_ro("ty", &MatchCastNode::ty, Def())
      .def_ro("var", &MatchCastNode::var, Def());
}
void BindingBlockNode::RegisterReflection() {
  refl::ObjectDef<BindingBlockNode>().def_ro("bindings", &BindingBlockNode::bindings);
}
void DataflowBlockNode::RegisterReflection() { refl::ObjectDef<DataflowBlockNode>(); }
void SeqExprNode::RegisterReflection() {
  refl::ObjectDef<SeqExprNode>().def_ro("blocks", &SeqExprNode::blocks).def_ro("body", &SeqExprNode::body);
}
void IfNode::RegisterReflection() {
  refl::ObjectDef<IfNode>()
      .def_ro("cond", &IfNode::cond)
      .def_ro("true_branch", &IfNode::true_branch)
      .def_ro("false_branch", &IfNode::false_branch);
}
void FunctionNode::RegisterReflection() {
  refl::ObjectDef<FunctionNode>()
      .def_ro("params", &FunctionNode::params, Def())
      .def_ro("attrs", &FunctionNode::attrs)
      .def_ro("is_pure", &FunctionNode::is_pure)
      .def_ro("body", &FunctionNode::body)
      .def_ro("ret_ty", &FunctionNode::ret_ty);
}
void ExternFuncNode::RegisterReflection() {
  refl::ObjectDef<ExternFuncNode>()
      .def_ro("attrs", &ExternFuncNode::attrs)
      .def_ro("global_symbol", &ExternFuncNode::global_symbol);
}

DEUTERON_REFLECTION() {
  VarNode::RegisterReflection();
  DataflowVarNode::RegisterReflection();
  ConstantNode::RegisterReflection();
  TupleNode::RegisterReflection();
  TupleGetItemNode::RegisterReflection();
  CallNode::RegisterReflection();
  ShapeExprNode::RegisterReflection();
  PrimValueNode::RegisterReflection();
  StringImmNode::RegisterReflection();
  DataTypeImmNode::RegisterReflection();
  VarBindingNode::RegisterReflection();
  MatchCastNode::RegisterReflection();
  BindingBlockNode::RegisterReflection();
  DataflowBlockNode::RegisterReflection();
  SeqExprNode::RegisterReflection();
  IfNode::RegisterReflection();
  FunctionNode::RegisterReflection();
  ExternFuncNode::RegisterReflection();
}

}  // namespace deuteron::relax
