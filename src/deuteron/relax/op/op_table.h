/// \file
/// What the compiler knows of each graph-level operator: one row an operator, all rows listed in
/// op_table.cc. To add an operator, write its row in the file of its family and a test beside it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "deuteron/relax/block_builder.h"
#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// The type of a call's result from the (normalised) types of its arguments. Throws a ModelError that names
/// the operator, both shapes or types, and what was expected.
using InferType = Type (*)(const Call& call, const BlockBuilder& builder);

/// Replaces a call by loop-level code: usually `builder.CallTE(topi::..., args)`. Returns the call itself
/// where it cannot be legalised (unknown shapes).
using Legalize = Expr (*)(BlockBuilder& builder, const Call& call);

/// One operator.
struct OpInfo {
  /// Without the level: "nn.conv2d" for Op "relax.nn.conv2d".
  const char* name;
  /// Names of the arguments, for messages and for text with keyword arguments. A trailing "?" is optional;
  /// a single "*" means any number.
  std::vector<const char*> arguments;
  /// Type key of its Attrs class ("deuteron.relax.Conv2DAttrs"), or null if it has none.
  const char* attrs_key;
  InferType infer_type;
  /// Null: lowered by a later pass, or called in the runtime.
  Legalize legalize;
  /// No side effect: may be removed if unused, and stand in a DataflowBlock.
  bool pure = true;
};

/// The row of an operator; null if there is none of that name ("relax.add" or "add").
const OpInfo* FindOpInfo(std::string_view name);
const OpInfo* FindOpInfo(const Op& op);
/// All rows, in the order of the table.
std::span<const OpInfo> AllOps();

}  // namespace deuteron::relax
