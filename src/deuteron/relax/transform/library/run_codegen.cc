/// \file
/// RunCodegen: libraries' generators translate what was marked for them.
///
/// Purpose: every function with the attribute Codegen goes to the generator of the back end that the attribute names;
/// its calls become call_dps_packed of the external function that the executable will hold. What generators return
/// hangs on the module as the attribute `external_mods`, the constants they leave to the executable as
/// `const_name_to_constant`; both add to what is there. Several calls of one function share its translation.
///
/// What it must not do: translate a function that nothing calls any more, or leave calls of one that is gone. Code that
/// cannot run here (the back end's run side is not built in, or its library is missing) is an error here, not at the
/// first run.
///
/// Place: after MergeCompositeFunctions (or FuseOpsByPattern with annotate_codegen), before LegalizeOps.
/// DeadCodeElimination ends it.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/transform/cleanup/passes.h"
#include "deuteron/relax/transform/library/library_codegen.h"
#include "deuteron/relax/transform/library/library_record.h"
#include "deuteron/relax/transform/library/passes.h"

namespace deuteron::relax {
namespace {

constexpr const char* kModules = "external_mods";
constexpr const char* kConstants = "const_name_to_constant";

std::string TextOf(const Map<String, Any>& fields, const char* key) {
  const auto it = fields.find(key);
  if (it == fields.end()) DEUTERON_THROW(ModelError) << "an entry of " << kModules << " has no field \"" << key << "\"";
  return std::string((*it).second.cast<String>());
}

/// The attribute `key` of the module, or an empty T.
template <typename T>
T ModuleAttr(const IRModule& module, const char* key) {
  if (!module->attrs.defined()) return T();
  return module->attrs.Get<T>(key).value_or(T());
}

IRModule WithModules(IRModule module, const Array<Any>& modules) {
  auto* node = CopyOnWrite(&module);
  node->attrs = DictAttrs::With(std::move(node->attrs), kModules, modules);
  return module;
}

bool IsAscii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c != 0 && c < 0x80; });
}

std::string ToHex(const std::string& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const unsigned char c : bytes) {
    hex += kDigits[c >> 4];
    hex += kDigits[c & 15];
  }
  return hex;
}

std::string FromHex(const std::string& hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (hex.size() % 2 != 0 || !std::all_of(hex.begin(), hex.end(), is_digit)) {
    DEUTERON_THROW(ModelError) << "an entry of " << kModules << " has a field \"code_hex\" that is not hexadecimal";
  }
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  return bytes;
}

Map<String, Any> AsMap(const ExternalFunction& function) {
  Array<String> constants;
  for (const std::string& name : function.constants) constants.push_back(name);
  Map<String, Any> fields;
  fields.Set("symbol", String(function.symbol));
  fields.Set("plugin", String(function.plugin));
  // Texts of a module are UTF-8.
  if (IsAscii(function.code)) {
    fields.Set("code", String(function.code));
  } else {
    fields.Set("code_hex", String(ToHex(function.code)));
  }
  fields.Set("constants", constants);
  if (function.packed) {
    Array<Constant> packed;
    for (const Tensor& tensor : *function.packed) packed.push_back(Constant(tensor));
    fields.Set("packed", packed);
  }
  return fields;
}

/// Replaces calls of translated functions.
class CallReplacer : public SeqRewriter {
 public:
  CallReplacer(const std::unordered_map<const Object*, std::string>& symbols) : symbols_(symbols) {}

 private:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const auto* call = BoundValue(binding).as<CallNode>();
    const auto it = call == nullptr ? symbols_.end() : symbols_.find(call->op.get());
    if (it == symbols_.end()) return SeqRewriter::RewriteBinding(binding, out);
    Call replaced = CallDPSPacked(ExternFunc(it->second), Tuple(call->args), call->ty);
    replaced->ty = call->ty;
    replaced->span = call->span;
    out->push_back(WithValue(binding, replaced));
  }

  const std::unordered_map<const Object*, std::string>& symbols_;
};

/// Functions with the attribute Codegen that something else mentions, in the order of the module.
std::vector<std::pair<GlobalVar, Function>> CalledCodegenFunctions(const IRModule& module) {
  std::unordered_set<const Object*> used;
  for (const auto& [var, func] : module->functions) {
    const auto function = As<Function>(func);
    if (!function.defined() || function->GetAttr<String>("Codegen")) continue;
    VisitValues(function->body, [&used](const Expr& value) {
      if (const auto* call = value.as<CallNode>()) used.insert(call->op.get());
    });
  }
  std::vector<std::pair<GlobalVar, Function>> functions;
  for (const auto& [var, func] : module->functions) {
    const auto function = As<Function>(func);
    if (function.defined() && function->GetAttr<String>("Codegen") && used.count(var.get())) {
      functions.emplace_back(var, function);
    }
  }
  return functions;
}

class Runner {
 public:
  Runner(const LibraryLookup& find, const Map<String, Any>& options, const transform::PassContext& context)
      : find_(find), options_(options), context_(context) {}

  IRModule Run(IRModule module) {
    const auto functions = CalledCodegenFunctions(module);
    modules_ = ModuleAttr<Array<Any>>(module, kModules);
    std::map<std::string, std::vector<CodegenRequest>> requests;
    for (const auto& [var, function] : functions) {
      const std::string library(*function->GetAttr<String>("Codegen"));
      if (Find(library, SymbolOf(var, function)).prepare)
        requests[library].push_back(RequestFor(var, function, module));
    }
    for (const auto& [library, of_library] : requests) libraries_.at(library).prepare(of_library);
    for (const auto& [var, function] : functions) Translate(var, function, module);
    fusion::RecordLibraryFunctions(module, translated_, context_.decisions.get());
    CallReplacer replacer(symbols_);
    module = UpdateFunctions(
        std::move(module), [&](const GlobalVar&, const Function& function) { return replacer.RewriteBody(function); });
    // What nothing calls goes with what is translated.
    std::vector<GlobalVar> codegen;
    for (const auto& [var, func] : module->functions) {
      if (func->GetAttr<String>("Codegen")) codegen.push_back(var);
    }
    for (const GlobalVar& var : codegen) module.Remove(var);
    if (modules_.empty()) return module;
    auto constants = ModuleAttr<Map<String, Any>>(module, kConstants);
    for (const auto& [name, constant] : names_.all()) constants.Set(name, constant);
    auto* node = CopyOnWrite(&module);
    node->attrs = DictAttrs::With(std::move(node->attrs), kModules, modules_);
    if (!constants.empty()) node->attrs = DictAttrs::With(std::move(node->attrs), kConstants, constants);
    return module;
  }

 private:
  static std::string SymbolOf(const GlobalVar& var, const Function& function) {
    return std::string(function->GetAttr<String>("global_symbol").value_or(var->name_hint));
  }

  CodegenRequest RequestFor(const GlobalVar& var, const Function& function, const IRModule& module) {
    CodegenRequest request{function, module, SymbolOf(var, function), {}, &names_};
    if (const auto it = options_.find(*function->GetAttr<String>("Codegen")); it != options_.end()) {
      request.options = (*it).second.template cast<Map<String, Any>>();
    }
    return request;
  }

  void Translate(const GlobalVar& var, const Function& function, const IRModule& module) {
    const std::string library(*function->GetAttr<String>("Codegen"));
    const CodegenRequest request = RequestFor(var, function, module);
    const std::string& symbol = request.symbol;
    const LibraryCodegen& codegen = Find(library, symbol);
    const auto failed = [&](const ffi::Error& error) {
      return "function " + symbol + " cannot be translated for the back end \"" + library + "\": " + error.message();
    };
    try {
      ExternalFunction translated = codegen.generate(request);
      DEUTERON_CHECK(translated.symbol == symbol)
          << library << " returned the function " << translated.symbol << " for " << symbol;
      modules_.push_back(AsMap(translated));
    } catch (const ffi::Error& error) {
      throw ffi::Error(error.kind(), failed(error), error.backtrace());
    } catch (const std::exception& error) {
      TVM_FFI_THROW(InternalError) << "function " << symbol << ": the generator of \"" << library
                                   << "\" failed: " << error.what();
    }
    symbols_.emplace(var.get(), symbol);
    translated_.emplace_back(symbol, function);
  }

  const LibraryCodegen& Find(const std::string& library, const std::string& symbol) {
    const auto [it, added] = libraries_.try_emplace(library);
    if (!added) return it->second;
    it->second = find_(library);
    if (!it->second.generate) {
      DEUTERON_THROW(UnsupportedError) << "function " << symbol << ": the back end \"" << library
                                       << "\" has no generator";
    }
    if (const std::string missing = it->second.WhyNot(context_); !missing.empty()) {
      DEUTERON_THROW(UnsupportedError) << "function " << symbol << " is for the back end \"" << library
                                       << "\", which cannot run here: " << missing << "; compile with --backend none";
    }
    return it->second;
  }

  const LibraryLookup& find_;
  const Map<String, Any>& options_;
  const transform::PassContext& context_;
  std::map<std::string, LibraryCodegen> libraries_;
  ConstantNames names_;
  Array<Any> modules_;
  std::unordered_map<const Object*, std::string> symbols_;
  std::vector<std::pair<std::string, Function>> translated_;
};

}  // namespace

std::string ConstantNames::Get(const Constant& constant, const std::string& symbol, const std::string& target) {
  const auto [it, added] = names_.try_emplace(constant.get());
  if (added) {
    it->second = symbol + "_" + target + "_const_" + std::to_string(counts_[symbol]++);
    all_.emplace_back(it->second, constant);
  }
  return it->second;
}

std::vector<ExternalFunction> ExternalFunctions(const IRModule& module) {
  std::vector<ExternalFunction> functions;
  for (const Any& entry : ModuleAttr<Array<Any>>(module, kModules)) {
    const auto fields = entry.cast<Map<String, Any>>();
    const bool is_hex = fields.find("code_hex") != fields.end();
    const std::string code = is_hex ? FromHex(TextOf(fields, "code_hex")) : TextOf(fields, "code");
    ExternalFunction function{TextOf(fields, "symbol"), TextOf(fields, "plugin"), code, {}};
    if (const auto it = fields.find("constants"); it != fields.end()) {
      for (const String& name : (*it).second.cast<Array<String>>()) function.constants.emplace_back(name);
    }
    if (const auto it = fields.find("packed"); it != fields.end()) {
      function.packed.emplace();
      for (const Constant& constant : (*it).second.cast<Array<Constant>>()) function.packed->push_back(constant->data);
      if (function.packed->size() != function.constants.size()) {
        DEUTERON_THROW(ModelError) << "function " << function.symbol << " has other constants than are packed for it";
      }
    }
    functions.push_back(std::move(function));
  }
  return functions;
}

IRModule WithExternalFunctions(IRModule module, const std::vector<ExternalFunction>& functions) {
  if (functions.empty()) return module;
  auto modules = ModuleAttr<Array<Any>>(module, kModules);
  for (const ExternalFunction& function : functions) modules.push_back(AsMap(function));
  return WithModules(std::move(module), modules);
}

IRModule ReplaceExternalFunctions(IRModule module, const std::vector<ExternalFunction>& functions) {
  Array<Any> modules;
  Map<String, Any> constants;
  const auto known = ModuleAttr<Map<String, Any>>(module, kConstants);
  for (const ExternalFunction& function : functions) {
    modules.push_back(AsMap(function));
    if (function.packed) continue;
    for (const std::string& name : function.constants) {
      if (const auto it = known.find(name); it != known.end()) constants.Set(name, (*it).second);
    }
  }
  module = WithModules(std::move(module), modules);
  auto* node = CopyOnWrite(&module);
  node->attrs = DictAttrs::With(std::move(node->attrs), kConstants, constants);
  return module;
}

std::map<std::string, Tensor> ExternalConstants(const IRModule& module) {
  std::map<std::string, Tensor> constants;
  for (const auto& [name, value] : ModuleAttr<Map<String, Any>>(module, kConstants)) {
    constants.emplace(name, value.cast<Constant>()->data);
  }
  return constants;
}

Pass RunCodegen(LibraryLookup find, Map<String, Any> target_options, std::vector<std::string> entry_functions) {
  const auto dead_code = DeadCodeElimination(std::move(entry_functions));
  return transform::ModulePass({.name = "RunCodegen"}, [find = std::move(find), target_options, dead_code](
                                                           IRModule module, const transform::PassContext& context) {
    module = Runner(find, target_options, context).Run(std::move(module));
    dead_code->Run(&module, context);
    return module;
  });
}

}  // namespace deuteron::relax
