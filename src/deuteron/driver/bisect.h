/// \file
/// Which pass changed the result, in which kernel, and the least module that shows it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "deuteron/driver/verify.h"

namespace deuteron {

struct BisectOptions {
  VerifyOptions verify;
  /// What is compiled with; empty: the pipeline of `verify.compile`.
  std::vector<transform::Pass> passes;
  /// Sees the lowered kernels before machine code is made of them; for tests of a code generator that is wrong.
  std::function<IRModule(IRModule)> after_lowering;
  /// Most candidates that the reduction tries.
  int64_t max_candidates = 2000;
};

struct BisectResult {
  /// Every stage that was run, in order; the last is the culprit if there is one.
  std::vector<VerifiedStage> stages;
  /// The first pass whose result differs; "compiled code after P" if it is the machine code made of the module after
  /// pass P that differs from what the interpreter makes of it. Empty if none does.
  std::string culprit;
  /// The first value that differs, the kernel (or operator) that computes it, and its place in the user's model. Empty
  /// if the pass fails, or no single value can be named.
  std::string value;
  std::string kernel;
  std::string place;
  std::string problem;
  /// The module before the culprit, reduced as far as it still shows the difference, and what is left of it.
  IRModule reduced;
  int64_t bindings = 0;
  int64_t bindings_before = 0;
  /// The text of `reduced` in which sizes are reduced too; parses back.
  std::string reduced_text;
};

/// Runs the passes one by one. After each, the module is run by the interpreter and as compiled code on the same random
/// inputs; both must agree with the imported module within `verify.tolerance`.
BisectResult Bisect(const IRModule& module, const BisectOptions& options);

}  // namespace deuteron
