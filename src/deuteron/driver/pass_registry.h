/// \file
/// Every pass that can be named, and calls of passes as data: what `deuteron opt --passes`, pipelines, the text tests
/// and required passes are made of.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deuteron/ir/transform/pass.h"

namespace deuteron {

/// A pass with its arguments, by name: what the text `FuseOps(fuse_opt_level=2)` says.
struct PassCall {
  std::string name;
  std::map<std::string, nlohmann::json> arguments = {};
  friend bool operator==(const PassCall& a, const PassCall& b) {
    return a.name == b.name && a.arguments == b.arguments;
  }
};

/// The arguments of a pass as they were written, by name. Reading one of another type is a UsageError.
class PassArguments {
 public:
  explicit PassArguments(std::string pass, std::map<std::string, nlohmann::json> values = {})
      : pass_(std::move(pass)), values_(std::move(values)) {}
  int64_t Int(const char* name, int64_t fallback) const;
  /// One from `least` to `greatest`.
  int64_t IntIn(const char* name, int64_t fallback, int64_t least, int64_t greatest) const;
  bool Bool(const char* name, bool fallback) const;
  std::string String(const char* name, const std::string& fallback) const;
  std::vector<std::string> Strings(const char* name) const;
  /// {n: 4} → {"n", 4}
  std::map<std::string, int64_t> Ints(const char* name) const;
  /// {op: [NHWC, OHWI]}
  std::map<std::string, std::vector<std::string>> StringLists(const char* name) const;
  const std::map<std::string, nlohmann::json>& values() const { return values_; }

 private:
  /// Null if it was not given, or as `none`.
  const nlohmann::json* Find(const char* name) const;
  [[noreturn]] void Fail(const char* name, const char* expected) const;
  std::string pass_;
  std::map<std::string, nlohmann::json> values_;
};

struct PassEntry {
  const char* name;
  const char* description;
  /// Names of its arguments, as TVM's Python functions call them.
  std::vector<const char*> parameters;
  std::function<transform::Pass(const PassArguments&)> make;
};

/// All passes, in the order in which they usually run.
std::span<const PassEntry> AllPasses();
/// Null if there is none of that name.
const PassEntry* FindPass(std::string_view name);
/// Adds a pass from outside of the library, before its first use by name. A UsageError if there is one of that name.
void RegisterPass(PassEntry entry);
/// The pass of that name with default arguments; a UsageError if there is none. For PassContext::find_pass.
transform::Pass MakePass(const std::string& name);

/// A UsageError if `name` is neither that of a pass nor of one that a pass runs as its part ("MergePrimitives" of
/// FuseTIR): the names that a PassContext and instruments know.
void CheckPassName(const std::string& name);

/// The calls in a text like `FuseOps(fuse_opt_level=2),FuseTIR`. Arguments are `name=value` with `true`/`false`, `none`
/// (the default, also of arguments that only TVM's pass of that name has), numbers, strings (quotes optional), `[a, b]`
/// and `{k: v}`, each name once. A UsageError shows what is wrong where.
std::vector<PassCall> ParsePassCalls(std::string_view text);
/// The text that ParsePassCalls reads as these.
std::string PassText(std::span<const PassCall> calls);
/// The passes that are called; a UsageError if a pass does not exist or does not take an argument.
std::vector<transform::Pass> MakePasses(std::span<const PassCall> calls);
/// MakePasses of ParsePassCalls.
std::vector<transform::Pass> ParsePasses(std::string_view text);

}  // namespace deuteron
