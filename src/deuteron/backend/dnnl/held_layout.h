/// \file
/// How the JSON of a graph says in what layout the executable holds a constant (the attribute "held" of its node):
///
///     {"dims": [64, 32, 3, 3], "strides": [288, 9, 3, 1], "dtype": "f32", "held_dtype": "f32", "layout": "ABcd16b16a",
///      "layout_number": 158}
///
/// `layout` is oneDNN's name of a format, of the dimensions `dims`; `layout_number` its number in the oneDNN that wrote
/// this, where another one looks first; the others are how plans saw the constant before.
#pragma once

#include <nlohmann/json.hpp>

#include "deuteron/backend/dnnl/plan.h"

namespace deuteron::backend::dnnl {

/// Null if the layout has no name: compensations that lie behind the elements, for one.
nlohmann::json HeldLayoutToJson(const PackedConstants::Layouts& layouts);
/// A ModelError if this oneDNN has no such layout, or it takes more than `bytes` bytes.
PackedConstants::Layouts HeldLayoutFromJson(const nlohmann::json& json, size_t bytes);

}  // namespace deuteron::backend::dnnl
