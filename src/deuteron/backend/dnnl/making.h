/// \file
/// What it takes, before the first run, to make a kernel of either side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "deuteron/ir/type.h"
#include "deuteron/target/machine.h"
#include "deuteron/tir/analysis/cost.h"

namespace deuteron::backend::dnnl {

/// Seconds to open the library, or what generates code, most of them to relocate it and to get memory for it; and
/// to make one of its primitives; of a convolution one for each place at the edges where it has code of its own, beyond
/// two (measured, 0.03 to 0.15 ms).
inline constexpr double kSecondsToOpen = 7e-3, kSecondsOfPrimitive = 5e-4, kSecondsOfEdge = 8e-5;
/// Bytes of weights that are packed in a second, into memory that the system clears: by generated code from where they
/// lie, by the library from a copy that is aligned (measured, 2.1 to 3.7 and 1.9 to 3.5 GB/s), or only that copy of
/// those for its general product (4.9); and of such as become transformed tiles before, of which they are so many times
/// as large (4 × 4 numbers, not 3 × 3).
inline constexpr double kPackedBytesPerSecond = 3.2e9, kPackedByLibraryPerSecond = 2.6e9,
                        kHeldByLibraryPerSecond = 4.9e9, kTransformedBytesPerSecond = 0.7e9,
                        kTransformedWeights = 16.0 / 9;
/// Seconds in which the library generates its general product, all variants of it, when a process first calls it
/// (measured).
inline constexpr double kSecondsOfGeneralProduct = 14e-3, kSecondsOfWideGeneralProduct = 31e-3;
/// Seconds that a generated kernel takes longer for each place that it has in the graph, to be fused and shared, than
/// one of the library to be described to it and planned (measured, 0.2 to 0.3 ms both).
inline constexpr double kSecondsOfPlace = 35e-6;

/// Seconds of a core to schedule and compile a kernel, of its own or shared by others that are alike.
struct Making {
  /// That is optimised, and that is not (codegen).
  double heavy, light;
};
/// Measured, fitted to networks: convolutions with a window, of which each place at an edge has code of its own; with
/// one in groups of several channels; of single channels; of one pixel; products; those of few rows; those of bytes;
/// the same of few rows; norms, with what is fused with them; and others.
inline constexpr Making kOfWindow = {12e-3, 8e-3}, kOfGroups = {17e-3, 12e-3}, kOfDepthwise = {6e-3, 5.5e-3},
                        kOfPixel = {9e-3, 2.5e-3}, kOfProduct = {9e-3, 2.5e-3}, kOfRows = {3.5e-3, 1.5e-3},
                        kOfBytes = {9e-3, 4e-3}, kOfRowsOfBytes = {4e-3, 2e-3}, kOfNorm = {11e-3, 11e-3},
                        kOfOther = {6e-3, 3e-3};
/// Seconds of a core to compile what makes single elements that a kernel reads, with numbers of its own, where that
/// kernel is the library's: of a generated one it is a part.
inline constexpr double kSecondsOfScalars = 1.5e-3;
/// Times as long takes one of sizes that are not known, whose tiles have remainders of any size; and seconds that a
/// product of two values of the run takes of such sizes, where all of its loops have them.
inline constexpr double kTimesOfOpen = 3, kSecondsOfOpenPair = 100e-3;
/// The same for products of transformed tiles, with both transforms, and for a loop, beyond its parts.
inline constexpr double kSecondsOfTiles = 60e-3, kSecondsOfLoop = 5e-3;
/// What a core computes in such a time, in all expected runs, is no more than what is left unoptimised.
inline constexpr double kLightSeconds = 120e-6;
/// So many are few: of them and of columns there is one tile of registers, or a few.
inline constexpr int64_t kFewRows = 16;

Making MakingOfConvolution(const std::vector<int64_t>& weight, int64_t groups);
Making MakingOfProduct(const std::vector<int64_t>& result);
/// On one core; `in_runs`: what it computes in all of them.
double SecondsToCompile(const Making& making, bool transforms, double in_runs);
/// Whether a dimension of a tensor, or how many it has, is not known.
bool IsOpen(const Type& type);
/// Extents, assumed where they are not known.
std::vector<int64_t> DimsOf(const Type& type);
/// Of those from `begin` to `end`.
double Product(const std::vector<int64_t>& dims, size_t begin, size_t end);
double CoresAtWork(const Machine& machine);
/// Until the library has so many bytes of weights as it multiplies them: packed, or for its general product.
double SecondsOfLibraryWeights(double bytes, bool is_general);
/// Whether vectors have 512 bits: for narrower ones the library (3.2) lacks some of its kernels.
bool HasWideVectors();

}  // namespace deuteron::backend::dnnl
