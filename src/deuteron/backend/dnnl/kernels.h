/// \file
/// The kernels of a graph as primitives.
#pragma once

#include "deuteron/backend/dnnl/plan.h"

namespace deuteron::backend::dnnl {

/// Adds the primitives of kernel `node`, whose inputs are `inputs`; its result, in the layout that its primitive likes
/// best.
Value AddKernel(PlanBuilder* plan, const JsonNode& node, const std::vector<Value>& inputs);

}  // namespace deuteron::backend::dnnl
