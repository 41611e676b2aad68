/// \file
/// What a library back end is to the passes that hand parts of a graph to it (passes.h).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// A function that a generator has translated, as the executable will hold it: in the module's attribute
/// `external_mods`, an array of maps with these fields (`code_hex` in place of `code` where that is no ASCII text).
struct ExternalFunction {
  /// What byte code calls it by.
  std::string symbol;
  /// The runtime's plugin that makes it callable (runtime/plugin.h): "dnnl".
  std::string plugin;
  /// What the plugin reads: a graph as JSON, the bytes of a shared object, …
  std::string code;
  /// Constants it needs, by the names in the module's attribute `const_name_to_constant`.
  std::vector<std::string> constants;
  /// These as the plugin holds them, if it has seen the function (PrepareExternals).
  std::optional<std::vector<Tensor>> packed = std::nullopt;
};

/// The names of the constants that generators leave to the executable: `<symbol>_<target>_const_<k>`, one for each
/// distinct constant of a module.
class ConstantNames {
 public:
  /// The name of `constant`, which was met in function `symbol`.
  std::string Get(const Constant& constant, const std::string& symbol, const std::string& target);
  const std::vector<std::pair<std::string, Constant>>& all() const { return all_; }

 private:
  std::map<const Object*, std::string> names_;
  std::map<std::string, int64_t> counts_;
  std::vector<std::pair<std::string, Constant>> all_;
};

/// What a generator is told.
struct CodegenRequest {
  /// The function: its attribute Codegen names the back end; its body calls local functions with the attribute
  /// Composite.
  Function function;
  /// What it calls besides, loop-level functions, is in here.
  IRModule module;
  std::string symbol;
  /// `target_options` for this back end.
  Map<String, Any> options;
  ConstantNames* constants = nullptr;
};

/// The compile side of a library, as RunCodegen sees it.
struct LibraryCodegen {
  /// Translates one function. What it throws is passed on with the function's name.
  std::function<ExternalFunction(const CodegenRequest&)> generate;
  /// Empty if what is generated can run in this process; else why not ("libdeuteron_dnnl.so is missing"). May be null:
  /// always.
  std::function<std::string()> missing;
  /// The same as far as can be told without opening the library. May be null: not at all.
  std::function<std::string()> absent = nullptr;
  /// Begins with all functions of a module what takes long and can be done at once, for `generate` to find it done.
  /// What fails fails there again. May be null.
  std::function<void(const std::vector<CodegenRequest>&)> prepare = nullptr;

  /// Which of the two to go by in a context: empty, or why what is generated cannot run.
  std::string WhyNot(const transform::PassContext& context) const {
    const bool is_opened_meanwhile = context.opens_libraries_meanwhile && absent && absent().empty();
    return is_opened_meanwhile || !missing ? "" : missing();
  }
};
/// Finds the back end that a function's attribute Codegen names; a UsageError if there is none.
using LibraryLookup = std::function<LibraryCodegen(const std::string& name)>;

/// The functions in the module's attribute `external_mods`.
std::vector<ExternalFunction> ExternalFunctions(const IRModule& module);
/// `module` with these added there.
IRModule WithExternalFunctions(IRModule module, const std::vector<ExternalFunction>& functions);
/// `module` with these there, in place of the same ones that are; without constants that nobody needs any more.
IRModule ReplaceExternalFunctions(IRModule module, const std::vector<ExternalFunction>& functions);
/// The constants in `const_name_to_constant`, by name.
std::map<std::string, Tensor> ExternalConstants(const IRModule& module);

}  // namespace deuteron::relax
