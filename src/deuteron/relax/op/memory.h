/// \file
/// Memory made visible: what call_tir becomes on its way to byte code (relax/transform/memory/passes.h).
#pragma once

#include <vector>

#include "deuteron/ir/attrs.h"
#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

class HintOnDeviceAttrsNode : public AttrsNode {
 public:
  /// As DLPack numbers them.
  int64_t device_type = 1;
  int64_t device_index = 0;
  String memory_scope = "global";
  DEUTERON_NODE("deuteron.relax.HintOnDeviceAttrs", HintOnDeviceAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(HintOnDeviceAttrs)

/// Rows of the table.
std::vector<OpInfo> BuiltinOps();
std::vector<OpInfo> MemoryOps();
std::vector<OpInfo> VMOps();

/// A new tensor, contents undefined: R.builtin.alloc_tensor(shape, dtype, 0, "global").
Call BuiltinAllocTensor(const TensorType& type);
/// `bytes` bytes (a shape of rank 1) that live while the function runs.
Call AllocStorage(const PrimExpr& bytes, DataType dtype);
/// A tensor at `offset` bytes of a storage.
Call MemoryAllocTensor(const Expr& storage, const PrimExpr& offset, const TensorType& type);
Call KillTensor(const Expr& tensor);
Call KillStorage(const Expr& storage);
Call KillObject(const Expr& object);

/// Which of the calls above `expr` is; kNone for other expressions.
enum class MemoryCall : uint8_t { kNone, kBuiltinAlloc, kAllocStorage, kAllocTensor, kKill };
MemoryCall MemoryCallOf(const Expr& expr);
/// R.memory.view(x, shape, dtype) of as many bytes as `x` has.
Call MemoryView(const Expr& x, Array<PrimExpr> shape, DataType dtype);
/// All bytes of `x` as a tensor of `type`, whose shape is known: a MemoryView as it is legalised.
Call WholeView(const Expr& x, const TensorType& type);
/// The tensor of which a call, as it is legalised, is all the bytes in the order in which they lie: it need not be
/// made. Null if the call is no such view.
Expr ViewedTensor(const Call& call);
/// The type of the tensor that an alloc_tensor of either kind makes.
TensorType AllocatedType(const Call& call);

}  // namespace deuteron::relax
