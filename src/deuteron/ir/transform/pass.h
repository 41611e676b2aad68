/// \file
/// Passes from module to module, and the context they run in.
///
/// Rules (each tested in pass_test.cc):
///  - `pass(module)` runs the pass in `PassContext::Current()`.
///  - A Sequential runs each of its passes that the context enables: disabled_pass beats required_pass beats
///    opt_level; the passes that one requires run before it each time.
///  - A pass called by itself runs whatever its opt_level.
///  - Instruments: enter/exit with the context; `ShouldRun` may veto a pass that is not required; before and
///    after run around each pass. If an instrument's enter or exit throws, all instruments are cleared and
///    those entered are exited.
///  - An unknown configuration key, or a value of the wrong type, is a UsageError that lists the known keys.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
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
};

class PassContext;

class PassNode : public Object {
 public:
  PassInfo info;
  virtual IRModule Run(IRModule module, const PassContext& context) const = 0;
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

/// A pass from a function over whole modules.
Pass ModulePass(PassInfo info, std::function<IRModule(IRModule, const PassContext&)> body);

/// A list of passes run in order; see the rules above.
class SequentialNode : public PassNode {
 public:
  std::vector<Pass> passes;
  IRModule Run(IRModule module, const PassContext& context) const override;
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

   private:
    std::unique_ptr<PassContext> context_;
  };

 private:
  std::map<std::string, Any> config_;
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

}  // namespace deuteron::transform
