/// \file
/// Walking over arrays without counting references. An Array keeps its elements as Any and hands out each as a
/// reference of its own: two atomic operations an element, which is most of what a walk over a large graph does.
#pragma once

#include <cstring>

#include "deuteron/ir/object.h"

namespace deuteron {

/// `for (const Ref& element : Borrow(array))`: the elements of an array that outlives the loop and does not change in
/// it. What is to be kept must be copied; an element is valid until the next one.
template <typename Ref>
class BorrowedArray {
 public:
  explicit BorrowedArray(const Array<Ref>& array) : elements_(static_cast<const ffi::ArrayObj*>(array.get())) {}

  class Iterator {
   public:
    explicit Iterator(const Any* at) : at_(at) {}
    const Ref& operator*() {
      // A reference is a pointer to its node; this one is neither counted nor released.
      const Object* node = at_->as<Object>();
      std::memcpy(static_cast<void*>(&holder_.ref), &node, sizeof(node));  // NOLINT(bugprone-sizeof-expression)
      return holder_.ref;
    }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    static_assert(sizeof(Ref) == sizeof(const Object*));
    union Holder {
      Holder() : none(nullptr) {}
      Holder(const Holder& other) : none(other.none) {}
      Holder& operator=(const Holder& other) = delete;
      ~Holder() {}
      const Object* none;
      Ref ref;
    };
    const Any* at_;
    Holder holder_;
  };

  Iterator begin() const { return Iterator(elements_ == nullptr ? nullptr : elements_->begin()); }
  Iterator end() const { return Iterator(elements_ == nullptr ? nullptr : elements_->end()); }

 private:
  const ffi::ArrayObj* elements_;
};

template <typename Ref>
BorrowedArray<Ref> Borrow(const Array<Ref>& array) {
  return BorrowedArray<Ref>(array);
}

}  // namespace deuteron
