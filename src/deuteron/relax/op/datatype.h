/// \file
/// Conversions of element types.
#pragma once

#include <vector>

#include "deuteron/ir/attrs.h"
#include "deuteron/ir/dtype.h"
#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

class AstypeAttrsNode : public AttrsNode {
 public:
  DataType dtype;
  DEUTERON_NODE("deuteron.relax.AstypeAttrs", AstypeAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(AstypeAttrs)

class WrapParamAttrsNode : public AttrsNode {
 public:
  DataType dtype = DataType::Float(32);
  DEUTERON_NODE("deuteron.relax.WrapParamAttrs", WrapParamAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(WrapParamAttrs)

/// Rows of the table.
std::vector<OpInfo> DatatypeOps();

/// Elementwise conversion (semantics of tir::Cast).
Expr Astype(Expr x, DataType dtype);
/// The same for a parameter, so that it stays visible as one.
Expr WrapParam(Expr data, DataType dtype);

}  // namespace deuteron::relax
