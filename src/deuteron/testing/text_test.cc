#include "deuteron/testing/text_test.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "deuteron/driver/pass_registry.h"
#include "deuteron/relax/analysis/well_formed.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"
#include "deuteron/script/round_trip.h"
#include "deuteron/target/target.h"

namespace deuteron {
namespace {

constexpr std::string_view kSeparator = "# ----- expected\n";

/// The parts of a file.
struct TextTest {
  std::string passes;
  std::string target = "llvm";
  std::vector<std::pair<std::string, std::string>> config;
  std::vector<std::string> remarks;
  /// Functions that are what they were are named only.
  bool only_changes = false;
  /// Everything before the expectation, the separator included.
  std::string head;
  std::string input;
  std::string expected;
};

/// `passes` with the folder of the test for `$HERE`.
std::string WithFolder(const std::string& path, std::string passes) {
  constexpr std::string_view kHere = "$HERE";
  const std::string folder = std::filesystem::path(path).parent_path().string();
  for (size_t at = 0; (at = passes.find(kHere, at)) != std::string::npos; at += folder.size()) {
    passes.replace(at, kHere.size(), folder);
  }
  return passes;
}

TextTest Split(const std::string& path, const std::string& text) {
  TextTest test;
  const size_t separator = text.find(kSeparator);
  test.input = text.substr(0, separator);
  test.head = test.input + (test.input.empty() || test.input.back() == '\n' ? "" : "\n") + std::string(kSeparator);
  if (separator != std::string::npos) test.expected = text.substr(separator + kSeparator.size());
  std::istringstream lines(test.input);
  const auto after = [](const std::string& line, std::string_view prefix) -> const char* {
    return line.compare(0, prefix.size(), prefix) == 0 ? line.c_str() + prefix.size() : nullptr;
  };
  for (std::string line; std::getline(lines, line) && (line.empty() || line[0] == '#');) {
    if (const char* passes = after(line, "# run:")) {
      test.passes += (test.passes.empty() ? "" : ",") + WithFolder(path, passes);
    }
    if (const char* target = after(line, "# target: ")) test.target = target;
    if (line == "# expect: changes") test.only_changes = true;
    if (const char* remark = after(line, "# expect-remark: ")) test.remarks.emplace_back(remark);
    if (const char* pair = after(line, "# config: ")) {
      const std::string entry(pair);
      const size_t equals = entry.find('=');
      if (equals == std::string::npos) DEUTERON_THROW(UsageError) << path << ": expected `# config: key=value`";
      test.config.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
    }
  }
  return test;
}

/// A decision in one line: what `# expect-remark:` is compared with, which may have the message too.
std::string Describe(const transform::Decision& decision, bool with_message) {
  std::string text = std::string(decision.pass) + " " + std::string(decision.subject);
  if (!decision.object.empty()) text += " -> " + std::string(decision.object);
  text += ": " + std::string(CodeOf(decision.reason));
  if (with_message && !decision.message.empty()) text += " (" + std::string(decision.message) + ")";
  return text;
}

/// Takes the functions that are what they were in `before` out of a module; a comment that names them.
std::string DropUnchanged(const IRModule& before, IRModule* module) {
  std::vector<std::string> names;
  for (const auto& [var, func] : before->functions) {
    const GlobalVar now = module->FindGlobalVar(std::string(var->name_hint));
    if (!now.defined() || !StructurallyEqual(module->Lookup(now), func)) continue;
    names.emplace_back(var->name_hint);
    module->Remove(now);
  }
  std::sort(names.begin(), names.end());
  std::string comment;
  for (const std::string& name : names) comment += (comment.empty() ? "# as before: " : ", ") + name;
  return comment.empty() ? comment : comment + "\n";
}

std::string AsComment(const std::string& text) {
  std::istringstream lines(text);
  std::string comment;
  for (std::string line; std::getline(lines, line);) comment += line.empty() ? "#\n" : "# " + line + "\n";
  return comment;
}

/// The first line that differs, with the one expected.
std::string FirstDifference(const std::string& actual, const std::string& expected) {
  std::istringstream a(actual);
  std::istringstream b(expected);
  std::string x;
  std::string y;
  for (int line = 1;; ++line) {
    const bool more_a = static_cast<bool>(std::getline(a, x));
    const bool more_b = static_cast<bool>(std::getline(b, y));
    if (!more_a && !more_b) return "the ends of the texts differ";
    if (more_a && more_b && x == y) continue;
    return "line " + std::to_string(line) + " is\n  " + (more_a ? x : "(the end)") + "\nand should be\n  " +
           (more_b ? y : "(the end)");
  }
}

}  // namespace

TextTestResult RunTextTest(const std::string& path, const std::string& text) {
  const TextTest test = Split(path, text);
  const std::string name = std::filesystem::path(path).filename();
  const bool must_fail = name.rfind("fail_", 0) == 0;
  TextTestResult result;
  std::string actual;
  transform::PassContext context;
  context.find_pass = MakePass;
  for (const auto& [key, value] : test.config) context.SetConfig(key, String(value));
  try {
    // Never the machine that the tests run on.
    const TargetScope target(Target::Parse(test.target));
    // The name in diagnostics does not depend on where the tree lies.
    IRModule module = script::ParseModule(test.input, name);
    relax::CheckWellFormed(module);
    const IRModule before = test.only_changes ? module : IRModule();
    transform::PassContext::Scope scope(context);
    script::CheckRoundTrip(module);
    for (const transform::Pass& pass : ParsePasses(test.passes)) {
      module = pass(std::move(module));
      relax::CheckWellFormed(module);
      script::CheckRoundTrip(module);
    }
    const std::string as_before = test.only_changes ? DropUnchanged(before, &module) : "";
    actual = as_before + script::Print(module);
    if (must_fail) result.failure = "an error was expected, and there was none";
  } catch (const tvm::ffi::Error& error) {
    actual = AsComment(std::string(error.kind()) + ": " + std::string(error.message()));
    if (!must_fail) result.failure = "an unexpected error:\n" + actual;
  }
  result.updated = test.head + actual;
  if (!result.failure.empty()) return result;
  if (actual != test.expected) {
    result.failure = FirstDifference(actual, test.expected) + "\nThe whole text:\n" + actual;
    return result;
  }
  for (const std::string& remark : test.remarks) {
    const auto decisions = context.decisions->decisions();
    const auto is_said = [&](const auto& d) { return Describe(d, true) == remark || Describe(d, false) == remark; };
    if (std::any_of(decisions.begin(), decisions.end(), is_said)) continue;
    result.failure = "no such decision: " + remark + "\nDecisions:";
    for (const auto& decision : decisions) result.failure += "\n  " + Describe(decision, true);
  }
  return result;
}

std::vector<std::string> FindTextTests(const std::string& root) {
  std::vector<std::string> tests;
  const auto add = [&](const std::filesystem::path& folder, bool only_testdata) {
    if (!std::filesystem::exists(folder)) return;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const auto& path = entry.path();
      if (path.extension() != ".py" || (only_testdata && path.parent_path().filename() != "testdata")) continue;
      std::ifstream file(path);
      std::string first;
      std::getline(file, first);
      if (first.rfind("# run:", 0) == 0) tests.push_back(path);
    }
  };
  add(std::filesystem::path(root) / "src" / "deuteron", true);
  add(std::filesystem::path(root) / "tests" / "text", false);
  std::sort(tests.begin(), tests.end());
  return tests;
}

}  // namespace deuteron
