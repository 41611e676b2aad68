/// \file
/// Tests that are text: a module, the passes to run on it, and what must come out.
///
///     # run: FuseOps(fuse_opt_level=2),FuseTIR     ($HERE: the folder of the file)
///     # target: llvm -mcpu=x86-64-v4         (optional; without it `llvm`, the plainest CPU: never this machine)
///     # config: tvm_compat=true              (optional, any number)
///     # expect-remark: FuseOps lv -> lv1: fused   (optional, any number; parts of one decision each)
///     @I.ir_module
///     class Module: …
///     # ----- expected
///     the whole module that must come out, or for files named fail_*, the diagnostics, each line after `# `
#pragma once

#include <string>
#include <vector>

namespace deuteron {

/// What a text test gave.
struct TextTestResult {
  /// Empty if all is as expected; else what differs.
  std::string failure;
  /// The file with its expectation replaced by what came out.
  std::string updated;
};

/// Runs the test in `text`, which is the content of the file `path`.
TextTestResult RunTextTest(const std::string& path, const std::string& text);

/// The tests below `root`: every `testdata/*.py` under `root/src/deuteron`, and every .py under `root/tests/text`,
/// that begins with `# run:`.
std::vector<std::string> FindTextTests(const std::string& root);

}  // namespace deuteron
