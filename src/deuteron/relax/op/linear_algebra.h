/// \file
/// Matrix products.
#pragma once

#include <string>
#include <vector>

#include "deuteron/ir/attrs.h"
#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

class MatmulAttrsNode : public AttrsNode {
 public:
  /// Null: as the operands.
  Optional<DataType> out_dtype;
  DEUTERON_NODE("deuteron.relax.MatmulAttrs", MatmulAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(MatmulAttrs)

class MatmulPackAttrsNode : public AttrsNode {
 public:
  /// How neighbours of what is summed over share an element of both operands (topi::Packing).
  String packing;
  DEUTERON_NODE("deuteron.relax.MatmulPackAttrs", MatmulPackAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(MatmulPackAttrs)

class DensePackAttrsNode : public AttrsNode {
 public:
  /// Of the result.
  int64_t columns = 0;
  /// How neighbours share an element of both operands (topi::Packing).
  String packing;
  /// Null: as the operands.
  Optional<DataType> out_dtype;
  DEUTERON_NODE("deuteron.relax.DensePackAttrs", DensePackAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(DensePackAttrs)

class EinsumAttrsNode : public AttrsNode {
 public:
  String subscripts;
  DEUTERON_NODE("deuteron.relax.EinsumAttrs", EinsumAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(EinsumAttrs)

/// Rows of the table.
std::vector<OpInfo> LinearAlgebraOps();

/// numpy's matmul: vectors are promoted, batch dimensions broadcast. A void out_dtype is the operands'.
Expr Matmul(Expr a, Expr b, DataType out_dtype = DataType::Void());
/// The same of matrices in a packing of bytes or int16 (PackU8x4 … along the axes that are summed over): int32.
Expr MatmulPack(Expr a, Expr b, std::string packing);
/// `operands` is a tuple. Explicit and implicit output subscripts; no ellipsis.
Expr Einsum(Expr operands, std::string subscripts);
/// (n,), (m,) → (n, m)
Expr Outer(Expr a, Expr b);

namespace nn {
/// Data (..., k) times weight (n, k) transposed: (..., n), as networks keep the weights of their layers. A void
/// out_dtype is the operands'.
Expr Dense(Expr data, Expr weight, DataType out_dtype = DataType::Void());
/// The same with a weight of shape (ceil(columns / block), k, block): blocks of output columns one after the other,
/// what the last one has too many zeros.
Expr DensePack(Expr data, Expr weight, int64_t columns, DataType out_dtype = DataType::Void());
}  // namespace nn

}  // namespace deuteron::relax
