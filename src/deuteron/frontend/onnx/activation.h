/// \file
/// Activations by name, as operators of their own and as parts of others.
#pragma once

#include <optional>
#include <string>

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// The activation `name` (in letters of either case) of x. `first` and `second`: its parameters in the order of the
/// operator's, alpha and beta or gamma; where they are left out, the operator's defaults.
relax::Expr Activated(const NodeContext& node, const relax::Expr& x, std::string name,
                      std::optional<double> first = std::nullopt, std::optional<double> second = std::nullopt);

/// How many parameters an activation has.
int64_t NumParameters(std::string name);

}  // namespace deuteron::onnx
