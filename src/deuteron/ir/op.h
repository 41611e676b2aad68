/// \file
/// Operators by name: "relax.nn.conv2d" of the graph level, "tir.exp" of the loop level.
///
/// An Op is an interned name with a dense number; what an operator *is* (type inference, legalisation, …)
/// stands in the table of its level: relax/op_info.h, tir/intrinsics.h.
#pragma once

#include "deuteron/ir/relax_expr.h"

namespace deuteron {

class OpNode : public RelaxExprNode {
 public:
  OpNode() : RelaxExprNode(RelaxKind::kOp) {}
  String name;
  /// Dense, from 0, in the order of first use in this process.
  int64_t index = 0;
  DEUTERON_UNIQUE_NODE
  DEUTERON_NODE("deuteron.Op", OpNode, RelaxExprNode);
};

class Op : public RelaxExpr {
 public:
  /// The operator of that name; made on first use. Thread safe.
  static Op Get(std::string_view name);
  DEUTERON_REF(Op, RelaxExpr, OpNode);
};

}  // namespace deuteron
