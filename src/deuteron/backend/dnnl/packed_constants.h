/// \file
/// Constants as the primitives of plans want them.
#pragma once

#include <cstdint>
#include <dnnl.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "deuteron/runtime/plugin.h"

namespace deuteron::backend::dnnl {

using ::dnnl::memory;

/// Constants in the layouts that primitives asked for, shared by all plans of a function. A constant is known by where
/// the executable holds it.
class PackedConstants {
 public:
  explicit PackedConstants(const DeuteronHost* host) : host_(host) {}

  /// What plans made of a constant: what they saw in it, and how they wanted that to lie.
  struct Layouts {
    memory::desc from, to;
  };

  /// Says that the executable holds the constant at `data` in the layout `to` already.
  void Hold(const void* data, const Layouts& layouts) { held_.insert_or_assign(data, Held{layouts, {}}); }
  /// The constant, described by `from`, as `to`: from MakeCopies() on.
  memory Get(const void* data, const memory::desc& from, const memory::desc& to);
  /// The constant of so many bytes, described plainly: from MakeCopies() on.
  const void* Plain(const void* data, size_t bytes);
  /// Adds a copy to those that MakeCopies() makes.
  void CopyLater(const memory& from, const memory& to) { copies_.emplace_back(from, to); }
  /// In the order in which they were asked for. Plans are described first, since copies use all threads.
  void MakeCopies();
  /// A constant as plans want it.
  struct Packed {
    const void* data;
    memory::desc from;
    memory object;
    /// What it lies in, in huge pages if it is large; null if that is the executable's.
    std::shared_ptr<void> storage;
  };
  /// The one that all plans so far want of a constant; null if they differ or want it plainly.
  const Packed* Sole(const void* data) const;

 private:
  struct Held {
    Layouts layouts;
    /// As it was before, where some plan wants that.
    std::optional<memory> plain;
  };
  const void* PlainOrHeld(const void* data);
  /// Memory for a constant. Throws a MemoryError.
  std::shared_ptr<void> Allocate(size_t bytes) const;
  /// One of all copies: the system clears memory that it gives anew.
  struct Buffer {
    std::shared_ptr<void> memory;
    size_t bytes = 0;
  };
  /// What lies anywhere; a part at a time is copied to `buffer`, where oneDNN may read it.
  void CopyInParts(::dnnl::stream* stream, Buffer* buffer, const memory& from, const memory& to) const;
  /// Of bytes that may lie anywhere, a copy that is aligned.
  std::shared_ptr<void> AlignedCopy(const void* data, size_t bytes) const;

  const DeuteronHost* host_;
  std::map<const void*, Held> held_;
  std::vector<Packed> packed_;
  std::set<const void*> used_plainly_;
  std::map<const void*, std::shared_ptr<void>> aligned_;
  std::vector<std::pair<memory, memory>> copies_;
};

}  // namespace deuteron::backend::dnnl
