/// \file
/// The object model: tvm-ffi's reference-counted objects, containers and reflection, under the names
/// that this project uses, and the few helpers that every node needs.
///
/// A node class (`AddNode`) holds the fields; a reference class (`Add`) is a nullable, shared, immutable
/// handle to it. Nodes are never modified once shared; `CopyOnWrite` gives a private copy to modify.
#pragma once

#include <tvm/ffi/any.h>
#include <tvm/ffi/cast.h>
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/map.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/structural_equal.h>
#include <tvm/ffi/extra/structural_hash.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/object.h>
#include <tvm/ffi/optional.h>
#include <tvm/ffi/reflection/registry.h>
#include <tvm/ffi/string.h>

#include <atomic>
#include <utility>

#include "deuteron/support/error.h"

namespace deuteron {

using tvm::ffi::Any;
using tvm::ffi::AnyView;
using tvm::ffi::Array;
using tvm::ffi::GetRef;
using tvm::ffi::Map;
using tvm::ffi::Object;
using tvm::ffi::ObjectPtr;
using tvm::ffi::ObjectPtrEqual;
using tvm::ffi::ObjectPtrHash;
using tvm::ffi::ObjectRef;
using tvm::ffi::Optional;
using tvm::ffi::String;
using tvm::ffi::StructuralEqual;
using tvm::ffi::StructuralHash;
using tvm::ffi::Tensor;
namespace ffi = tvm::ffi;
namespace refl = tvm::ffi::reflection;

/// What tells reflection of node classes (DEUTERON_REFLECTION). It is done before the first node is made, and not as
/// the library is opened: who runs a compiled model makes none, and it takes as long as to open the library does.
class NodeReflection {
 public:
  /// A static object: `tell` is called then, in the order of these objects.
  explicit NodeReflection(void (*tell)());
  /// Whoever asks reflection of a class without a node of any class calls this first.
  static void Complete() {
    if (pending_.load(std::memory_order_acquire) != nullptr) TellPending();
  }

 private:
  static void TellPending();

  static constinit std::atomic<NodeReflection*> pending_;
  void (*const tell_)();
  NodeReflection* next_ = nullptr;
};

template <typename Node, typename... Args>
ObjectPtr<Node> MakeNode(Args&&... args) {
  NodeReflection::Complete();
  return tvm::ffi::make_object<Node>(std::forward<Args>(args)...);
}

/// The empty Array or Map, of any element type. All that are made from it share one object until they are written to; a
/// default-constructed container allocates one of its own, with room for four elements. Fields of nodes begin as this.
struct EmptyContainer {
  template <typename T>
  operator Array<T>() const {  // NOLINT(google-explicit-constructor)
    static const auto* const empty = new Array<T>();
    return *empty;
  }
  template <typename K, typename V>
  operator Map<K, V>() const {  // NOLINT(google-explicit-constructor)
    static const auto* const empty = new Map<K, V>();
    return *empty;
  }
};
inline constexpr EmptyContainer kEmpty;

/// A node of `*ref` that nobody else sees: the node itself if `*ref` is its only reference, else a copy
/// that `*ref` then refers to.
template <typename Ref>
typename Ref::ContainerType* CopyOnWrite(Ref* ref) {
  using Node = typename Ref::ContainerType;
  if (!ref->unique()) *ref = Ref(MakeNode<Node>(*ref->get()));
  return const_cast<Node*>(ref->get());
}

/// `ref` viewed as another reference class; null if it is not of that class.
template <typename Ref>
Ref As(const ObjectRef& ref) {
  const auto* node = ref.as<typename Ref::ContainerType>();
  return node == nullptr ? Ref() : GetRef<Ref>(node);
}

/// `ref` viewed as another reference class; an InternalError if it is not of that class.
template <typename Ref>
Ref Downcast(const ObjectRef& ref) {
  const auto* node = ref.as<typename Ref::ContainerType>();
  TVM_FFI_CHECK(node != nullptr, InternalError) << "expected a " << Ref::ContainerType::_type_key << ", got "
                                                << (ref.defined() ? ref.GetTypeKey() : std::string("null"));
  return GetRef<Ref>(node);
}

}  // namespace deuteron

/// Begins a block that calls RegisterReflection of node classes.
#define DEUTERON_REFLECTION() DEUTERON_REFLECTION_BLOCK(TVM_FFI_STR_CONCAT(TellReflection, __COUNTER__))
#define DEUTERON_REFLECTION_BLOCK(Tell)                                                   \
  static void Tell();                                                                     \
  static ::deuteron::NodeReflection TVM_FFI_STR_CONCAT(reflection, __COUNTER__){&(Tell)}; \
  static void Tell()

/// In a concrete node class: its registered name, and the declaration of its reflection.
#define DEUTERON_NODE(TypeKey, Node, Parent) \
  static void RegisterReflection();          \
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL(TypeKey, Node, Parent)

/// The same for a class that others derive from.
#define DEUTERON_BASE_NODE(TypeKey, Node, Parent) TVM_FFI_DECLARE_OBJECT_INFO(TypeKey, Node, Parent)

/// In a reference class: construction from a node, `->`, `get()`, null by default.
#define DEUTERON_REF(Ref, Parent, Node) TVM_FFI_DEFINE_OBJECT_REF_METHODS_NULLABLE(Ref, Parent, Node)

/// How a node takes part in structural equality and hashing.
#define DEUTERON_TREE_NODE static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindTreeNode;
#define DEUTERON_VAR_NODE static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindFreeVar;
#define DEUTERON_DAG_NODE static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindDAGNode;
#define DEUTERON_UNIQUE_NODE static constexpr TVMFFISEqHashKind _type_s_eq_hash_kind = kTVMFFISEqHashKindUniqueInstance;
