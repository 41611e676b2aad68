/// \file
/// Calls of loop-level functions and of functions outside of the module, and other basics.
#pragma once

#include <vector>

#include "deuteron/ir/attrs.h"
#include "deuteron/relax/expr.h"

namespace deuteron::relax {

class CallTIRInplaceAttrsNode : public AttrsNode {
 public:
  /// For each output, the argument whose memory it takes, or -1 for fresh memory.
  Array<int64_t> inplace_indices = kEmpty;
  DEUTERON_NODE("deuteron.relax.CallTIRInplaceAttrs", CallTIRInplaceAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(CallTIRInplaceAttrs)

class CallInplacePackedAttrsNode : public AttrsNode {
 public:
  Array<int64_t> inplace_indices = kEmpty;
  DEUTERON_NODE("deuteron.relax.CallInplacePackedAttrs", CallInplacePackedAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(CallInplacePackedAttrs)

/// Calls a PrimFunc of the module in destination-passing style. `args` is a tuple of tensors; `out_ty` a
/// TensorType or a TupleType of them; `tir_vars`, null or a shape: its scalar arguments.
/// The call's arguments are (func, args[, tir_vars]), its ty_args [out_ty].
Call CallTIR(const GlobalVar& func, Tuple args, Type out_ty, Expr tir_vars = Expr());
Call CallTIRInplace(const GlobalVar& func, Tuple args, Array<int64_t> inplace_indices, Type out_ty,
                    Expr tir_vars = Expr());
/// Calls an external function in destination-passing style.
Call CallDPSPacked(Expr func, Tuple args, Type out_ty);
/// Calls an external function that returns its result; pure, hence allowed in dataflow blocks.
/// Its arguments are (func, args...), its ty_args the result types.
Call CallPurePacked(Expr func, Array<Expr> args, Array<Type> ty_args);
/// The same, impure: an ordinary Call of an ExternFunc.
Call CallPacked(Expr func, Array<Expr> args, Array<Type> ty_args);
Call NullValue();

bool IsCallOf(const Expr& expr, const Op& op);
bool IsCallTIR(const Expr& expr);
bool IsCallTIRInplace(const Expr& expr);
bool IsCallDPSPacked(const Expr& expr);
/// call_tir or call_tir_inplace.
bool IsAnyCallTIR(const Expr& expr);

/// The parts of a call_tir, call_tir_inplace or call_dps_packed.
struct CallTIRView {
  /// Null for call_dps_packed of an ExternFunc.
  GlobalVar func;
  Tuple args;
  Type out_ty;
  /// Null if there are none.
  ShapeExpr tir_vars;
};
CallTIRView ViewCallTIR(const Call& call);
/// The output tensor types of `out_ty`, one if it is no tuple.
std::vector<TensorType> OutputTensors(const Type& out_ty);

}  // namespace deuteron::relax
