/// \file
/// Images from channels first to channels last and back. oneDNN's own reorder (3.2) takes ten cycles an element for
/// that where channels are many, ten times as long as to move them.
#pragma once

#include <cstdint>
#include <dnnl.hpp>
#include <optional>

#include "deuteron/runtime/plugin.h"

namespace deuteron::backend::dnnl {

/// (count, rows, columns) → (count, columns, rows) of float32.
struct Transposition {
  int64_t count = 1;
  int64_t rows = 1;
  int64_t columns = 1;

  /// Does it on the threads of the host's pool; `from` and `to` do not overlap.
  void Run(const float* from, float* to, const DeuteronHost* host) const;
};

/// What brings a tensor laid out as `from` to `to`, if that is it.
std::optional<Transposition> AsTransposition(const ::dnnl::memory::desc& from, const ::dnnl::memory::desc& to);

}  // namespace deuteron::backend::dnnl
