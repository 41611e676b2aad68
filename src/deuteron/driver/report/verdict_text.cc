#include "deuteron/driver/report/verdict_text.h"

#include "deuteron/driver/report/write.h"

namespace deuteron::report {

using transform::InfoOf;

std::string SentenceOf(const transform::Decision& decision) {
  const transform::ReasonInfo& info = InfoOf(decision.reason);
  std::string sentence(info.sentence);
  if (!decision.message.empty() && info.remedy.find("{detail}") == std::string_view::npos) {
    sentence += " (" + std::string(decision.message) + ".)";
  }
  return sentence;
}

std::string RemedyOf(transform::Reason reason, const std::function<std::string(std::string_view)>& value) {
  std::string_view rest = InfoOf(reason).remedy;
  std::string text;
  for (size_t begin = 0; (begin = rest.find('{')) != std::string_view::npos;) {
    const size_t end = rest.find('}', begin);
    text += rest.substr(0, begin);
    text += value(rest.substr(begin + 1, end - begin - 1));
    rest.remove_prefix(end + 1);
  }
  return text + std::string(rest);
}

std::string FigureText(const transform::Decision& decision, std::string_view name) {
  const int64_t figure = decision.Get(name);
  return name.find("bytes") == std::string_view::npos ? std::to_string(figure) : HumanBytes(figure);
}

}  // namespace deuteron::report
