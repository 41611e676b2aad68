/// \file
/// Instruments: what watches passes while they run.
#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "deuteron/ir/transform/pass.h"

namespace deuteron::transform {

/// Text of a module; filled by the caller with the printer (script/), which this layer must not see.
using ModulePrinter = std::function<std::string(const IRModule&)>;
/// Throws if a module is malformed.
using ModuleVerifier = std::function<void(const IRModule&)>;

/// Measures the wall time of every pass.
class TimingInstrument : public PassInstrument {
 public:
  struct Row {
    std::string name;
    /// Nesting: 0 for a pass called by the user, 1 inside of a Sequential, …
    int depth = 0;
    double milliseconds = 0;
  };
  void RunBeforePass(const IRModule& module, const PassInfo& info) override;
  void RunAfterPass(const IRModule& module, const PassInfo& info) override;
  /// In the order in which the passes began.
  const std::vector<Row>& rows() const { return rows_; }
  /// The rows as an indented table with a share of the total.
  std::string Table() const;

 private:
  std::vector<Row> rows_;
  std::vector<std::pair<size_t, std::chrono::steady_clock::time_point>> open_;
};

/// A pass that prints the module where it stands in a list of passes, after a line `# ----- <header>`.
Pass PrintIR(ModulePrinter print, std::ostream* out, std::string header = "");

/// Prints the module before and after passes.
class PrintInstrument : public PassInstrument {
 public:
  struct Options {
    std::set<std::string> before;
    std::set<std::string> after;
    bool before_all = false;
    bool after_all = false;
  };
  PrintInstrument(Options options, ModulePrinter print, std::ostream* out);
  void RunBeforePass(const IRModule& module, const PassInfo& info) override;
  void RunAfterPass(const IRModule& module, const PassInfo& info) override;

 private:
  void Print(const char* when, const IRModule& module, const PassInfo& info);
  Options options_;
  ModulePrinter print_;
  std::ostream* out_;
};

/// Writes the module after each pass that changed it to `<directory>/<number>_<pass>.py`, from 000_input.py.
class DumpInstrument : public PassInstrument {
 public:
  /// Makes the directory. A UsageError if that or a write fails.
  DumpInstrument(std::string directory, ModulePrinter print);
  void RunBeforePass(const IRModule& module, const PassInfo& info) override;
  void RunAfterPass(const IRModule& module, const PassInfo& info) override;

 private:
  void Write(const IRModule& module, const std::string& name);
  std::string directory_;
  ModulePrinter print_;
  IRModule last_;
  int number_ = 0;
};

/// Verifies the module after each pass that changed it; an error names the pass.
class VerifyInstrument : public PassInstrument {
 public:
  explicit VerifyInstrument(ModuleVerifier verify) : verify_(std::move(verify)) {}
  void RunAfterPass(const IRModule& module, const PassInfo& info) override;

 private:
  ModuleVerifier verify_;
  IRModule last_;
};

/// Lets the first `limit` passes run and vetoes the others (not those that are required): to find by
/// bisection the first pass that breaks something.
class BisectInstrument : public PassInstrument {
 public:
  explicit BisectInstrument(int64_t limit) : limit_(limit) {}
  bool ShouldRun(const IRModule& module, const PassInfo& info) override;
  /// Passes asked for so far, vetoed ones included.
  int64_t count() const { return static_cast<int64_t>(names_.size()); }
  const std::vector<std::string>& names() const { return names_; }
  /// One line a pass: `bisect:   3 ran   FuseOps`.
  std::string Report() const;

 private:
  int64_t limit_;
  std::vector<std::string> names_;
};

}  // namespace deuteron::transform
