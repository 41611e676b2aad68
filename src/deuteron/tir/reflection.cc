/// \file
/// Reflection of the nodes of tir/.
#include "deuteron/tir/function.h"

namespace deuteron::tir {
namespace {
// Functions, not constants: reflection runs before the constants of a file are initialised.
auto Def() { return refl::AttachFieldFlag::SEqHashDefPattern(); }
auto Ignore() { return refl::AttachFieldFlag::SEqHashIgnore(); }
}  // namespace

void BindNode::RegisterReflection() {
  refl::ObjectDef<BindNode>().def_ro("value", &BindNode::value).def_ro("var", &BindNode::var, Def());
}
void AssertStmtNode::RegisterReflection() {
  refl::ObjectDef<AssertStmtNode>()
      .def_ro("condition", &AssertStmtNode::condition)
      .def_ro("message", &AssertStmtNode::message);
}
void BufferStoreNode::RegisterReflection() {
  refl::ObjectDef<BufferStoreNode>()
      .def_ro("buffer", &BufferStoreNode::buffer)
      .def_ro("value", &BufferStoreNode::value)
      .def_ro("indices", &BufferStoreNode::indices);
}
void AllocBufferNode::RegisterReflection() {
  refl::ObjectDef<AllocBufferNode>().def_ro("buffer", &AllocBufferNode::buffer, Def());
}
void SeqStmtNode::RegisterReflection() { refl::ObjectDef<SeqStmtNode>().def_ro("seq", &SeqStmtNode::seq); }
void IfThenElseNode::RegisterReflection() {
  refl::ObjectDef<IfThenElseNode>()
      .def_ro("condition", &IfThenElseNode::condition)
      .def_ro("then_case", &IfThenElseNode::then_case)
      .def_ro("else_case", &IfThenElseNode::else_case);
}
void EvaluateNode::RegisterReflection() { refl::ObjectDef<EvaluateNode>().def_ro("value", &EvaluateNode::value); }
void ForNode::RegisterReflection() {
  refl::ObjectDef<ForNode>()
      .def_ro("loop_var", &ForNode::loop_var, Def())
      .def_ro("min", &ForNode::min)
      .def_ro("extent", &ForNode::extent)
      .def_ro("loop_kind", &ForNode::loop_kind)
      .def_ro("thread_tag", &ForNode::thread_tag)
      .def_ro("annotations", &ForNode::annotations)
      .def_ro("body", &ForNode::body);
}
void WhileNode::RegisterReflection() {
  refl::ObjectDef<WhileNode>().def_ro("condition", &WhileNode::condition).def_ro("body", &WhileNode::body);
}
void AttrStmtNode::RegisterReflection() {
  refl::ObjectDef<AttrStmtNode>()
      .def_ro("node", &AttrStmtNode::node)
      .def_ro("attr_key", &AttrStmtNode::attr_key)
      .def_ro("value", &AttrStmtNode::value)
      .def_ro("body", &AttrStmtNode::body);
}
void BufferRegionNode::RegisterReflection() {
  refl::ObjectDef<BufferRegionNode>()
      .def_ro("buffer", &BufferRegionNode::buffer)
      .def_ro("region", &BufferRegionNode::region);
}
void SBlockNode::RegisterReflection() {
  refl::ObjectDef<SBlockNode>()
      .def_ro("iter_vars", &SBlockNode::iter_vars, Def())
      .def_ro("alloc_buffers", &SBlockNode::alloc_buffers, Def())
      .def_ro("reads", &SBlockNode::reads)
      .def_ro("writes", &SBlockNode::writes)
      .def_ro("name_hint", &SBlockNode::name_hint, Ignore())
      .def_ro("annotations", &SBlockNode::annotations)
      .def_ro("init", &SBlockNode::init)
      .def_ro("body", &SBlockNode::body);
}
void SBlockRealizeNode::RegisterReflection() {
  refl::ObjectDef<SBlockRealizeNode>()
      .def_ro("iter_values", &SBlockRealizeNode::iter_values)
      .def_ro("predicate", &SBlockRealizeNode::predicate)
      .def_ro("block", &SBlockRealizeNode::block);
}
void PrimFuncNode::RegisterReflection() {
  refl::ObjectDef<PrimFuncNode>()
      .def_ro("params", &PrimFuncNode::params, Def())
      .def_ro("buffer_map", &PrimFuncNode::buffer_map, Def())
      .def_ro("attrs", &PrimFuncNode::attrs)
      .def_ro("body", &PrimFuncNode::body);
}

DEUTERON_REFLECTION() {
  BindNode::RegisterReflection();
  AssertStmtNode::RegisterReflection();
  BufferStoreNode::RegisterReflection();
  AllocBufferNode::RegisterReflection();
  SeqStmtNode::RegisterReflection();
  IfThenElseNode::RegisterReflection();
  EvaluateNode::RegisterReflection();
  ForNode::RegisterReflection();
  WhileNode::RegisterReflection();
  AttrStmtNode::RegisterReflection();
  BufferRegionNode::RegisterReflection();
  SBlockNode::RegisterReflection();
  SBlockRealizeNode::RegisterReflection();
  PrimFuncNode::RegisterReflection();
}

}  // namespace deuteron::tir
