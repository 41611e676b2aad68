/// \file
/// Passes from module to module, and the context they run in.
///
/// Rules (each tested in pass_test.cc):
///  - `pass(module)` runs the pass in `PassContext::Current()`.
///  - A Sequential runs each of its passes that the context enables: disabled_pass beats required_pass beats
///    opt_level; the passes that one requires, and that those require, run before it each time (whether they
///    are enabled or not: it needs them).
///  - A pass called by itself runs whatever its opt_level.
///  - Instruments: enter/exit with the context; `ShouldRun` may veto a pass that is not required; before and
///    after run around each pass. If an instrument's enter or exit throws, all instruments are cleared and
///    those entered are exited.
///  - An unknown configuration key, or a value of the wrong type, is a UsageError that lists the known keys.
///  - An internal error in a pass carries what reproduces it (PassFailure).
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "deuteron/ir/module.h"
#include "deuteron/ir/transform/decision_log.h"

namespace deuteron::transform {

struct PassInfo {
  std::string name;
  int opt_level = 0;
  /// Names of passes (of the registry given to the context) that run first.
  std::vector<std::string> required = {};
  /// A list of passes; its members are run, timed, counted and vetoed one by one.
  bool is_sequence = false;
  /// Whatever the pass has come to when it fails is a module that it could start from, and fails on again. What it was
  /// given need not be kept to reproduce the failure.
  bool restartable = false;
  /// The pass with its arguments as `deuteron opt --passes` reads it, "FuseOps(fuse_opt_level=2)"; empty: `name`.
  std::string invocation = {};
  const std::string& text() const { return invocation.empty() ? name : invocation; }
};

class PassContext;

class PassNode : public Object {
 public:
  PassInfo info;
  /// Turns `*module` into the result. Where it throws an internal error, `*module` is the module as given or, if the
  /// pass is restartable, one that it had come to.
  virtual void Run(IRModule* module, const PassContext& context) const = 0;
  DEUTERON_BASE_NODE("deuteron.transform.Pass", PassNode, Object);
};

/// A pass. Cheap to copy.
class Pass : public ObjectRef {
 public:
  /// Runs with instruments in the current context.
  IRModule operator()(IRModule module) const;
  IRModule operator()(IRModule module, const PassContext& context) const;
  DEUTERON_REF(Pass, ObjectRef, PassNode);
};

/// A pass from a function over whole modules. (Passes over one function or block at a time:
/// relax/rewrite/function_pass.h, tir/transform/prim_func_pass.h.)
Pass ModulePass(PassInfo info, std::function<IRModule(IRModule, const PassContext&)> body);

/// A pass that changes the module step by step, so that what a step replaces is freed before the next. It is
/// restartable.
Pass StepwisePass(PassInfo info, std::function<void(IRModule*, const PassContext&)> body);

/// A class that is a module pass: it has `IRModule TransformModule(IRModule, const PassContext&) const`.
template <typename T>
concept TransformsModule = requires(const T& pass, IRModule module, const PassContext& context) {
  { pass.TransformModule(std::move(module), context) } -> std::convertible_to<IRModule>;
};

/// The name of a class, without namespaces.
std::string ClassName(const std::type_info& type);

/// A pass from a class; without a name in `info` it has the name of the class.
template <TransformsModule T>
Pass ModulePass(PassInfo info, T pass) {
  if (info.name.empty()) info.name = ClassName(typeid(T));
  return ModulePass(std::move(info), [pass = std::move(pass)](IRModule module, const PassContext& context) {
    return IRModule(pass.TransformModule(std::move(module), context));
  });
}

/// A list of passes run in order; see the rules above. It is not restartable unless its `info` is told so.
class SequentialNode : public PassNode {
 public:
  std::vector<Pass> passes;
  void Run(IRModule* module, const PassContext& context) const override;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("deuteron.transform.Sequential", SequentialNode, PassNode);
};
class Sequential : public Pass {
 public:
  explicit Sequential(std::vector<Pass> passes, std::string name = "Sequential");
  DEUTERON_REF(Sequential, Pass, SequentialNode);
};

/// Watches passes. Override what is needed.
class PassInstrument {
 public:
  virtual ~PassInstrument() = default;
  virtual void EnterContext() {}
  virtual void ExitContext() {}
  virtual bool ShouldRun(const IRModule& module, const PassInfo& info) { return true; }
  virtual void RunBeforePass(const IRModule& module, const PassInfo& info) {}
  virtual void RunAfterPass(const IRModule& module, const PassInfo& info) {}
};

/// Options of passes. Copyable; copies share instruments and decision log.
class PassContext {
 public:
  int opt_level = 2;
  std::vector<std::string> required_pass;
  std::vector<std::string> disabled_pass;
  std::vector<std::shared_ptr<PassInstrument>> instruments;
  /// Where passes write their verdicts; never null.
  std::shared_ptr<DecisionLog> decisions = std::make_shared<DecisionLog>();
  /// Whether what libraries would compute is theirs as soon as their files are there, while they are being opened:
  /// whoever says so sees, before what is compiled is used, whether they could be.
  bool opens_libraries_meanwhile = false;
  /// Finds a required pass by name; set by the driver. May be empty.
  std::function<Pass(const std::string&)> find_pass;

  /// Sets a known configuration key ("relax.FuseOps.max_depth", "tvm_compat", …) from its text or value.
  void SetConfig(const std::string& key, Any value);
  /// The value, or the key's default.
  int64_t GetInt(const std::string& key) const;
  bool GetBool(const std::string& key) const { return GetInt(key) != 0; }
  std::string GetString(const std::string& key) const;
  /// Whether a Sequential runs `info`.
  bool Enabled(const PassInfo& info) const;
  /// Whether an instrument vetoes `info` on `module`; never one that `required_pass` names.
  bool Vetoed(const IRModule& module, const PassInfo& info) const;

  /// The innermost context entered in this thread, or a default one.
  static PassContext& Current();

  /// Makes `context` current while it lives; enters and exits its instruments.
  class Scope {
   public:
    explicit Scope(PassContext context);
    ~Scope() noexcept(false);
    Scope(const Scope&) = delete;
    PassContext& context() { return *context_; }
    /// Exits the instruments and enters others in their place, by the same rules.
    void OverrideInstruments(std::vector<std::shared_ptr<PassInstrument>> instruments);

   private:
    void Enter();
    /// The first error, if any.
    std::exception_ptr Exit();
    std::unique_ptr<PassContext> context_;
  };

  /// The keys that were set.
  const std::map<std::string, Any>& config() const { return config_; }

 private:
  std::map<std::string, Any> config_;
};

/// What reproduces an internal error: `passes` (as `deuteron opt --passes` reads them) on `module` in `context`.
/// Carried by the error.
class PassFailureNode : public Object {
 public:
  IRModule module;
  /// The pass that failed, then those that a Sequential would have run after it.
  std::vector<std::string> passes;
  /// Without instruments.
  PassContext context;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("deuteron.transform.PassFailure", PassFailureNode, Object);
};
class PassFailure : public ObjectRef {
 public:
  /// What `error` carries; null if nothing.
  static PassFailure Of(const ffi::Error& error);
  DEUTERON_REF(PassFailure, ObjectRef, PassFailureNode);
};

/// Every configuration key: name, type, default, one line of description.
struct ConfigKey {
  const char* name;
  enum Type { kInt, kBool, kString } type;
  int64_t int_default;
  const char* string_default;
  const char* description;
};
const std::vector<ConfigKey>& ConfigKeys();
/// Adds a key of a pass from outside of the library; once, before it is used. A UsageError if there is one of
/// that name. The strings must outlive the process's use of passes.
void RegisterConfigKey(const ConfigKey& key);

}  // namespace deuteron::transform
