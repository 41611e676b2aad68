#include "deuteron/ir/module.h"

#include <tvm/ffi/reflection/access_path.h>

#include <string>

namespace deuteron {

DictAttrs::DictAttrs(Map<String, Any> dict) {
  auto node = MakeNode<DictAttrsNode>();
  node->dict = std::move(dict);
  data_ = std::move(node);
}

void DictAttrs::ThrowType(std::string_view key, const Any& value, const std::string& wanted) {
  DEUTERON_THROW(ModelError) << "attribute \"" << key << "\" is of type " << value.GetTypeKey() << "; " << wanted
                             << " is expected";
}

DictAttrs DictAttrs::With(DictAttrs attrs, const String& key, Any value) {
  if (!attrs.defined()) attrs = DictAttrs(kEmpty);
  CopyOnWrite(&attrs)->dict.Set(key, std::move(value));
  return attrs;
}

DictAttrs DictAttrs::Without(DictAttrs attrs, const String& key) {
  if (!attrs.defined() || attrs->dict.count(key) == 0) return attrs;
  auto* node = CopyOnWrite(&attrs);
  node->dict.erase(key);
  if (node->dict.empty()) return DictAttrs();
  return attrs;
}

GlobalVar::GlobalVar(String name_hint, Type ty) {
  auto node = MakeNode<GlobalVarNode>();
  node->name_hint = std::move(name_hint);
  node->ty = std::move(ty);
  data_ = std::move(node);
}

IRModule IRModule::Empty() { return IRModule(MakeNode<IRModuleNode>()); }

GlobalVar IRModule::FindGlobalVar(std::string_view name) const {
  auto it = get()->global_vars.find(String(name.data(), name.size()));
  return it == get()->global_vars.end() ? GlobalVar() : (*it).second;
}

GlobalVar IRModule::GetGlobalVar(std::string_view name) const {
  GlobalVar var = FindGlobalVar(name);
  if (var.defined()) return var;
  std::string known;
  int listed = 0;
  for (const auto& [existing, unused] : get()->global_vars) {
    if (++listed > 16) {
      known += ", ...";
      break;
    }
    known += (known.empty() ? "" : ", ") + std::string(existing);
  }
  DEUTERON_THROW(ModelError) << "the module has no function \"" << std::string(name) << "\"; it has: " << known;
}

BaseFunc IRModule::Lookup(const GlobalVar& var) const {
  auto it = get()->functions.find(var);
  if (it == get()->functions.end()) return Lookup(std::string(var->name_hint));
  return (*it).second;
}

BaseFunc IRModule::Lookup(std::string_view name) const { return get()->functions.at(GetGlobalVar(name)); }

GlobalVar IRModule::AddUnique(std::string_view name, BaseFunc func) {
  std::string unique(name);
  for (int suffix = 1; FindGlobalVar(unique).defined(); ++suffix) {
    unique = std::string(name) + "_" + std::to_string(suffix);
  }
  GlobalVar var{String(unique)};
  Update(var, std::move(func));
  return var;
}

void IRModule::Update(const GlobalVar& var, BaseFunc func) {
  auto* node = CopyOnWrite(this);
  const GlobalVar existing = FindGlobalVar(std::string(var->name_hint));
  DEUTERON_CHECK(!existing.defined() || existing.same_as(var)) << "two global variables named " << var->name_hint;
  var->ty = func->ty;
  if (!existing.defined()) node->global_vars.Set(var->name_hint, var);
  node->functions.Set(var, std::move(func));
}

void IRModule::Remove(const GlobalVar& var) {
  auto* node = CopyOnWrite(this);
  node->functions.erase(var);
  node->global_vars.erase(var->name_hint);
}

namespace {

/// Modules are equal if they have the same names and equal functions under them, whatever the order.
bool ModulesEqual(const Object* lhs, const Object* rhs,
                  const ffi::TypedFunction<bool(AnyView, AnyView, int, AnyView)>& equal) {
  const auto* a = static_cast<const IRModuleNode*>(lhs);
  const auto* b = static_cast<const IRModuleNode*>(rhs);
  if (a->functions.size() != b->functions.size()) return false;
  if (!equal(a->attrs, b->attrs, 0, "attrs") || !equal(a->global_infos, b->global_infos, 0, "global_infos")) {
    return false;
  }
  for (const auto& [var, func] : a->functions) {
    auto it = b->global_vars.find(var->name_hint);
    if (it == b->global_vars.end()) return false;
    if (!equal(func, b->functions.at((*it).second), 0, var->name_hint)) return false;
  }
  return true;
}

int64_t HashModule(const Object* object, int64_t init_hash,
                   const ffi::TypedFunction<int64_t(AnyView, int64_t, int)>& hash) {
  const auto* module = static_cast<const IRModuleNode*>(object);
  uint64_t sum = 0;  // order independent
  for (const auto& [var, func] : module->functions) sum += static_cast<uint64_t>(hash(func, hash(var, 0, 0), 0));
  return init_hash ^ static_cast<int64_t>(sum * 0x9E3779B97F4A7C15ULL);
}

}  // namespace

void IRModuleNode::RegisterReflection() {
  refl::ObjectDef<IRModuleNode>()
      .def_ro("functions", &IRModuleNode::functions)
      .def_ro("attrs", &IRModuleNode::attrs)
      .def_ro("global_infos", &IRModuleNode::global_infos);
  refl::TypeAttrDef<IRModuleNode>().def("__s_equal__", &ModulesEqual).def("__s_hash__", &HashModule);
}

bool StructurallyEqual(const ObjectRef& a, const ObjectRef& b, bool map_free_vars) {
  return StructuralEqual::Equal(a, b, map_free_vars);
}

std::string FirstMismatch(const ObjectRef& a, const ObjectRef& b, bool map_free_vars) {
  const auto mismatch = StructuralEqual::GetFirstMismatch(a, b, map_free_vars);
  if (!mismatch.has_value()) return "";
  std::string path;
  for (const auto& step : (*mismatch).get<0>()->ToSteps()) {
    if (const auto name = step->key.as<String>()) {
      path += "." + std::string(*name);
    } else if (const auto index = step->key.as<int64_t>()) {
      path += "[" + std::to_string(*index) + "]";
    } else {
      path += "[" + step->key.GetTypeKey() + "]";
    }
  }
  return path;
}

}  // namespace deuteron
