/// \file
/// Values as text, for R.print and R.assert_op. Internal to runtime/.
#pragma once

#include <tvm/ffi/any.h>

#include <span>
#include <string>

namespace deuteron::runtime {

/// A tensor as nested lists (of more than 1,000 elements the first ones), a shape, a tuple, a scalar, a string.
std::string ValueText(const tvm::ffi::AnyView& value);

/// `format` with each `{}` replaced by the text of the next value; `{{` and `}}` are braces. Without any text in
/// `format`, the values one after another. A ModelError if there are fewer values than `{}`.
std::string FormatMessage(const std::string& format, std::span<const tvm::ffi::AnyView> values);

}  // namespace deuteron::runtime
