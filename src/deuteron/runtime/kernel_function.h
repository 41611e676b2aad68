/// \file
/// The C interface of functions that back ends write as source (plugin `shared_object`). Generated sources declare the
/// same structure themselves, so that they need no header.
#pragma once

#include <dlpack/dlpack.h>

#include <cstdint>

extern "C" {

/// Arguments, then results, then constants: compact tensors on the CPU, 64-byte aligned. 0, or non-zero on an error.
typedef int (*DeuteronTensorFunction)(const DLTensor* const* tensors, int32_t count);

}  // extern "C"
