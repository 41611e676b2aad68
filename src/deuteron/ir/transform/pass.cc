#include "deuteron/ir/transform/pass.h"

#include <algorithm>
#include <exception>

namespace deuteron::transform {
namespace {

class ModulePassNode : public PassNode {
 public:
  std::function<IRModule(IRModule, const PassContext&)> body;
  IRModule Run(IRModule module, const PassContext& context) const override {
    return body(std::move(module), context);
  }
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("deuteron.transform.ModulePass", ModulePassNode, PassNode);
};

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
  for (const auto& instrument : context.instruments) instrument->RunBeforePass(module, info);
  module = get()->Run(std::move(module), context);
  DEUTERON_CHECK(module.defined()) << "pass " << info.name << " returned no module";
  for (const auto& instrument : context.instruments) instrument->RunAfterPass(module, info);
  return module;
}

Pass ModulePass(PassInfo info, std::function<IRModule(IRModule, const PassContext&)> body) {
  auto node = make_object<ModulePassNode>();
  node->info = std::move(info);
  node->body = std::move(body);
  return Pass(std::move(node));
}

Sequential::Sequential(std::vector<Pass> passes, std::string name) {
  auto node = make_object<SequentialNode>();
  node->info.name = std::move(name);
  node->info.is_sequence = true;
  node->passes = std::move(passes);
  data_ = std::move(node);
}

IRModule SequentialNode::Run(IRModule module, const PassContext& context) const {
  for (const Pass& pass : passes) {
    if (!context.Enabled(pass->info)) continue;
    for (const std::string& name : pass->info.required) {
      if (!context.find_pass) {
        DEUTERON_THROW(UsageError) << "pass " << pass->info.name << " requires " << name
                                   << ", but the context knows no pass by name; set PassContext::find_pass";
      }
      module = context.find_pass(name)(std::move(module), context);
    }
    module = pass(std::move(module), context);
  }
  return module;
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
  auto& instruments = context_->instruments;
  ContextStack().push_back(context_.get());
  size_t entered = 0;
  try {
    for (; entered < instruments.size(); ++entered) instruments[entered]->EnterContext();
  } catch (...) {
    const std::exception_ptr first = std::current_exception();
    for (size_t i = 0; i < entered; ++i) {
      try {
        instruments[i]->ExitContext();
      } catch (...) {  // the first error is the one to report
      }
    }
    instruments.clear();
    ContextStack().pop_back();
    std::rethrow_exception(first);
  }
}

PassContext::Scope::~Scope() noexcept(false) {
  const bool unwinding = std::uncaught_exceptions() > 0;
  std::exception_ptr first;
  for (const auto& instrument : context_->instruments) {
    try {
      instrument->ExitContext();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  context_->instruments.clear();
  ContextStack().pop_back();
  if (first && !unwinding) std::rethrow_exception(first);
}

}  // namespace deuteron::transform
