/// \file
/// What the compiler knows of each graph-level operator: one row an operator. The rows are listed in op/op_table.cc;
/// the builder, which infers types by them, knows no more of operators than this file says.
#pragma once

#include <span>
#include <string>
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

/// The list of all rows, which `op/op_table.cc` fills in when the program starts. Rows are made at the first look-up.
void SetOpTable(std::vector<OpInfo> (*rows)());

/// A call of "relax.<name>".
Call MakeCall(const char* name, Array<Expr> args, Attrs attrs = Attrs(), Array<Type> ty_args = kEmpty);

/// "nn.conv2d" for a call of Op "relax.nn.conv2d"; the callee's name for other calls.
std::string OpName(const Call& call);

/// Throws a ModelError: `nn.conv2d (at /layer1/conv1): <message>`.
[[noreturn]] void ThrowOpError(const Call& call, const std::string& message);
/// Throws unless the call has between `least` and `most` arguments.
void CheckArity(const Call& call, size_t least, size_t most);

/// The attributes of a call, of class `Node`; an InternalError if they are of another.
template <typename Node>
const Node* AttrsOf(const Call& call) {
  const auto* attrs = call->attrs.defined() ? call->attrs.as<Node>() : nullptr;
  if (attrs == nullptr) {
    DEUTERON_THROW(InternalError) << "a call of " << OpName(call) << " has no " << Node::_type_key;
  }
  return attrs;
}

}  // namespace deuteron::relax
