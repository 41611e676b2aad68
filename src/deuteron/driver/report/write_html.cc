#include "deuteron/driver/report/viewer.h"
#include "deuteron/driver/report/write.h"

namespace deuteron::report {
namespace {

void Replace(std::string* page, const std::string& what, const std::string& by) {
  page->replace(page->find(what), what.size(), by);
}

}  // namespace

std::string WriteHtml(const FusionReport& report, const std::string& model) {
  nlohmann::ordered_json data = WriteJson(report, model);
  data["texts"] = report.texts.empty() ? nlohmann::ordered_json::object() : nlohmann::ordered_json(report.texts);
  std::string text = data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  // Nothing in a name may end the script that holds the data.
  std::string safe;
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  std::string page = ViewerPage();
  Replace(&page, "/*SCRIPT*/", std::string(ViewerLayoutScript()) + ViewerScript());
  Replace(&page, "/*DATA*/", safe);
  return page;
}

}  // namespace deuteron::report
