#include "deuteron/ir/transform/pass.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include "deuteron/support/error.h"
#include "deuteron/support/limits.h"

namespace deuteron::transform {
namespace {

class ModulePassNode : public PassNode {
 public:
  std::function<void(IRModule*, const PassContext&)> body;
  void Run(IRModule* module, const PassContext& context) const override { body(module, context); }
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("deuteron.transform.ModulePass", ModulePassNode, PassNode);
};

PassFailure MakeFailure(const IRModule& module, const PassInfo& info, const PassContext& context) {
  auto failure = MakeNode<PassFailureNode>();
  failure->module = module;
  failure->passes = {info.text()};
  failure->context = context;
  failure->context.instruments.clear();
  return PassFailure(std::move(failure));
}

/// `error`, carrying `failure`.
ffi::Error WithFailure(const ffi::Error& error, const PassFailure& failure) {
  return ffi::Error(error.kind(), error.message(), error.backtrace(), error.cause_chain(), failure);
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The contexts entered in this thread, innermost last.
std::vector<PassContext*>& ContextStack() {
  thread_local std::vector<PassContext*> stack;
  return stack;
}

}  // namespace

IRModule Pass::operator()(IRModule module) const { return (*this)(std::move(module), PassContext::Current()); }

IRModule Pass::operator()(IRModule module, const PassContext& context) const {
  DEUTERON_CHECK(module.defined()) << "pass " << get()->info.name << " given no module";
  const PassInfo& info = get()->info;
  if (context.Vetoed(module, info)) return module;
  const auto run = [&] {
    for (const auto& instrument : context.instruments) instrument->RunBeforePass(module, info);
    get()->Run(&module, context);
    for (const auto& instrument : context.instruments) instrument->RunAfterPass(module, info);
  };
  // The members of a list without a name of its own say themselves what failed.
  if (info.is_sequence && info.invocation.empty()) {
    run();
    return module;
  }
  // What fails on the result of a pass, an instrument, needs what the pass was given.
  const bool is_lost = (info.is_sequence && !info.restartable) || !context.instruments.empty();
  const IRModule given = is_lost ? module : IRModule();
  const auto fail = [&](const ffi::Error& error) {
    return WithFailure(error, MakeFailure(is_lost ? given : module, info, context));
  };
  try {
    CheckBudget(info.name);
    run();
    return module;
  } catch (const ffi::Error& error) {
    if (ExitStatus(error.kind()) != 1 || IsForMemory(error.kind())) throw;
    throw fail(error);
  } catch (const std::logic_error& error) {
    throw fail(ffi::Error("InternalError", error.what(), ""));
  }
}

std::string ClassName(const std::type_info& type) {
  int status = 0;
  char* text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? text : type.name();
  std::free(text);
  name = name.substr(0, name.find('<'));
  const size_t colons = name.rfind("::");
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

PassFailure PassFailure::Of(const ffi::Error& error) {
  const auto context = error.extra_context();
  return context ? As<PassFailure>(*context) : PassFailure();
}

Pass ModulePass(PassInfo info, std::function<IRModule(IRModule, const PassContext&)> body) {
  std::string name = info.name;
  return StepwisePass(std::move(info),
                      [body = std::move(body), name = std::move(name)](IRModule* module, const PassContext& context) {
                        IRModule result = body(*module, context);
                        DEUTERON_CHECK(result.defined()) << "pass " << name << " returned no module";
                        *module = std::move(result);
                      });
}

Pass StepwisePass(PassInfo info, std::function<void(IRModule*, const PassContext&)> body) {
  auto node = MakeNode<ModulePassNode>();
  node->info = std::move(info);
  node->info.restartable = true;
  node->body = std::move(body);
  return Pass(std::move(node));
}

Sequential::Sequential(std::vector<Pass> passes, std::string name) {
  auto node = MakeNode<SequentialNode>();
  node->info.name = std::move(name);
  node->info.is_sequence = true;
  node->passes = std::move(passes);
  data_ = std::move(node);
}

namespace {

/// Runs what `pass` requires, and what that requires in turn. `open`: passes whose requirements are being run.
IRModule RunRequired(const Pass& pass, IRModule module, const PassContext& context, std::vector<std::string>* open) {
  if (pass->info.required.empty()) return module;
  if (!context.find_pass) {
    DEUTERON_THROW(UsageError) << "pass " << pass->info.name << " requires " << pass->info.required[0]
                               << ", but the context knows no pass by name; set PassContext::find_pass";
  }
  open->push_back(pass->info.name);
  for (const std::string& name : pass->info.required) {
    if (Contains(*open, name)) {
      std::string path;
      for (const std::string& step : *open) path += step + " requires ";
      DEUTERON_THROW(UsageError) << "passes require each other: " << path << name;
    }
    const Pass required = context.find_pass(name);
    module = RunRequired(required, std::move(module), context, open);
    module = required(std::move(module), context);
  }
  open->pop_back();
  return module;
}

/// Appends how `pass` is named, or the members of a list that has no name.
void AppendTexts(const Pass& pass, const PassContext& context, std::vector<std::string>* texts) {
  if (!context.Enabled(pass->info)) return;
  const auto* list = pass.as<SequentialNode>();
  if (list == nullptr || !pass->info.invocation.empty()) {
    texts->push_back(pass->info.text());
  } else {
    for (const Pass& member : list->passes) AppendTexts(member, context, texts);
  }
}

}  // namespace

void SequentialNode::Run(IRModule* module, const PassContext& context) const {
  for (size_t i = 0; i < passes.size(); ++i) {
    if (!context.Enabled(passes[i]->info)) continue;
    try {
      std::vector<std::string> open;
      *module = RunRequired(passes[i], std::move(*module), context, &open);
      *module = passes[i](std::move(*module), context);
    } catch (const ffi::Error& error) {
      const PassFailure failure = PassFailure::Of(error);
      if (!failure.defined()) throw;
      *module = failure->module;
      auto extended = MakeNode<PassFailureNode>(*failure.get());
      // A required pass failed: the one that required it follows.
      if (extended->passes.front() != passes[i]->info.text() && !passes[i]->info.is_sequence) {
        extended->passes.push_back(passes[i]->info.text());
      }
      for (size_t j = i + 1; j < passes.size(); ++j) AppendTexts(passes[j], context, &extended->passes);
      throw WithFailure(error, PassFailure(std::move(extended)));
    }
  }
}

bool PassContext::Enabled(const PassInfo& info) const {
  if (Contains(disabled_pass, info.name)) return false;
  if (Contains(required_pass, info.name)) return true;
  return opt_level >= info.opt_level;
}

bool PassContext::Vetoed(const IRModule& module, const PassInfo& info) const {
  if (Contains(required_pass, info.name)) return false;
  // Every instrument is asked, so that those that count passes count all of them.
  bool vetoed = false;
  for (const auto& instrument : instruments) vetoed |= !instrument->ShouldRun(module, info);
  return vetoed;
}

PassContext& PassContext::Current() {
  auto& stack = ContextStack();
  if (!stack.empty()) return *stack.back();
  thread_local PassContext fallback;
  return fallback;
}

PassContext::Scope::Scope(PassContext context) : context_(std::make_unique<PassContext>(std::move(context))) {
  ContextStack().push_back(context_.get());
  try {
    Enter();
  } catch (...) {
    ContextStack().pop_back();
    throw;
  }
}

PassContext::Scope::~Scope() noexcept(false) {
  const bool unwinding = std::uncaught_exceptions() > 0;
  const std::exception_ptr first = Exit();
  ContextStack().pop_back();
  if (first && !unwinding) std::rethrow_exception(first);
}

void PassContext::Scope::OverrideInstruments(std::vector<std::shared_ptr<PassInstrument>> instruments) {
  if (const std::exception_ptr first = Exit()) std::rethrow_exception(first);
  context_->instruments = std::move(instruments);
  Enter();
}

void PassContext::Scope::Enter() {
  auto& instruments = context_->instruments;
  size_t entered = 0;
  try {
    for (; entered < instruments.size(); ++entered) instruments[entered]->EnterContext();
  } catch (...) {
    instruments.resize(entered);
    Exit();  // the first error is the one to report
    throw;
  }
}

std::exception_ptr PassContext::Scope::Exit() {
  std::exception_ptr first;
  for (const auto& instrument : context_->instruments) {
    try {
      instrument->ExitContext();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  context_->instruments.clear();
  return first;
}

}  // namespace deuteron::transform
