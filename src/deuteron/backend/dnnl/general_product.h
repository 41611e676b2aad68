/// \file
/// oneDNN's general matrix product, of any sizes: of whatever it has no code of its own for.
#pragma once

#include <dnnl.hpp>

#include "deuteron/runtime/plugin.h"

namespace deuteron::backend::dnnl {

/// Whether a primitive calls it.
bool CallsGeneralProduct(const ::dnnl::primitive_desc_base& description);

/// Has oneDNN generate its code, once a process, in a thread of its own: else the first that calls it does, while all
/// other threads wait.
void BeginGeneralProduct(const DeuteronHost* host);

}  // namespace deuteron::backend::dnnl
