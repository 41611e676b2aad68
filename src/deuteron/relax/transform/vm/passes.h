/// \file
/// The passes that write shapes and scalars as calls of the run time.
#pragma once

#include <functional>
#include <string>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/expr.h"

namespace deuteron::relax {

using transform::Pass;

/// Lets functions that are pure as a whole hold calls with side effects.
Pass RemovePurityChecking();

/// Computes scalar expressions of symbolic variables in functions of their own, which are called instead.
Pass ComputePrimValue();
/// The text of a type, for messages of the run time.
using TypePrinter = std::function<std::string(const Type&)>;
/// Replaces shapes by cells of a heap, and calls of the run time that match, fill and read them. Ours does that by
/// itself.
Pass VMShapeLower(TypePrinter print);

}  // namespace deuteron::relax
