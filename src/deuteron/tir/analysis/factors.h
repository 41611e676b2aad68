/// \file
/// What products multiply.
#pragma once

#include <optional>

#include "deuteron/ir/op.h"
#include "deuteron/ir/prim_expr.h"
#include "deuteron/target/target.h"

namespace deuteron::tir {

/// The operands of a product, or of a dot product of what their elements hold (`dot_i16x2`, `dot_u8i8x4`, `dot_i8x4`,
/// `dot_u8i7x4`, `dot_bf16x2`).
struct Factors {
  PrimExpr lhs;
  PrimExpr rhs;
};
/// Nothing if `expr` is neither.
std::optional<Factors> FindFactors(const PrimExpr& expr);

/// dot_u8i7x4, dot_i16x2.
const Op& DotOfSmallBytes();
const Op& DotOfPairs();
/// How many products the intrinsic adds up; 0 if it is no dot product.
int64_t ProductsOfDot(const Op& op);
/// Whether the target adds four products of bytes to a sum (dot_u8i8x4, dot_i8x4), or two of bfloat16 (dot_bf16x2), in
/// one instruction.
bool MultipliesBytes(const Target& target);
bool MultipliesSignedBytes(const Target& target);
bool MultipliesBfloat16(const Target& target);
/// Whether it multiplies bytes by weights of seven bits in three (dot_u8i7x4), where pairs of int16 take four.
bool MultipliesSmallBytes(const Target& target);
/// The machine that tiles of dot products find: a sum of products is added to the others by an instruction of its own,
/// and takes a register until then; of dot_u8i7x4 another one has what its halves are multiplied by, ones.
Machine MachineOfDot(Machine machine, const Op& dot);
/// Times as long as a multiply-add that a dot product and its addition take: of two instructions, one of which has
/// pipes of its own on most CPUs, or of three.
double CyclesOfDot(const Op& dot);
/// Products of bytes, by weights of seven bits where others take longer, that are summed up in a lane while a
/// multiply-add takes.
double BytesAtOnce(const Target& target);
/// The machine that sums of float64 find, where lanes are counted as those of 32 bits: vectors of half as many bits.
Machine MachineOfDoubles(Machine machine);

}  // namespace deuteron::tir
