#include "deuteron/script/round_trip.h"

#include <algorithm>

#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"

namespace deuteron::script {
namespace {

/// The line of `text` that holds position `at`.
std::string_view LineAt(std::string_view text, size_t at) {
  const size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

}  // namespace

void CheckRoundTrip(const IRModule& module) {
  NamedTensors weights;
  PrintOptions options;
  options.weights = &weights;
  const std::string text = Print(module, options);
  const IRModule again = ParseModule(text, "printed", &weights);
  // A local function that calls itself names its variable before that is bound: free, where it is compared.
  if (!StructurallyEqual(module, again) && !StructurallyEqual(module, again, /*map_free_vars=*/true)) {
    DEUTERON_THROW(InternalError) << "what is printed reads back as another module: " << FirstMismatch(module, again);
  }
  NamedTensors weights_again;
  options.weights = &weights_again;
  const std::string second = Print(again, options);
  if (second == text) return;
  const auto at =
      static_cast<size_t>(std::mismatch(text.begin(), text.end(), second.begin(), second.end()).first - text.begin());
  DEUTERON_THROW(InternalError) << "a module prints differently once it is read back:\n  "
                                << LineAt(text, std::min(at, text.size() - 1)) << "\n  "
                                << LineAt(second, std::min(at, second.size() - 1));
}

}  // namespace deuteron::script
