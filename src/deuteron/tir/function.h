/// \file
/// A loop-level function.
#pragma once

#include "deuteron/ir/module.h"
#include "deuteron/tir/stmt.h"

namespace deuteron::tir {

/// A kernel in destination-passing style: handle parameters (buffers; outputs last) and scalar parameters.
///
/// The body is the realisation of one root SBlock (no iterators, named "root") until blocks are lowered.
/// Symbolic dimensions occur in the shapes of the parameters' buffers and are bound when it is called:
/// a dimension that is a plain variable defines it, others must match. A variable that no shape defines is
/// a scalar parameter. Attributes: "op_pattern" (int), "tirx.noalias" (bool), "global_symbol" (public).
class PrimFuncNode : public BaseFuncNode {
 public:
  PrimFuncNode() : BaseFuncNode(RelaxKind::kPrimFunc) {}
  Array<Var> params = kEmpty;
  /// Handle parameter → its buffer.
  Map<Var, Buffer> buffer_map = kEmpty;
  Stmt body;
  DEUTERON_NODE("deuteron.tir.PrimFunc", PrimFuncNode, BaseFuncNode);
};
class PrimFunc : public BaseFunc {
 public:
  PrimFunc(Array<Var> params, Map<Var, Buffer> buffer_map, Stmt body, DictAttrs attrs = DictAttrs(),
           Span span = Span());
  /// A function of the given buffers, one handle parameter each, followed by `scalars`.
  static PrimFunc FromBuffers(const Array<Buffer>& buffers, const Array<Var>& scalars, Stmt body,
                              DictAttrs attrs = DictAttrs());
  DEUTERON_REF(PrimFunc, BaseFunc, PrimFuncNode);
};

/// Buffers of the handle parameters, in order.
Array<Buffer> ParamBuffers(const PrimFunc& func);
/// The root block; an InternalError if the body is not the realisation of one.
SBlock RootBlock(const PrimFunc& func);
/// Whether the body is the realisation of a root block.
bool HasRootBlock(const PrimFunc& func);

}  // namespace deuteron::tir
