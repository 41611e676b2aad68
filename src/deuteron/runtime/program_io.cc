/// \file
/// Programs as bytes: every integer in base 128, little end first; lists preceded by their length. Lengths
/// are compared with the bytes that are left, so that damaged input allocates no more than its own size.
#include <cstring>
#include <map>
#include <string_view>

#include "deuteron/runtime/program.h"
#include "deuteron/support/error.h"

namespace deuteron::runtime {
namespace {

class Writer {
 public:
  void Value(uint64_t value) {
    while (value >= 0x80) {
      bytes_.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    bytes_.push_back(static_cast<char>(value));
  }
  void Value(uint32_t value) { Value(uint64_t{value}); }
  void Value(uint16_t value) { Value(uint64_t{value}); }
  void Value(uint8_t value) { Value(uint64_t{value}); }
  void Value(bool value) { Value(uint64_t{value}); }
  /// Small negative numbers stay short.
  void Value(int64_t value) { Value((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63)); }
  void Value(int32_t value) { Value(int64_t{value}); }
  void Value(const std::string& text) {
    Value(uint64_t{text.size()});
    bytes_ += text;
  }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void Value(Enum value) { Value(static_cast<uint64_t>(value)); }
  void Value(DLDataType dtype) {
    Value(dtype.code);
    Value(dtype.bits);
    Value(dtype.lanes);
  }
  /// Bytes that were written before are the number of those, bytes that were not the next number and themselves.
  void Shared(const SharedBytes& bytes) {
    const auto [it, added] = shared_.try_emplace(*bytes, shared_.size());
    Value(it->second);
    if (added) Value(*bytes);
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
  std::map<std::string_view, uint64_t> shared_;
};

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}

  void Value(uint64_t& value) {
    value = 0;
    for (int shift = 0;; shift += 7) {
      if (at_ >= bytes_.size()) Fail("it ends early");
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      if (shift == 63 && byte > 1) Fail("a number is too long");
      value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return;
      if (shift == 63) Fail("a number is too long");
    }
  }
  void Value(int64_t& value) {
    uint64_t raw = 0;
    Value(raw);
    value = static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1);
  }
  void Shared(SharedBytes& bytes) {
    const uint64_t number = Bounded(shared_.size());
    if (number == shared_.size()) {
      std::string read;
      Value(read);
      shared_.emplace_back(std::move(read));
    }
    bytes = shared_[number];
  }
  void Value(uint32_t& value) { Narrow(value); }
  void Value(uint16_t& value) { Narrow(value); }
  void Value(uint8_t& value) { Narrow(value); }
  void Value(bool& value) { value = Bounded(1) != 0; }
  void Value(int32_t& value) {
    int64_t wide = 0;
    Value(wide);
    if (wide < INT32_MIN || wide > INT32_MAX) Fail("a number is out of range");
    value = static_cast<int32_t>(wide);
  }
  void Value(std::string& text) {
    const size_t size = Length();
    text.assign(bytes_, at_, size);
    at_ += size;
  }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void Value(Enum& value) { value = static_cast<Enum>(Bounded(255)); }
  void Value(DLDataType& dtype) {
    Value(dtype.code);
    Value(dtype.bits);
    Value(dtype.lanes);
  }
  /// A number of items of at least one byte each.
  size_t Length() {
    const uint64_t length = Bounded(UINT64_MAX);
    if (length > bytes_.size() - at_) Fail("a list is longer than the program");
    return length;
  }
  void End() {
    if (at_ != bytes_.size()) Fail("there is something after its end");
  }

 private:
  [[noreturn]] static void Fail(const char* why) { DEUTERON_THROW(ModelError) << "damaged program: " << why; }
  uint64_t Bounded(uint64_t most) {
    uint64_t value = 0;
    Value(value);
    if (value > most) Fail("a number is out of range");
    return value;
  }
  template <typename T>
  void Narrow(T& value) {
    value = static_cast<T>(Bounded(static_cast<T>(-1)));
  }

  const std::string& bytes_;
  size_t at_ = 0;
  std::vector<SharedBytes> shared_;
};

template <typename T>
void List(Writer& out, const std::vector<T>& items);
template <typename T>
void List(Reader& in, std::vector<T>& items);

/// The order of the fields: one function for both directions.
template <typename IO, typename T>
void Fields(IO& io, T& item) {
  using Item = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Item, DimSpec>) {
    io.Value(item.kind);
    io.Value(item.cell);
    io.Value(item.text);
  } else if constexpr (std::is_same_v<Item, TypeSpec>) {
    io.Value(item.kind);
    io.Value(item.dtype);
    io.Value(item.has_dims);
    io.Value(item.ndim);
    List(io, item.dims);
    List(io, item.fields);
  } else if constexpr (std::is_same_v<Item, KernelSpec>) {
    io.Value(item.symbol);
    io.Value(item.num_data);
    io.Value(item.num_scalars);
  } else if constexpr (std::is_same_v<Item, ConstantSpec>) {
    io.Value(item.dtype);
    List(io, item.shape);
    io.Value(item.offset);
    io.Value(item.checksum);
  } else if constexpr (std::is_same_v<Item, Literal>) {
    io.Value(item.kind);
    io.Value(item.string);
    io.Value(item.dtype);
  } else if constexpr (std::is_same_v<Item, FunctionSpec::CellConstant>) {
    io.Value(item.cell);
    io.Value(item.value);
  } else if constexpr (std::is_same_v<Item, FunctionSpec::ArenaSlot>) {
    io.Value(item.slot);
    io.Value(item.offset);
  } else if constexpr (std::is_same_v<Item, FunctionSpec::ConstantSlot>) {
    io.Value(item.slot);
    io.Value(item.constant);
  } else if constexpr (std::is_same_v<Item, FunctionSpec::SourceMark>) {
    io.Value(item.word);
    io.Value(item.text);
  } else if constexpr (std::is_same_v<Item, ExternalSpec>) {
    io.Value(item.symbol);
    io.Value(item.plugin);
    io.Shared(item.code);
    List(io, item.constant_names);
    List(io, item.constants);
  } else if constexpr (std::is_same_v<Item, FunctionSpec>) {
    io.Value(item.name);
    io.Value(item.is_private);
    List(io, item.input_names);
    List(io, item.output_names);
    List(io, item.input_types);
    io.Value(item.output_type);
    io.Value(item.num_objects);
    io.Value(item.num_slots);
    List(io, item.cell_constants);
    io.Value(item.num_cells);
    io.Value(item.arena_size);
    List(io, item.arena_slots);
    List(io, item.constant_slots);
    List(io, item.code);
    List(io, item.sources);
  } else {
    io.Value(item);
  }
}

template <typename T>
void List(Writer& out, const std::vector<T>& items) {
  out.Value(uint64_t{items.size()});
  for (const T& item : items) Fields(out, item);
}
template <typename T>
void List(Reader& in, std::vector<T>& items) {
  // Grown as it is read: a length that lies costs no memory.
  const size_t size = in.Length();
  items.clear();
  for (size_t i = 0; i < size; ++i) Fields(in, items.emplace_back());
}

template <typename IO, typename P>
void Parts(IO& io, P& program) {
  List(io, program.strings);
  List(io, program.types);
  List(io, program.kernels);
  List(io, program.constants);
  List(io, program.literals);
  List(io, program.functions);
  List(io, program.externals);
  io.Value(program.weights_bytes);
}

}  // namespace

std::string Serialize(const Program& program) {
  Writer out;
  out.Value(kProgramVersion);
  Parts(out, program);
  return out.Take();
}

Program Deserialize(const std::string& bytes) {
  Reader in(bytes);
  uint32_t version = 0;
  in.Value(version);
  if (version != kProgramVersion) {
    DEUTERON_THROW(ModelError) << "a program of version " << version << "; this runtime reads version "
                               << kProgramVersion << ": compile the model again";
  }
  Program program;
  Parts(in, program);
  in.End();
  return program;
}

}  // namespace deuteron::runtime
