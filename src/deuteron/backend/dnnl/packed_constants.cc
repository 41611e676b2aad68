#include "deuteron/backend/dnnl/packed_constants.h"

#include <algorithm>
#include <cstring>

#include "deuteron/backend/dnnl/gomp.h"
#include "deuteron/backend/dnnl/plan.h"
#include "deuteron/support/error.h"

namespace deuteron::backend::dnnl {
namespace {

/// As every element of a constant is.
bool IsAligned(const void* data) { return reinterpret_cast<uintptr_t>(data) % alignof(double) == 0; }

constexpr size_t kBytesOfPart = 4 << 20;

/// The parts along one axis of a tensor, each of which is one run of memory, that are copied into another layout one
/// after the other.
struct PartsOfCopy {
  /// Which may be all there is; and that of the axis.
  int64_t length = 1, extent = 1;

  PartsOfCopy(const memory::desc& from, const memory::desc& to) {
    const memory::dims dims = from.get_dims(), strides = from.get_strides();
    int64_t stride = 0;
    for (size_t dim = 0; dim < dims.size(); ++dim) {
      if (dims[dim] > 1 && strides[dim] > stride) stride = strides[axis_ = dim];
    }
    extent = std::max<int64_t>(dims[axis_], 1);
    slice_ = from.get_size() / static_cast<size_t>(extent);
    // Whole blocks of any layout: of 16, 32, 48 or 64.
    constexpr int64_t kStep = 192;
    length = std::max<int64_t>(static_cast<int64_t>(kBytesOfPart / slice_) / kStep, 1) * kStep;
    // Beside bytes their sums may lie.
    const bool has_sums = from.get_data_type() == memory::data_type::s8;
    const bool is_dense = slice_ == static_cast<size_t>(stride) * memory::data_type_size(from.get_data_type());
    if (length >= extent || has_sums || !is_dense || !Of(to, length, std::min(length, extent - length))) {
      length = extent;
    }
  }
  size_t bytes(int64_t count) const { return static_cast<size_t>(count) * slice_; }
  /// Null where the layout has no such part.
  memory::desc Of(const memory::desc& whole, int64_t first, int64_t count) const {
    memory::dims dims = whole.get_dims(), offsets(dims.size());
    dims[axis_] = count;
    offsets[axis_] = first;
    return whole.submemory_desc(dims, offsets, /*allow_empty=*/true);
  }

 private:
  size_t axis_ = 0;
  /// Bytes of a step along the axis.
  size_t slice_ = 1;
};

}  // namespace

void PackedConstants::MakeCopies() {
  const RegionThreads scope(host_, host_->team_threads());
  ::dnnl::stream stream(Engine());
  Buffer buffer;
  for (auto& [from, to] : copies_) {
    if (IsAligned(from.get_data_handle())) {
      ::dnnl::reorder(from, to).execute(stream, from, to);
      stream.wait();
      host_->let_go(from.get_data_handle(), from.get_desc().get_size());
    } else {
      CopyInParts(&stream, &buffer, from, to);
    }
  }
  scope.Check();
  copies_.clear();
}

void PackedConstants::CopyInParts(::dnnl::stream* stream, Buffer* buffer, const memory& from, const memory& to) const {
  const memory::desc desc = from.get_desc(), to_desc = to.get_desc();
  const PartsOfCopy parts(desc, to_desc);
  if (const size_t needed = parts.bytes(parts.length); needed > buffer->bytes) {
    *buffer = {};
    *buffer = {Allocate(needed), needed};
  }
  const auto* data = static_cast<const char*>(from.get_data_handle());
  for (int64_t first = 0; first < parts.extent; first += parts.length) {
    const int64_t count = std::min(parts.length, parts.extent - first);
    CopyInRegion(buffer->memory.get(), data, parts.bytes(count));
    host_->let_go(data, parts.bytes(count));
    data += parts.bytes(count);
    memory source(parts.Of(desc, 0, count), Engine(), buffer->memory.get());
    memory result(parts.Of(to_desc, first, count), Engine(), to.get_data_handle());
    ::dnnl::reorder(source, result).execute(*stream, source, result);
    stream->wait();
  }
  // What has no parts may be large.
  if (buffer->bytes > 2 * kBytesOfPart) *buffer = {};
}

memory PackedConstants::Get(const void* data, const memory::desc& from, const memory::desc& to) {
  for (const Packed& packed : packed_) {
    if (packed.data == data && packed.from == from && packed.object.get_desc() == to) return packed.object;
  }
  const auto held = held_.find(data);
  if (held != held_.end() && held->second.layouts.from == from && held->second.layouts.to == to) {
    packed_.push_back({data, from, memory(to, Engine(), const_cast<void*>(data)), nullptr});
    return packed_.back().object;
  }
  // oneDNN's own would not lie in huge pages, and not go back to the system.
  const std::shared_ptr<void> storage = Allocate(to.get_size());
  const memory packed(to, Engine(), storage.get());
  CopyLater(memory(from, Engine(), const_cast<void*>(PlainOrHeld(data))), packed);
  packed_.push_back({data, from, packed, storage});
  return packed;
}

const void* PackedConstants::Plain(const void* data, size_t bytes) {
  used_plainly_.insert(data);
  const void* const plain = PlainOrHeld(data);
  if (IsAligned(plain)) return plain;
  const auto [it, added] = aligned_.try_emplace(data);
  if (added) {
    it->second = AlignedCopy(plain, bytes);
    host_->let_go(plain, bytes);
  }
  return it->second.get();
}

std::shared_ptr<void> PackedConstants::Allocate(size_t bytes) const {
  std::shared_ptr<void> storage(host_->allocate(static_cast<int64_t>(bytes)), host_->release);
  if (storage == nullptr) DEUTERON_THROW(MemoryError) << "out of memory: a constant takes " << bytes << " bytes";
  return storage;
}

std::shared_ptr<void> PackedConstants::AlignedCopy(const void* data, size_t bytes) const {
  const std::shared_ptr<void> copy = Allocate(bytes);
  std::memcpy(copy.get(), data, bytes);
  return copy;
}

const void* PackedConstants::PlainOrHeld(const void* data) {
  const auto it = held_.find(data);
  if (it == held_.end()) return data;
  auto& [layouts, plain] = it->second;
  if (!plain) {
    plain = memory(layouts.from, Engine());
    CopyLater(memory(layouts.to, Engine(), const_cast<void*>(data)), *plain);
  }
  return plain->get_data_handle();
}

const PackedConstants::Packed* PackedConstants::Sole(const void* data) const {
  const Packed* sole = nullptr;
  for (const Packed& packed : packed_) {
    if (packed.data != data) continue;
    if (sole != nullptr) return nullptr;
    sole = &packed;
  }
  return used_plainly_.count(data) != 0 ? nullptr : sole;
}

}  // namespace deuteron::backend::dnnl
