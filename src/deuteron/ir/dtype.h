/// \file
/// Element types of scalars and tensors.
#pragma once

#include <tvm/ffi/dtype.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "deuteron/ir/object.h"

namespace deuteron {

/// A DLPack data type with the questions that a compiler asks of it. `lanes` > 1 is a vector.
class DataType {
 public:
  constexpr DataType() : data_{kDLOpaqueHandle, 0, 0} {}
  constexpr DataType(uint8_t code, int bits, int lanes = 1)
      : data_{code, static_cast<uint8_t>(bits), static_cast<uint16_t>(lanes)} {}
  constexpr explicit DataType(DLDataType type) : data_(type) {}
  /// Parses "float32", "int64", "bool", "bfloat16", "float32x8", "void", "handle".
  explicit DataType(std::string_view text);

  static constexpr DataType Int(int bits, int lanes = 1) { return {kDLInt, bits, lanes}; }
  static constexpr DataType UInt(int bits, int lanes = 1) { return {kDLUInt, bits, lanes}; }
  static constexpr DataType Float(int bits, int lanes = 1) { return {kDLFloat, bits, lanes}; }
  static constexpr DataType BFloat16(int lanes = 1) { return {kDLBfloat, 16, lanes}; }
  static constexpr DataType Bool(int lanes = 1) { return {kDLBool, 8, lanes}; }
  static constexpr DataType Handle() { return {kDLOpaqueHandle, 64, 1}; }
  static constexpr DataType Void() { return {kDLOpaqueHandle, 0, 0}; }

  constexpr int code() const { return data_.code; }
  constexpr int bits() const { return data_.bits; }
  constexpr int lanes() const { return data_.lanes; }
  /// Bytes of one element in memory (a bool is one byte), all lanes counted.
  constexpr int bytes() const { return (bits() + 7) / 8 * lanes(); }

  constexpr bool is_int() const { return code() == kDLInt; }
  constexpr bool is_uint() const { return code() == kDLUInt; }
  constexpr bool is_integer() const { return is_int() || is_uint(); }
  constexpr bool is_bool() const { return code() == kDLBool; }
  constexpr bool is_bfloat16() const { return code() == kDLBfloat; }
  /// Any floating-point format: float16/32/64, bfloat16 and the eight-bit ones.
  constexpr bool is_float() const {
    return code() == kDLFloat || is_bfloat16() || (code() >= kDLFloat8_e3m4 && code() <= kDLFloat4_e2m1fn);
  }
  constexpr bool is_handle() const { return code() == kDLOpaqueHandle && bits() == 64; }
  constexpr bool is_void() const { return code() == kDLOpaqueHandle && bits() == 0; }
  constexpr bool is_scalar() const { return lanes() == 1; }
  constexpr bool is_vector() const { return lanes() > 1; }

  constexpr DataType with_lanes(int lanes) const { return DataType(data_.code, data_.bits, lanes); }
  constexpr DataType element() const { return with_lanes(1); }

  constexpr operator DLDataType() const { return data_; }  // NOLINT(google-explicit-constructor)
  /// As numpy names it: "float32", "bool"; "void" and "handle" for the two that numpy lacks.
  std::string ToString() const;

  friend constexpr bool operator==(DataType a, DataType b) {
    return a.data_.code == b.data_.code && a.data_.bits == b.data_.bits && a.data_.lanes == b.data_.lanes;
  }

 private:
  DLDataType data_;
};

std::ostream& operator<<(std::ostream& os, DataType type);

}  // namespace deuteron

namespace tvm::ffi {

template <>
inline constexpr bool use_default_type_traits_v<deuteron::DataType> = false;

template <>
struct TypeTraits<deuteron::DataType> : public TypeTraitsBase {
  using Base = TypeTraits<DLDataType>;
  static constexpr int32_t field_static_type_index = TypeIndex::kTVMFFIDataType;
  static void CopyToAnyView(const deuteron::DataType& src, TVMFFIAny* result) { Base::CopyToAnyView(src, result); }
  static void MoveToAny(deuteron::DataType src, TVMFFIAny* result) { Base::MoveToAny(src, result); }
  static bool CheckAnyStrict(const TVMFFIAny* src) { return Base::CheckAnyStrict(src); }
  static deuteron::DataType CopyFromAnyViewAfterCheck(const TVMFFIAny* src) {
    return deuteron::DataType(Base::CopyFromAnyViewAfterCheck(src));
  }
  static deuteron::DataType MoveFromAnyAfterCheck(TVMFFIAny* src) { return CopyFromAnyViewAfterCheck(src); }
  static std::optional<deuteron::DataType> TryCastFromAnyView(const TVMFFIAny* src) {
    if (auto type = Base::TryCastFromAnyView(src)) return deuteron::DataType(*type);
    return std::nullopt;
  }
  static std::string TypeStr() { return Base::TypeStr(); }
  static std::string TypeSchema() { return Base::TypeSchema(); }
};

}  // namespace tvm::ffi
