/// \file
/// Statements: loops, blocks and stores, what a kernel is made of.
///
/// Semantics:
///  - Statements run in order. `Bind` makes a variable visible to the statements after it in its SeqStmt.
///  - A `For` runs its body for loop_var = min, …, min + extent - 1. The kind says what a schedule has
///    decided: kParallel, kVectorized and kUnrolled promise that the iterations may run in any order, at
///    once; the verifier and the schedule primitives check the promise.
///  - An `SBlock` is a unit of computation that schedules move as a whole: for every binding of its iterators
///    it reads `reads`, writes `writes`, and depends on nothing else. `init` runs before the first value
///    of its reduction iterators. Iterators of type kSpatial may run in any order.
///  - Two buffers never overlap, unless an attribute of the function says so (in-place arguments are one
///    buffer). Reading an element that was never written is an error in the interpreter, undefined in
///    generated code.
#pragma once

#include "deuteron/ir/prim_ops.h"
#include "deuteron/ir/span.h"

namespace deuteron::tir {

enum class StmtKind : uint8_t {
  kBind,
  kAssert,
  kBufferStore,
  kAllocBuffer,
  kSeq,
  kIfThenElse,
  kEvaluate,
  kFor,
  kWhile,
  kAttr,
  kSBlock,
  kSBlockRealize,
};

class StmtNode : public Object {
 public:
  Span span;
  const StmtKind kind;
  DEUTERON_TREE_NODE
  DEUTERON_BASE_NODE("deuteron.tir.Stmt", StmtNode, Object);

 protected:
  explicit StmtNode(StmtKind kind) : kind(kind) {}
};
class Stmt : public ObjectRef {
 public:
  DEUTERON_REF(Stmt, ObjectRef, StmtNode);
};

/// `var = value`, visible to the rest of the enclosing SeqStmt.
class BindNode : public StmtNode {
 public:
  BindNode() : StmtNode(StmtKind::kBind) {}
  Var var;
  PrimExpr value;
  DEUTERON_NODE("deuteron.tir.Bind", BindNode, StmtNode);
};
class Bind : public Stmt {
 public:
  Bind(Var var, PrimExpr value, Span span = Span());
  DEUTERON_REF(Bind, Stmt, BindNode);
};

/// Fails with `message` unless `condition`.
class AssertStmtNode : public StmtNode {
 public:
  AssertStmtNode() : StmtNode(StmtKind::kAssert) {}
  PrimExpr condition;
  String message;
  DEUTERON_NODE("deuteron.tir.AssertStmt", AssertStmtNode, StmtNode);
};
class AssertStmt : public Stmt {
 public:
  AssertStmt(PrimExpr condition, String message, Span span = Span());
  DEUTERON_REF(AssertStmt, Stmt, AssertStmtNode);
};

/// buffer[indices] = value.
class BufferStoreNode : public StmtNode {
 public:
  BufferStoreNode() : StmtNode(StmtKind::kBufferStore) {}
  Buffer buffer;
  PrimExpr value;
  Array<PrimExpr> indices = kEmpty;
  DEUTERON_NODE("deuteron.tir.BufferStore", BufferStoreNode, StmtNode);
};
class BufferStore : public Stmt {
 public:
  BufferStore(Buffer buffer, PrimExpr value, Array<PrimExpr> indices, Span span = Span());
  DEUTERON_REF(BufferStore, Stmt, BufferStoreNode);
};

/// `buffer` exists from here to the end of the enclosing SeqStmt (lowered code; blocks use alloc_buffers).
class AllocBufferNode : public StmtNode {
 public:
  AllocBufferNode() : StmtNode(StmtKind::kAllocBuffer) {}
  Buffer buffer;
  DEUTERON_NODE("deuteron.tir.AllocBuffer", AllocBufferNode, StmtNode);
};
class AllocBuffer : public Stmt {
 public:
  explicit AllocBuffer(Buffer buffer, Span span = Span());
  DEUTERON_REF(AllocBuffer, Stmt, AllocBufferNode);
};

class SeqStmtNode : public StmtNode {
 public:
  SeqStmtNode() : StmtNode(StmtKind::kSeq) {}
  Array<Stmt> seq = kEmpty;
  DEUTERON_NODE("deuteron.tir.SeqStmt", SeqStmtNode, StmtNode);
};
class SeqStmt : public Stmt {
 public:
  explicit SeqStmt(Array<Stmt> seq, Span span = Span());
  /// One statement stays itself; nested sequences are spliced in (never one that ends a Bind's scope early:
  /// splicing only widens scopes).
  static Stmt Flatten(const Array<Stmt>& seq);
  DEUTERON_REF(SeqStmt, Stmt, SeqStmtNode);
};

class IfThenElseNode : public StmtNode {
 public:
  IfThenElseNode() : StmtNode(StmtKind::kIfThenElse) {}
  PrimExpr condition;
  Stmt then_case;
  /// May be null.
  Stmt else_case;
  DEUTERON_NODE("deuteron.tir.IfThenElse", IfThenElseNode, StmtNode);
};
class IfThenElse : public Stmt {
 public:
  IfThenElse(PrimExpr condition, Stmt then_case, Stmt else_case = Stmt(), Span span = Span());
  DEUTERON_REF(IfThenElse, Stmt, IfThenElseNode);
};

/// Evaluates an expression for its effect.
class EvaluateNode : public StmtNode {
 public:
  EvaluateNode() : StmtNode(StmtKind::kEvaluate) {}
  PrimExpr value;
  DEUTERON_NODE("deuteron.tir.Evaluate", EvaluateNode, StmtNode);
};
class Evaluate : public Stmt {
 public:
  explicit Evaluate(PrimExpr value, Span span = Span());
  DEUTERON_REF(Evaluate, Stmt, EvaluateNode);
};

enum class ForKind : uint8_t { kSerial, kParallel, kVectorized, kUnrolled, kThreadBinding };

class ForNode : public StmtNode {
 public:
  ForNode() : StmtNode(StmtKind::kFor) {}
  ForKind loop_kind = ForKind::kSerial;
  Var loop_var;
  PrimExpr min;
  PrimExpr extent;
  /// "threadIdx.x", … for kThreadBinding; empty otherwise.
  String thread_tag;
  /// Hints of schedules, by name; may be empty.
  Map<String, Any> annotations = kEmpty;
  Stmt body;
  DEUTERON_NODE("deuteron.tir.For", ForNode, StmtNode);
};
class For : public Stmt {
 public:
  For(Var loop_var, PrimExpr min, PrimExpr extent, ForKind kind, Stmt body, String thread_tag = "",
      Map<String, Any> annotations = kEmpty, Span span = Span());
  DEUTERON_REF(For, Stmt, ForNode);
};

class WhileNode : public StmtNode {
 public:
  WhileNode() : StmtNode(StmtKind::kWhile) {}
  PrimExpr condition;
  Stmt body;
  DEUTERON_NODE("deuteron.tir.While", WhileNode, StmtNode);
};
class While : public Stmt {
 public:
  While(PrimExpr condition, Stmt body, Span span = Span());
  DEUTERON_REF(While, Stmt, WhileNode);
};

/// An attribute of everything in `body`: (`node`, `attr_key`) = `value`.
class AttrStmtNode : public StmtNode {
 public:
  AttrStmtNode() : StmtNode(StmtKind::kAttr) {}
  Any node;
  String attr_key;
  PrimExpr value;
  Stmt body;
  DEUTERON_NODE("deuteron.tir.AttrStmt", AttrStmtNode, StmtNode);
};
class AttrStmt : public Stmt {
 public:
  AttrStmt(Any node, String attr_key, PrimExpr value, Stmt body, Span span = Span());
  DEUTERON_REF(AttrStmt, Stmt, AttrStmtNode);
};

/// The elements of `buffer` in the box `region` (a range an axis).
class BufferRegionNode : public Object {
 public:
  Buffer buffer;
  Array<Range> region = kEmpty;
  DEUTERON_TREE_NODE
  DEUTERON_NODE("deuteron.tir.BufferRegion", BufferRegionNode, Object);
};
class BufferRegion : public ObjectRef {
 public:
  BufferRegion(Buffer buffer, Array<Range> region);
  /// The whole buffer.
  static BufferRegion Full(const Buffer& buffer);
  /// One element.
  static BufferRegion Point(const Buffer& buffer, const Array<PrimExpr>& indices);
  DEUTERON_REF(BufferRegion, ObjectRef, BufferRegionNode);
};

class SBlockNode : public StmtNode {
 public:
  SBlockNode() : StmtNode(StmtKind::kSBlock) {}
  Array<IterVar> iter_vars = kEmpty;
  Array<BufferRegion> reads = kEmpty;
  Array<BufferRegion> writes = kEmpty;
  String name_hint;
  /// Buffers that live as long as one instance of this block.
  Array<Buffer> alloc_buffers = kEmpty;
  Map<String, Any> annotations = kEmpty;
  /// May be null.
  Stmt init;
  Stmt body;
  DEUTERON_NODE("deuteron.tir.SBlock", SBlockNode, StmtNode);
};
class SBlock : public Stmt {
 public:
  SBlock(Array<IterVar> iter_vars, Array<BufferRegion> reads, Array<BufferRegion> writes, String name_hint, Stmt body,
         Stmt init = Stmt(), Array<Buffer> alloc_buffers = kEmpty, Map<String, Any> annotations = kEmpty,
         Span span = Span());
  DEUTERON_REF(SBlock, Stmt, SBlockNode);
};

/// Runs `block` with its iterators bound to `iter_values`, if `predicate`.
class SBlockRealizeNode : public StmtNode {
 public:
  SBlockRealizeNode() : StmtNode(StmtKind::kSBlockRealize) {}
  Array<PrimExpr> iter_values = kEmpty;
  PrimExpr predicate;
  SBlock block;
  DEUTERON_NODE("deuteron.tir.SBlockRealize", SBlockRealizeNode, StmtNode);
};
class SBlockRealize : public Stmt {
 public:
  SBlockRealize(Array<PrimExpr> iter_values, PrimExpr predicate, SBlock block, Span span = Span());
  DEUTERON_REF(SBlockRealize, Stmt, SBlockRealizeNode);
};

}  // namespace deuteron::tir
