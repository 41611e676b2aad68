/// \file
/// Attributes: of operators (one class an attribute set, reflected field by field) and of functions and
/// modules (a dictionary).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "deuteron/ir/object.h"

namespace deuteron {

/// Base of the attribute sets of operators. A field declared by reflection is printed, parsed, compared
/// and hashed without further code; fields print in order of declaration as `name=value`.
class AttrsNode : public Object {
 public:
  DEUTERON_TREE_NODE
  DEUTERON_BASE_NODE("deuteron.Attrs", AttrsNode, Object);
};
class Attrs : public ObjectRef {
 public:
  DEUTERON_REF(Attrs, ObjectRef, AttrsNode);
};

/// Attributes by name. Values: integers, floats, booleans, strings, arrays, maps, objects.
class DictAttrsNode : public AttrsNode {
 public:
  Map<String, Any> dict = kEmpty;
  DEUTERON_NODE("deuteron.DictAttrs", DictAttrsNode, AttrsNode);
};
class DictAttrs : public Attrs {
 public:
  explicit DictAttrs(Map<String, Any> dict);
  /// The value of `key`, if there is one. \throws ModelError if it is of another type.
  template <typename T>
  std::optional<T> Get(std::string_view key) const {
    if (!defined()) return std::nullopt;
    auto it = get()->dict.find(String(key.data(), key.size()));
    if (it == get()->dict.end()) return std::nullopt;
    const Any value = (*it).second;
    auto typed = value.template try_cast<T>();
    if (!typed.has_value()) ThrowType(key, value, tvm::ffi::TypeTraits<T>::TypeStr());
    return *std::move(typed);
  }
  /// `attrs` (may be null) with a key set.
  static DictAttrs With(DictAttrs attrs, const String& key, Any value);
  static DictAttrs Without(DictAttrs attrs, const String& key);
  DEUTERON_REF(DictAttrs, Attrs, DictAttrsNode);

 private:
  [[noreturn]] static void ThrowType(std::string_view key, const Any& value, const std::string& wanted);
};

}  // namespace deuteron

/// The reference class of an attribute class `NameNode`.
#define DEUTERON_ATTRS_REF(Name)                       \
  class Name : public ::deuteron::Attrs {              \
   public:                                             \
    DEUTERON_REF(Name, ::deuteron::Attrs, Name##Node); \
  };
