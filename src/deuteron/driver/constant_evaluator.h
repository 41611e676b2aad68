/// \file
/// Runs kernels at compile time.
#pragma once

#include "deuteron/relax/transform/operators/constant_evaluator.h"

namespace deuteron {

/// An evaluator that interprets small kernels and compiles large ones for this CPU, each kernel once.
relax::ConstantEvaluator MakeConstantEvaluator();

}  // namespace deuteron
