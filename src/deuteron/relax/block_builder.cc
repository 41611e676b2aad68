#include "deuteron/relax/block_builder.h"

#include "deuteron/relax/block_builder_impl.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

/// The name of a variable that is bound. A hint of several words is no name: it says in errors of the run what the
/// value is, and is kept as it is.
std::string VarName(BlockBuilder* builder, const std::string& hint, bool is_dataflow) {
  if (hint.find(' ') != std::string::npos) return hint;
  return builder->UniqueName(!hint.empty() ? hint : is_dataflow ? "lv" : "gv");
}

}  // namespace

std::string NameTable::Unique(const std::string& hint) {
  const auto [count, is_new] = Ask(hint);
  if (is_new) return hint;
  for (int number = count->value;;) {
    std::string name = hint + std::to_string(number++);
    if (!Ask(name).second) continue;
    used_.Find(Hash(hint))->value = number;
    return name;
  }
}

void BlockBuilder::Impl::DefineSymbols(const Type& type) {
  if (!type.defined()) return;
  for (const tir::Var& var : SymbolicVars(type)) {
    if (known_symbols.Insert(var.get())) analyzer.MarkNonNegative(var);
  }
}

BlockBuilder::Impl::BlockFrame& BlockBuilder::Impl::Frame() {
  if (frames.empty() && function != nullptr) {
    frames.emplace_back();
    function->in_implicit_block = true;
  }
  if (frames.empty()) {
    DEUTERON_THROW(ModelError) << "a binding is emitted outside of any function or binding block";
  }
  return frames.back();
}

void BlockBuilder::Impl::AppendBinding(const Binding& binding, const Expr& value) {
  Frame().bindings.push_back(binding);
  bindings[binding->var.get()] = value;
}

void BlockBuilder::Impl::CloseImplicitBlock() {
  if (function == nullptr || !function->in_implicit_block) return;
  DEUTERON_CHECK(frames.size() == 1) << "a binding block was not ended";
  auto& bindings = frames.back().bindings;
  if (!bindings.empty()) function->blocks.push_back(BindingBlock(Array<Binding>(bindings.begin(), bindings.end())));
  frames.pop_back();
  function->in_implicit_block = false;
}

BlockBuilder::BlockBuilder(IRModule module) : impl_(std::make_unique<Impl>(std::move(module))) {
  for (const auto& [name, var] : impl_->module->global_vars) impl_->global_names.Reserve(std::string(name));
}
BlockBuilder::~BlockBuilder() = default;
BlockBuilder::BlockBuilder(BlockBuilder&&) noexcept = default;

GlobalVar BlockBuilder::BuildFunction(const std::string& name, const Array<Var>& params,
                                      const std::function<void()>& body, DictAttrs attrs, bool is_private) {
  if (impl_->function != nullptr || !impl_->frames.empty()) {
    DEUTERON_THROW(ModelError) << "function " << name << " is built inside another function or block";
  }
  /// Leaves the builder as it was, whether `body` returns or throws.
  struct Guard {
    BlockBuilder* builder;
    ~Guard() {
      builder->impl_->frames.clear();
      builder->impl_->function.reset();
      builder->impl_->scope_depth = 1;
      builder->EndScope();
    }
  };
  impl_->function = std::make_unique<Impl::FunctionFrame>();
  impl_->function->params = params;
  const Guard guard{this};
  BeginScope(params);
  body();
  if (!impl_->function->output.defined()) {
    DEUTERON_THROW(ModelError) << "function " << name << " has no output; call EmitFuncOutput";
  }
  const Expr output = impl_->function->output;
  std::unordered_set<const Object*> own;
  for (const Var& param : params) {
    for (const tir::Var& var : SymbolicVars(param.ty())) own.insert(var.get());
  }
  const Type ret_ty = EraseToWellDefined(output.ty(), [&](const tir::Var& var) { return own.count(var.get()) != 0; });
  const auto& blocks = impl_->function->blocks;
  SeqExpr seq(Array<BindingBlock>(blocks.begin(), blocks.end()), output);
  const std::string unique = impl_->global_names.Unique(name);
  if (!is_private) attrs = DictAttrs::With(std::move(attrs), "global_symbol", String(unique));
  Function func(params, seq, ret_ty, /*is_pure=*/true, std::move(attrs));
  GlobalVar var{String(unique), func.ty()};
  impl_->module.Update(var, func);
  return var;
}

void BlockBuilder::Dataflow(const std::function<void()>& body) {
  impl_->CloseImplicitBlock();
  const size_t depth = impl_->frames.size();
  BeginDataflowBlock();
  try {
    body();
  } catch (...) {
    impl_->frames.resize(depth);
    throw;
  }
  const BindingBlock block = EndBlock();
  if (impl_->function == nullptr) {
    DEUTERON_THROW(ModelError) << "Dataflow() is for functions opened by BuildFunction; use BeginDataflowBlock";
  }
  if (!block->bindings.empty()) impl_->function->blocks.push_back(block);
}

void BlockBuilder::BeginDataflowBlock() {
  if (InDataflowBlock()) DEUTERON_THROW(ModelError) << "a dataflow block inside a dataflow block";
  impl_->frames.emplace_back();
  impl_->frames.back().is_dataflow = true;
}

void BlockBuilder::BeginBindingBlock() { impl_->frames.emplace_back(); }

BindingBlock BlockBuilder::EndBlock() {
  if (impl_->frames.empty()) DEUTERON_THROW(ModelError) << "EndBlock without a block";
  Impl::BlockFrame frame = std::move(impl_->frames.back());
  impl_->frames.pop_back();
  Array<Binding> bindings(frame.bindings.begin(), frame.bindings.end());
  if (frame.is_dataflow) return DataflowBlock(std::move(bindings));
  return BindingBlock(std::move(bindings));
}

void BlockBuilder::BeginScope(const Array<Var>& params) {
  ++impl_->scope_depth;
  for (const Var& param : params) {
    impl_->names.Reserve({param->name_hint.data(), param->name_hint.size()});
    impl_->DefineSymbols(param.ty());
  }
}

void BlockBuilder::EndScope() {
  DEUTERON_CHECK(impl_->scope_depth > 0) << "EndScope without BeginScope";
  if (--impl_->scope_depth > 0) return;
  impl_->names.Clear();
  impl_->bindings.Clear();
}

bool BlockBuilder::InDataflowBlock() const { return !impl_->frames.empty() && impl_->frames.back().is_dataflow; }

Var BlockBuilder::Emit(const Expr& expr, const std::string& name_hint, Span span) {
  const Expr value = Normalizer(this).Value(expr);
  if (!span.defined()) span = expr->span;
  const bool is_dataflow = impl_->Frame().is_dataflow;
  std::string name = VarName(this, name_hint, is_dataflow);
  Var var = is_dataflow ? Var(DataflowVar(std::move(name), value.ty(), span)) : Var(std::move(name), value.ty(), span);
  impl_->AppendBinding(VarBinding(var, value, std::move(span)), value);
  return var;
}

Var BlockBuilder::EmitOutput(const Expr& expr, const std::string& name_hint, Span span) {
  if (!InDataflowBlock()) DEUTERON_THROW(ModelError) << "EmitOutput outside of a dataflow block";
  const Expr value = Normalizer(this).Value(expr);
  if (!span.defined()) span = expr->span;
  Var var(UniqueName(name_hint.empty() ? "gv" : name_hint), value.ty(), span);
  impl_->AppendBinding(VarBinding(var, value, std::move(span)), value);
  return var;
}

Var BlockBuilder::EmitMatchCast(const Expr& expr, const Type& ty, const std::string& name_hint, Span span) {
  const Expr value = Normalizer(this).Leaf(expr);
  if (!MayBe(ty, value.ty(), &impl_->analyzer)) {
    DEUTERON_THROW(ModelError) << "match_cast of a value of type " << Describe(value.ty()) << " to " << Describe(ty)
                               << ", which it can never be";
  }
  impl_->DefineSymbols(ty);
  const bool is_dataflow = impl_->Frame().is_dataflow;
  std::string name = VarName(this, name_hint, is_dataflow);
  Var var = is_dataflow ? Var(DataflowVar(std::move(name), ty, span)) : Var(std::move(name), ty, span);
  // What is bound is a value of a narrower type: it is not looked through.
  impl_->Frame().bindings.push_back(MatchCast(var, value, ty, std::move(span)));
  return var;
}

void BlockBuilder::EmitNormalized(const Binding& binding) {
  const String& name = binding->var->name_hint;
  impl_->names.Reserve({name.data(), name.size()});
  if (const auto* cast = binding.as<MatchCastNode>()) {
    const Expr value = Normalizer(this).Leaf(cast->value);
    impl_->DefineSymbols(cast->ty);
    if (!binding->var.ty().defined()) binding->var->ty = cast->ty;
    if (value.same_as(cast->value)) {
      impl_->Frame().bindings.push_back(binding);
    } else {
      impl_->Frame().bindings.push_back(MatchCast(binding->var, value, cast->ty, binding->span));
    }
    return;
  }
  const auto* original = binding.as<VarBindingNode>();
  DEUTERON_CHECK(original != nullptr) << "an unknown kind of binding";
  const Expr value = Normalizer(this).Value(original->value);
  if (!binding->var.ty().defined()) binding->var->ty = value.ty();
  if (value.same_as(original->value)) {
    impl_->AppendBinding(binding, value);
  } else {
    impl_->AppendBinding(VarBinding(binding->var, value, binding->span), value);
  }
}

void BlockBuilder::EmitFuncOutput(const Expr& output) {
  if (impl_->function == nullptr) DEUTERON_THROW(ModelError) << "EmitFuncOutput outside of a function";
  if (InDataflowBlock()) DEUTERON_THROW(ModelError) << "EmitFuncOutput inside a dataflow block";
  if (impl_->function->output.defined()) DEUTERON_THROW(ModelError) << "a second EmitFuncOutput";
  const Expr leaf = Normalizer(this).Leaf(output);
  impl_->CloseImplicitBlock();
  impl_->function->output = leaf;
}

Expr BlockBuilder::Normalize(const Expr& expr) { return Normalizer(this).Value(expr); }

Expr BlockBuilder::LookupBinding(const Var& var) const {
  const Expr* value = impl_->bindings.Find(var.get());
  return value == nullptr ? Expr() : *value;
}

const IRModule& BlockBuilder::module() const { return impl_->module; }

IRModule BlockBuilder::Finalize() {
  IRModule module = std::move(impl_->module);
  impl_ = std::make_unique<Impl>(IRModule::Empty());
  return module;
}

std::string BlockBuilder::UniqueName(const std::string& prefix) { return impl_->names.Unique(prefix); }
arith::Analyzer& BlockBuilder::analyzer() const { return impl_->analyzer; }

}  // namespace deuteron::relax
