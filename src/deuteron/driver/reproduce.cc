#include "deuteron/driver/reproduce.h"

#include <string_view>

#include "deuteron/script/printer.h"
#include "deuteron/support/temporary_folder.h"
#include "deuteron/support/write_file.h"

namespace deuteron {
namespace {

/// `text` as one word of a shell.
std::string Quote(const std::string& text) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./=,:-+";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string ValueText(const Any& value) {
  if (const auto text = value.as<String>()) return std::string(*text);
  return std::to_string(value.cast<int64_t>());
}

std::string WriteModule(const IRModule& module) {
  const std::string path = MakeTemporaryFolder() + "/module.py";
  WriteFile(path, script::Print(module));
  return path;
}

}  // namespace

std::string WriteReproduction(const transform::PassFailure& failure, const ReproduceOptions& options) {
  std::string passes;
  for (const std::string& pass : failure->passes) passes += (passes.empty() ? "" : ",") + pass;
  std::string command = "deuteron opt " + Quote(WriteModule(failure->module)) + " --passes " + Quote(passes);
  const transform::PassContext& context = failure->context;
  const transform::PassContext defaults;
  if (context.opt_level != defaults.opt_level) command += " --opt-level " + std::to_string(context.opt_level);
  for (const auto& [key, value] : context.config()) {
    // What instruments note changes nothing.
    if (key != "kernel_text") command += " --config " + Quote(key + "=" + ValueText(value));
  }
  for (const std::string& pass : context.disabled_pass) command += " --disable-pass " + Quote(pass);
  for (const std::string& pass : context.required_pass) command += " --require-pass " + Quote(pass);
  if (options.target != ReproduceOptions().target) command += " --target " + Quote(options.target);
  if (!options.verify_each) command += " --no-verify-each";
  return command;
}

}  // namespace deuteron
