/// \file
/// Reflection of the nodes of ir/: which fields exist, which define variables (SEqHashDef), and which do not
/// count for equality (spans).
#include "deuteron/ir/module.h"
#include "deuteron/ir/op.h"
#include "deuteron/ir/prim_expr.h"
#include "deuteron/ir/type.h"

namespace deuteron {
namespace {
// Functions, not constants: reflection runs before the constants of a file are initialised.
auto Def() { return refl::AttachFieldFlag::SEqHashDefPattern(); }
auto Ignore() { return refl::AttachFieldFlag::SEqHashIgnore(); }
}  // namespace

void SpanNode::RegisterReflection() {
  refl::ObjectDef<SpanNode>()
      .def_ro("source", &SpanNode::source)
      .def_ro("line", &SpanNode::line)
      .def_ro("column", &SpanNode::column);
}
void OpNode::RegisterReflection() { refl::ObjectDef<OpNode>().def_ro("name", &OpNode::name); }
void AnyTypeNode::RegisterReflection() { refl::ObjectDef<AnyTypeNode>(); }
void PrimTypeNode::RegisterReflection() { refl::ObjectDef<PrimTypeNode>().def_ro("dtype", &PrimTypeNode::dtype); }
void ShapeTypeNode::RegisterReflection() {
  refl::ObjectDef<ShapeTypeNode>().def_ro("values", &ShapeTypeNode::values).def_ro("ndim", &ShapeTypeNode::ndim);
}
void VDeviceNode::RegisterReflection() {
  refl::ObjectDef<VDeviceNode>()
      .def_ro("target", &VDeviceNode::target)
      .def_ro("device_id", &VDeviceNode::device_id)
      .def_ro("memory_scope", &VDeviceNode::memory_scope);
}
void TensorTypeNode::RegisterReflection() {
  refl::ObjectDef<TensorTypeNode>()
      .def_ro("shape", &TensorTypeNode::shape)
      .def_ro("dtype", &TensorTypeNode::dtype)
      .def_ro("ndim", &TensorTypeNode::ndim)
      .def_ro("vdevice", &TensorTypeNode::vdevice);
}
void TupleTypeNode::RegisterReflection() { refl::ObjectDef<TupleTypeNode>().def_ro("fields", &TupleTypeNode::fields); }
void FuncTypeNode::RegisterReflection() {
  refl::ObjectDef<FuncTypeNode>()
      .def_ro("params", &FuncTypeNode::params, Def())
      .def_ro("ret", &FuncTypeNode::ret)
      .def_ro("purity", &FuncTypeNode::purity);
}
void GlobalVarNode::RegisterReflection() {
  refl::ObjectDef<GlobalVarNode>()
      .def_ro("name_hint", &GlobalVarNode::name_hint)
      .def_ro("ty", &GlobalVarNode::ty, Ignore());
}
void DictAttrsNode::RegisterReflection() { refl::ObjectDef<DictAttrsNode>().def_ro("dict", &DictAttrsNode::dict); }

namespace tir {

void VarNode::RegisterReflection() {
  refl::ObjectDef<VarNode>().def_ro("dtype", &VarNode::dtype).def_ro("name_hint", &VarNode::name_hint, Ignore());
}
void IntImmNode::RegisterReflection() {
  refl::ObjectDef<IntImmNode>().def_ro("dtype", &IntImmNode::dtype).def_ro("value", &IntImmNode::value);
}
void FloatImmNode::RegisterReflection() {
  refl::ObjectDef<FloatImmNode>().def_ro("dtype", &FloatImmNode::dtype).def_ro("value", &FloatImmNode::value);
}
void StringImmNode::RegisterReflection() { refl::ObjectDef<StringImmNode>().def_ro("value", &StringImmNode::value); }
void CastNode::RegisterReflection() {
  refl::ObjectDef<CastNode>().def_ro("dtype", &CastNode::dtype).def_ro("value", &CastNode::value);
}

#define DEUTERON_REFLECT_BINARY(Name)        \
  void Name##Node::RegisterReflection() {    \
    refl::ObjectDef<Name##Node>()            \
        .def_ro("dtype", &Name##Node::dtype) \
        .def_ro("a", &Name##Node::a)         \
        .def_ro("b", &Name##Node::b);        \
  }
DEUTERON_REFLECT_BINARY(Add)
DEUTERON_REFLECT_BINARY(Sub)
DEUTERON_REFLECT_BINARY(Mul)
DEUTERON_REFLECT_BINARY(Div)
DEUTERON_REFLECT_BINARY(Mod)
DEUTERON_REFLECT_BINARY(FloorDiv)
DEUTERON_REFLECT_BINARY(FloorMod)
DEUTERON_REFLECT_BINARY(Min)
DEUTERON_REFLECT_BINARY(Max)
DEUTERON_REFLECT_BINARY(EQ)
DEUTERON_REFLECT_BINARY(NE)
DEUTERON_REFLECT_BINARY(LT)
DEUTERON_REFLECT_BINARY(LE)
DEUTERON_REFLECT_BINARY(GT)
DEUTERON_REFLECT_BINARY(GE)
DEUTERON_REFLECT_BINARY(And)
DEUTERON_REFLECT_BINARY(Or)
#undef DEUTERON_REFLECT_BINARY

void NotNode::RegisterReflection() { refl::ObjectDef<NotNode>().def_ro("a", &NotNode::a); }
void SelectNode::RegisterReflection() {
  refl::ObjectDef<SelectNode>()
      .def_ro("condition", &SelectNode::condition)
      .def_ro("true_value", &SelectNode::true_value)
      .def_ro("false_value", &SelectNode::false_value);
}
void LetNode::RegisterReflection() {
  refl::ObjectDef<LetNode>()
      .def_ro("var", &LetNode::var, Def())
      .def_ro("value", &LetNode::value)
      .def_ro("body", &LetNode::body);
}
void RampNode::RegisterReflection() {
  refl::ObjectDef<RampNode>()
      .def_ro("base", &RampNode::base)
      .def_ro("stride", &RampNode::stride)
      .def_ro("lanes", &RampNode::lanes);
}
void BroadcastNode::RegisterReflection() {
  refl::ObjectDef<BroadcastNode>().def_ro("value", &BroadcastNode::value).def_ro("lanes", &BroadcastNode::lanes);
}
void ShuffleNode::RegisterReflection() {
  refl::ObjectDef<ShuffleNode>().def_ro("vectors", &ShuffleNode::vectors).def_ro("indices", &ShuffleNode::indices);
}
void CallNode::RegisterReflection() {
  refl::ObjectDef<CallNode>()
      .def_ro("dtype", &CallNode::dtype)
      .def_ro("op", &CallNode::op)
      .def_ro("args", &CallNode::args);
}
void RangeNode::RegisterReflection() {
  refl::ObjectDef<RangeNode>().def_ro("min", &RangeNode::min).def_ro("extent", &RangeNode::extent);
}
void IterVarNode::RegisterReflection() {
  refl::ObjectDef<IterVarNode>()
      .def_ro("dom", &IterVarNode::dom)
      .def_ro("var", &IterVarNode::var, Def())
      .def_ro("type", &IterVarNode::type);
}
void BufferNode::RegisterReflection() {
  refl::ObjectDef<BufferNode>()
      .def_ro("data", &BufferNode::data, Def())
      .def_ro("dtype", &BufferNode::dtype)
      .def_ro("shape", &BufferNode::shape, Def())
      .def_ro("strides", &BufferNode::strides, Def())
      .def_ro("elem_offset", &BufferNode::elem_offset, Def())
      .def_ro("offset_factor", &BufferNode::offset_factor)
      .def_ro("name", &BufferNode::name, Ignore())
      .def_ro("scope", &BufferNode::scope);
}
void BufferLoadNode::RegisterReflection() {
  refl::ObjectDef<BufferLoadNode>()
      .def_ro("buffer", &BufferLoadNode::buffer)
      .def_ro("indices", &BufferLoadNode::indices);
}
void ProducerLoadNode::RegisterReflection() {
  refl::ObjectDef<ProducerLoadNode>()
      .def_ro("dtype", &ProducerLoadNode::dtype)
      .def_ro("producer", &ProducerLoadNode::producer)
      .def_ro("indices", &ProducerLoadNode::indices);
}
void CommReducerNode::RegisterReflection() {
  refl::ObjectDef<CommReducerNode>()
      .def_ro("lhs", &CommReducerNode::lhs, Def())
      .def_ro("rhs", &CommReducerNode::rhs, Def())
      .def_ro("result", &CommReducerNode::result)
      .def_ro("identity", &CommReducerNode::identity);
}
void ReduceNode::RegisterReflection() {
  refl::ObjectDef<ReduceNode>()
      .def_ro("combiner", &ReduceNode::combiner)
      .def_ro("axis", &ReduceNode::axis)
      .def_ro("source", &ReduceNode::source)
      .def_ro("value_index", &ReduceNode::value_index);
}

}  // namespace tir

DEUTERON_REFLECTION() {
  SpanNode::RegisterReflection();
  OpNode::RegisterReflection();
  AnyTypeNode::RegisterReflection();
  PrimTypeNode::RegisterReflection();
  ShapeTypeNode::RegisterReflection();
  VDeviceNode::RegisterReflection();
  TensorTypeNode::RegisterReflection();
  TupleTypeNode::RegisterReflection();
  FuncTypeNode::RegisterReflection();
  GlobalVarNode::RegisterReflection();
  DictAttrsNode::RegisterReflection();
  IRModuleNode::RegisterReflection();
  tir::VarNode::RegisterReflection();
  tir::IntImmNode::RegisterReflection();
  tir::FloatImmNode::RegisterReflection();
  tir::StringImmNode::RegisterReflection();
  tir::CastNode::RegisterReflection();
  tir::AddNode::RegisterReflection();
  tir::SubNode::RegisterReflection();
  tir::MulNode::RegisterReflection();
  tir::DivNode::RegisterReflection();
  tir::ModNode::RegisterReflection();
  tir::FloorDivNode::RegisterReflection();
  tir::FloorModNode::RegisterReflection();
  tir::MinNode::RegisterReflection();
  tir::MaxNode::RegisterReflection();
  tir::EQNode::RegisterReflection();
  tir::NENode::RegisterReflection();
  tir::LTNode::RegisterReflection();
  tir::LENode::RegisterReflection();
  tir::GTNode::RegisterReflection();
  tir::GENode::RegisterReflection();
  tir::AndNode::RegisterReflection();
  tir::OrNode::RegisterReflection();
  tir::NotNode::RegisterReflection();
  tir::SelectNode::RegisterReflection();
  tir::LetNode::RegisterReflection();
  tir::RampNode::RegisterReflection();
  tir::BroadcastNode::RegisterReflection();
  tir::ShuffleNode::RegisterReflection();
  tir::CallNode::RegisterReflection();
  tir::RangeNode::RegisterReflection();
  tir::IterVarNode::RegisterReflection();
  tir::BufferNode::RegisterReflection();
  tir::BufferLoadNode::RegisterReflection();
  tir::ProducerLoadNode::RegisterReflection();
  tir::CommReducerNode::RegisterReflection();
  tir::ReduceNode::RegisterReflection();
}

}  // namespace deuteron
