/// \file
/// Constant weights in panels of output channels: what a tile of registers reads of them is one run of memory. Of those
/// in a model's file, what is moved leaves memory.
#pragma once

#include <cstdint>

namespace deuteron::relax {

/// out[o / length, w, i, o % length] = in[o, i, w] for elements of 1, 2, 4 or 8 bytes: `rest` an output channel,
/// `window` of them one after the other. Zeros stand for the channels that the last panel has beyond those there are.
void MoveRowsLast(const char* in, char* out, int64_t channels, int64_t length, int64_t rest, int64_t window,
                  int64_t bytes);
/// The same of bytes of one panel by the calling thread: out[w, i, o] = in[o, i, w] for `here` channels that begin
/// `apart` from each other, of which the first `depth` windows are moved.
void MoveBytesLast(const int8_t* in, int64_t apart, int8_t* out, int64_t here, int64_t length, int64_t depth,
                   int64_t window);
/// out[c / length, r, c % length] = in[r, c], with such zeros.
void SplitColumns(const char* in, char* out, int64_t rows, int64_t columns, int64_t length, int64_t bytes);

}  // namespace deuteron::relax
