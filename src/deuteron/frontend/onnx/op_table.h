/// \file
/// Every ONNX operator that is imported: one row each, in one list.
#pragma once

#include <span>
#include <string_view>

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// The operator sets of ONNX's own domain that are understood.
inline constexpr int64_t kFirstOpset = 1;
inline constexpr int64_t kLastOpset = 25;
/// The first that converters know; nodes of earlier ones are made nodes of it (early.h).
inline constexpr int64_t kFirstOpsetOfConverters = 7;

struct OpRow {
  /// Empty for ONNX's own.
  std::string_view domain;
  std::string_view op_type;
  /// First operator set that has the operator (not below kFirstOpsetOfConverters). Converters tell versions apart
  /// themselves.
  int64_t since;
  Converter convert;
};

/// The row of an operator at a version of its domain; null if it is not supported there.
const OpRow* FindOp(std::string_view domain, std::string_view op_type, int64_t version);
/// Why an operator of ONNX is none of them and will not be, and what to do instead; empty if nothing is known of it.
std::string_view WhyRefused(std::string_view domain, std::string_view op_type);
std::span<const OpRow> AllOnnxOps();

}  // namespace deuteron::onnx
