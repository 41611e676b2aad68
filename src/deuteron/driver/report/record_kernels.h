/// \file
/// Records in the decision log what will be launched: each call of a kernel, what it moves and computes, and on demand
/// the kernels' text.
///
/// | pass | reason | subject → object | figures | message |
/// | --- | --- | --- | --- | --- |
/// | Kernels | `kernel` | kernel | launches, buffers (of its own) | parameters and their types |
/// | Kernels | `launch` | variable → kernel | launch, read, written, flops | `read; written; flops` where symbolic |
/// | Kernels | `launch-output` | variable of an item of the result | launch | |
/// | Text | `before-fusion`, `after-fusion`, `scheduled` | kernel | | its text |
///
/// Launches are numbered within a module, in order of execution of each function.
#pragma once

#include <memory>

#include "deuteron/ir/transform/pass.h"

namespace deuteron {

/// Records the launches of `module`: calls of kernels (call_tir) in every Relax function.
void RecordKernels(const IRModule& module, transform::DecisionLog* log);

/// Records the text of kernels before FuseOps, before their schedules and after. Tens of kilobytes a model: for
/// `explain` and artefacts, not for every compilation.
std::shared_ptr<transform::PassInstrument> MakeKernelTextInstrument();

}  // namespace deuteron
