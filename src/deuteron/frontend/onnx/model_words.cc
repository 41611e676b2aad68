#include "deuteron/frontend/onnx/model_words.h"

#include <optional>
#include <string_view>

namespace deuteron::onnx {
namespace {

/// Takes a type that begins `text`, as relax::Describe writes it, away from it.
std::optional<std::string> TakeType(std::string_view* text) {
  constexpr std::string_view kBegin = "Tensor(";
  constexpr std::string_view kRank = "ndim=";
  std::string_view rest = text->substr(kBegin.size());
  std::string shape;
  if (rest.starts_with('(')) {
    size_t end = 0;
    for (int depth = 0; end < rest.size(); ++end) {
      depth += rest[end] == '(' ? 1 : rest[end] == ')' ? -1 : 0;
      if (depth == 0) break;
    }
    if (end == rest.size()) return std::nullopt;
    std::string_view dims = rest.substr(1, end - 1);
    if (dims.ends_with(',')) dims.remove_suffix(1);
    shape = dims.empty() ? " scalar" : "[" + std::string(dims) + "]";
    rest.remove_prefix(end + 1);
  } else if (rest.starts_with(kRank)) {
    const size_t end = rest.find(',');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view rank = rest.substr(kRank.size(), end - kRank.size());
    shape = rank == "?" ? " of unknown rank" : " of rank " + std::string(rank);
    rest.remove_prefix(end);
  }
  constexpr std::string_view kDType = ", \"";
  const size_t end = rest.find("\")");
  if (shape.empty() || !rest.starts_with(kDType) || end == std::string_view::npos) return std::nullopt;
  const std::string_view dtype = rest.substr(kDType.size(), end - kDType.size());
  *text = rest.substr(end + 2);
  return (dtype == "?" ? "a tensor" : std::string(dtype)) + shape;
}

}  // namespace

std::string InModelWords(const std::string& message, const std::string& node) {
  std::string_view rest = message;
  const std::string place = " (at " + node + "): ";
  const size_t at = rest.find(place);
  // An operator's name, and nothing before it.
  if (at != std::string_view::npos && at == rest.find(' ')) rest.remove_prefix(at + place.size());
  std::string text;
  for (size_t begin = rest.find("Tensor("); begin != std::string_view::npos; begin = rest.find("Tensor(")) {
    text += rest.substr(0, begin);
    rest.remove_prefix(begin);
    const auto type = TakeType(&rest);
    text += type ? *type : std::string(rest.substr(0, 1));
    if (!type) rest.remove_prefix(1);
  }
  return text + std::string(rest);
}

}  // namespace deuteron::onnx
