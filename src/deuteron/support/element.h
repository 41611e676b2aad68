/// \file
/// Elements of tensors in memory: how numbers of each dtype are spelled. An element takes whole bytes, little-endian;
/// one of fewer than eight bits (int4, uint2, float4_e2m1fn, …) has a byte of its own, as numpy's ml_dtypes keep it:
/// the upper bits of the byte are written as zeros and not read.
#pragma once

#include <tvm/ffi/dtype.h>

#include <cstdint>

namespace deuteron {

/// A floating-point format of 16 bits or fewer: a sign (but for `kExponent`), the exponent, the mantissa.
struct FloatFormat {
  /// What the codes beyond the finite numbers mean.
  enum class Special : uint8_t {
    kInfinity,      ///< as IEEE 754: the greatest exponent is infinity, and NaN with a mantissa
    kNaN,           ///< "fn": all ones are NaN; there is no infinity
    kNegativeZero,  ///< "fnuz": what would be -0 is NaN; there is neither infinity nor -0
    kNone,          ///< neither infinity nor NaN: what is too large becomes the greatest number, NaN -0
    kExponent,      ///< powers of two alone, neither sign nor 0: all ones are NaN, and so is what has no power near it
  };
  int bits;
  int mantissa_bits;
  int bias;
  Special special;

  /// The code of the sign; 0 where there is none.
  constexpr uint32_t sign() const { return special == Special::kExponent ? 0 : 1U << (bits - 1); }
  constexpr uint32_t magnitudes() const { return special == Special::kExponent ? 0xff : sign() - 1; }
  /// The code of NaN; that of -0 where there is none.
  constexpr uint32_t nan() const {
    switch (special) {
      case Special::kInfinity:
        return overflow() | 1U << (mantissa_bits - 1);
      case Special::kNaN:
      case Special::kExponent:
        return magnitudes();
      case Special::kNegativeZero:
      case Special::kNone:
        break;
    }
    return sign();
  }
  /// The code, sign apart, of what is too large to be finite.
  constexpr uint32_t overflow() const {
    switch (special) {
      case Special::kInfinity:
        return magnitudes() >> mantissa_bits << mantissa_bits;
      case Special::kNaN:
      case Special::kExponent:
      case Special::kNegativeZero:
        return nan();
      case Special::kNone:
        break;
    }
    return magnitudes();
  }
  /// The code of the greatest finite number.
  constexpr uint32_t greatest() const {
    const bool all = special == Special::kNegativeZero || special == Special::kNone;
    return all ? magnitudes() : overflow() - 1;
  }

  /// `value` to the nearest number of the format, ties to even (of powers alone: up).
  double Round(double value) const;
  /// The code of a number that has been rounded to the format.
  uint32_t Encode(double value) const;
  double Decode(uint32_t code) const;
};

/// Null for dtypes that are no floats of 16 bits or fewer.
const FloatFormat* FindFloatFormat(DLDataType dtype);
/// Floats of every width: kDLFloat, kDLBfloat and those of eight bits and fewer.
bool IsFloat(DLDataType dtype);

/// Bytes that one element takes in memory.
constexpr int64_t ElementBytes(DLDataType dtype) { return int64_t{(dtype.bits + 7) / 8} * dtype.lanes; }

/// The float at `data`, of one lane.
double LoadFloat(const void* data, DLDataType dtype);
/// `value` has been rounded to the dtype.
void StoreFloat(void* data, DLDataType dtype, double value);
/// Rounds float32 numbers to float16 or bfloat16, ties to even; what is too large becomes infinity.
void NarrowFloats(const float* from, int64_t count, DLDataType dtype, uint16_t* to);
/// Numbers of float16 or bfloat16 as float32, exactly.
void WidenFloats(const uint16_t* from, int64_t count, DLDataType dtype, float* to);
/// Rounds float32 numbers to pairs of bfloat16, the first of each in the lower half: so many, each number `step` behind
/// the one before. `high` may be null: then all of those are 0.
void PairBrainFloats(const float* low, const float* high, int64_t step, int64_t count, uint32_t* to);
/// The integer or bool at `data`, of one lane; one of 64 bits without sign in two's complement.
int64_t LoadInteger(const void* data, DLDataType dtype);
/// The lowest bits of `value`, as many as the dtype has.
void StoreInteger(void* data, DLDataType dtype, int64_t value);

}  // namespace deuteron
