/// \file
/// Tensor expressions: multi-dimensional values defined element by element.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "deuteron/ir/prim_ops.h"
#include "deuteron/tir/function.h"

namespace deuteron::te {

class Tensor;

/// What an extern op runs for each binding of its iterators.
struct ExternBlock {
  tir::Stmt body;
  /// Empty: whole buffers.
  Array<tir::BufferRegion> reads = kEmpty;
  Array<tir::BufferRegion> writes = kEmpty;
};
using ExternBody = std::function<ExternBlock(const Array<tir::Buffer>& inputs, const Array<tir::Buffer>& outputs,
                                             const Array<tir::Var>& iterators)>;

/// How the elements of one or more tensors of one shape are computed; a placeholder has no body.
class ComputeOpNode : public Object {
 public:
  /// Name of the block and of the buffer.
  String name;
  /// Spatial axes, one a dimension; empty for a placeholder. Of an extern op: those of its block.
  Array<tir::IterVar> axis = kEmpty;
  /// One expression an output. A reduction is a tir::Reduce at the root. Empty for a placeholder.
  Array<PrimExpr> body = kEmpty;
  /// Attributes of the block.
  Map<String, Any> attrs = kEmpty;
  /// Extern ops only: the statements, the tensors that they read, and the shape of each output. `body` then
  /// holds a zero of each output's type.
  ExternBody extern_body;
  Array<ObjectRef> extern_inputs = kEmpty;
  Array<Array<PrimExpr>> extern_shapes = kEmpty;
  bool is_placeholder() const { return body.empty(); }
  DEUTERON_NODE("deuteron.te.ComputeOp", ComputeOpNode, Object);
};
class ComputeOp : public ObjectRef {
 public:
  DEUTERON_REF(ComputeOp, ObjectRef, ComputeOpNode);
};

/// Output number `value_index` of `op`.
class TensorNode : public Object {
 public:
  Array<PrimExpr> shape = kEmpty;
  DataType dtype;
  ComputeOp op;
  int64_t value_index = 0;
  DEUTERON_NODE("deuteron.te.Tensor", TensorNode, Object);
};

class Tensor : public ObjectRef {
 public:
  /// The element at `indices`.
  PrimExpr operator()(const Array<PrimExpr>& indices) const;
  const Array<PrimExpr>& shape() const { return get()->shape; }
  int64_t ndim() const { return static_cast<int64_t>(get()->shape.size()); }
  DataType dtype() const { return get()->dtype; }
  DEUTERON_REF(Tensor, ObjectRef, TensorNode);
};

/// A tensor of rank 0 whose element is `value`, an expression of constants and shape variables: reading it
/// gives the value itself, so that no buffer comes of it.
Tensor ScalarTensor(PrimExpr value);

/// An input.
Tensor Placeholder(const Array<PrimExpr>& shape, DataType dtype, const std::string& name);

/// out[i...] = body(i...). Axis variables are named i0, i1, … or `axis_names`.
Tensor Compute(const Array<PrimExpr>& shape, const std::function<PrimExpr(const Array<tir::Var>&)>& body,
               const std::string& name = "compute", Map<String, Any> attrs = kEmpty,
               const std::vector<std::string>& axis_names = {});
/// Several outputs of one shape from one loop nest.
Array<Tensor> ComputeMany(const Array<PrimExpr>& shape,
                          const std::function<Array<PrimExpr>(const Array<tir::Var>&)>& body, const std::string& name,
                          Map<String, Any> attrs = kEmpty, const std::vector<std::string>& axis_names = {});

/// Outputs that are written by statements: loops with an order, data-dependent stores. `body` gets the buffers of
/// `inputs` (which must not be ScalarTensors) and of the outputs, and iterators over `spatial` that may run in any
/// order. Symbolic dimensions that it uses must occur in the shapes of the inputs or in `spatial`.
Array<Tensor> Extern(const std::string& name, const Array<Tensor>& inputs,
                     const std::vector<std::pair<Array<PrimExpr>, DataType>>& outputs, const Array<PrimExpr>& spatial,
                     ExternBody body);

/// A reduction axis over [0, extent).
tir::IterVar ReduceAxis(PrimExpr extent, const std::string& name = "k");
PrimExpr Sum(PrimExpr source, const Array<tir::IterVar>& axis);
PrimExpr Prod(PrimExpr source, const Array<tir::IterVar>& axis);
PrimExpr MaxReduce(PrimExpr source, const Array<tir::IterVar>& axis);
PrimExpr MinReduce(PrimExpr source, const Array<tir::IterVar>& axis);

/// All that is computed for `outputs`, producers first; placeholders included.
std::vector<ComputeOp> PostOrder(const Array<Tensor>& outputs);

/// A PrimFunc with parameters `tensors` (inputs first, then outputs) and `scalars`: one block a compute, in
/// topological order, intermediates as alloc_buffers of the root block. Attribute tirx.noalias is set.
tir::PrimFunc CreatePrimFunc(const Array<Tensor>& tensors, const Array<tir::Var>& scalars = {});

}  // namespace deuteron::te
