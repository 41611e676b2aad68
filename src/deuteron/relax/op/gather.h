/// \file
/// Reading and writing elements at indices that are data. Negative indices count from the end.
#pragma once

#include <string>
#include <vector>

#include "deuteron/ir/attrs.h"
#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

class GatherElementsAttrsNode : public AttrsNode {
 public:
  int64_t axis = 0;
  DEUTERON_NODE("deuteron.relax.GatherElementsAttrs", GatherElementsAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(GatherElementsAttrs)

class GatherNDAttrsNode : public AttrsNode {
 public:
  int64_t batch_dims = 0;
  DEUTERON_NODE("deuteron.relax.GatherNDAttrs", GatherNDAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(GatherNDAttrs)

/// reduction: "update", "add", "mul", "mean" (scatter_elements), "min", "max".
class ScatterElementsAttrsNode : public AttrsNode {
 public:
  int64_t axis = 0;
  String reduction = "update";
  DEUTERON_NODE("deuteron.relax.ScatterElementsAttrs", ScatterElementsAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(ScatterElementsAttrs)

class ScatterNDAttrsNode : public AttrsNode {
 public:
  String reduction = "update";
  DEUTERON_NODE("deuteron.relax.ScatterNDAttrs", ScatterNDAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(ScatterNDAttrs)

class SliceScatterAttrsNode : public AttrsNode {
 public:
  int64_t axis = 0;
  DEUTERON_NODE("deuteron.relax.SliceScatterAttrs", SliceScatterAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(SliceScatterAttrs)

class TensorScatterAttrsNode : public AttrsNode {
 public:
  int64_t axis = -2;
  /// Positions behind the last one go on at the first.
  bool circular = false;
  /// What lies behind the updates becomes 0.
  bool clears = false;
  DEUTERON_NODE("deuteron.relax.TensorScatterAttrs", TensorScatterAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(TensorScatterAttrs)

class OneHotAttrsNode : public AttrsNode {
 public:
  int64_t depth = 1;
  int64_t axis = -1;
  DEUTERON_NODE("deuteron.relax.OneHotAttrs", OneHotAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(OneHotAttrs)

class IndexPutAttrsNode : public AttrsNode {
 public:
  /// Values are added to what is there.
  bool accumulate = false;
  DEUTERON_NODE("deuteron.relax.IndexPutAttrs", IndexPutAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(IndexPutAttrs)

/// Rows of the table.
std::vector<OpInfo> GatherOps();

/// out[i...] = data[i..., indices[i...] on `axis`, ...]; the result has the shape of `indices`.
Expr GatherElements(Expr data, Expr indices, int64_t axis = 0);
/// ONNX's GatherND: the last axis of `indices` holds index tuples into the axes after the `batch_dims` first.
Expr GatherND(Expr data, Expr indices, int64_t batch_dims = 0);
/// A copy of `data` with updates[i...] written, or combined, in order, at indices[i...] on `axis`.
Expr ScatterElements(Expr data, Expr indices, Expr updates, int64_t axis = 0, std::string reduction = "update");
/// ONNX's ScatterND.
Expr ScatterND(Expr data, Expr indices, Expr updates, std::string reduction = "update");
/// A copy of `data` with data[start:end:step] on `axis` replaced by `src`.
Expr SliceScatter(Expr data, Expr src, PrimExpr start, PrimExpr end, PrimExpr step, int64_t axis = 0);
/// A copy of `data`, `length` long along `axis` (as `data` is, or filled up with 0), in which in each row b of the
/// first axis `updates` stand from position starts[b] (or starts[0], if that is all) of `axis` on.
Expr TensorScatter(Expr data, Expr updates, Expr starts, PrimExpr length, int64_t axis = -2, bool circular = false,
                   bool clears = false);
/// numpy's data[indices[0], indices[1], ...]: the index tensors broadcast.
Expr IndexTensor(Expr data, Array<Expr> indices);
/// A copy of `data` with data[indices[0], indices[1], …] set to `values` (or with them added), one index tensor an
/// axis; indices and values broadcast.
Expr IndexPut(Expr data, Array<Expr> indices, Expr values, bool accumulate = false);
/// on_value where the new axis `axis` equals the index, off_value elsewhere. Both are scalars of the result's
/// dtype.
Expr OneHot(Expr indices, PrimExpr on_value, PrimExpr off_value, int64_t depth, int64_t axis = -1);

}  // namespace deuteron::relax
