/// \file
/// The C interface of functions that back ends write as source (plugin `shared_object`). Generated sources declare the
/// same structure themselves, so that they need no header.
#pragma once

#include <dlpack/dlpack.h>

#include <cstdint>

extern "C" {

/// Arguments, then results, then constants: compact tensors on the CPU, 64-byte aligned; on another device only if the
/// caller passes such. 0, or non-zero on an error.
typedef int (*DeuteronTensorFunction)(const DLTensor* const* tensors, int32_t count);

/// What an object calls it: what the module does, or this, so that functions that differ in their names and constants
/// alone are one source, compiled and loaded once.
#define DEUTERON_NAMELESS_FUNCTION "deuteron_function"

/// What an object may define besides, by these names.
/// `const char* deuteron_error(void)`: what the last error in this thread was.
typedef const char* (*DeuteronErrorFunction)(void);
/// `deuteron_stream_of`, a variable that the runtime sets when it loads the object: the stream (a cudaStream_t, null:
/// the default one) that work for a device goes to, by DLPack's device type and number.
typedef void* (*DeuteronStreamOf)(int32_t device_type, int32_t device_id);

}  // extern "C"
