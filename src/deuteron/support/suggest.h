/// \file
/// "Did you mean …?" for names that were mistyped.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace deuteron {

/// The candidate that differs from `name` in the fewest letters (case aside), if those are few enough to be a slip, or
/// one that `name` begins; else empty.
std::string_view ClosestName(std::string_view name, std::span<const std::string_view> candidates);

/// `; did you mean "FuseOps"?`, or nothing.
std::string DidYouMean(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace deuteron
