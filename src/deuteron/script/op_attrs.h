/// \file
/// Calls of graph-level operators as Python's functions spell them: which attributes there are, what they begin with,
/// and the values that they take.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "deuteron/relax/op_info.h"

namespace deuteron::script {

inline std::string_view NameOf(const TVMFFIFieldInfo* field) { return {field->name.data, field->name.size}; }

/// An operator of the graph level with the fields of its attributes.
struct KnownOp {
  const relax::OpInfo* info = nullptr;
  Op op;
  /// Null if it has no attributes.
  const TVMFFITypeInfo* attrs_type = nullptr;
  /// In the order in which Python's function takes them.
  std::vector<const TVMFFIFieldInfo*> fields;
  /// What Python's function takes for attributes that are not given, where it is not what the class begins with.
  std::vector<std::pair<const TVMFFIFieldInfo*, Any>> defaults;
};

/// The operator of that name ("nn.conv2d"); its `info` is null if there is none.
KnownOp DescribeOp(std::string_view name);

/// The attributes of a call that gives none; null for operators without attributes.
ObjectPtr<Object> DefaultAttrs(const KnownOp& op);

/// Sets an attribute in any spelling that Python's functions take: a number for a list of one, one stride for all axes.
/// False, and nothing set, if the value is of no type that fits.
bool TrySetAttr(Object* attrs, const TVMFFIFieldInfo* field, const Any& value);

/// Fills in arguments that are not given (null) and have a default.
void CompleteArguments(std::string_view op, std::vector<relax::Expr>* arguments);

/// Gives an arange without a dtype that of its bounds.
void SetArangeDType(const std::vector<relax::Expr>& bounds, const KnownOp& op, Object* attrs);

/// Fills in attributes that follow from others.
void CompleteAttrs(Object* attrs, const KnownOp& op, bool has_out_layout);

}  // namespace deuteron::script
