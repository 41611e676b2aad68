#include "deuteron/relax/analysis/record_sizes.h"

namespace deuteron::relax {
namespace {

bool AreNumbers(const Traffic& traffic) { return traffic.read.is_number() && traffic.written.is_number(); }

void AddFigures(const Traffic& traffic, transform::Decision* decision) {
  decision->figures.emplace_back("read", traffic.read.number());
  decision->figures.emplace_back("written", traffic.written.number());
}

std::string Text(const Traffic& traffic) { return traffic.read.Text() + "; " + traffic.written.Text(); }

}  // namespace

void RecordSizes(const Traffic& traffic, transform::Decision* decision) {
  if (AreNumbers(traffic)) return AddFigures(traffic, decision);
  decision->figures.emplace_back("symbolic", 1);
  if (decision->message.empty()) decision->message = String(Text(traffic));
}

void RecordSizes(const Traffic& traffic, const std::optional<DataSize>& flops, transform::Decision* decision) {
  if (AreNumbers(traffic) && flops && flops->is_number()) {
    AddFigures(traffic, decision);
    decision->figures.emplace_back("flops", flops->number());
    return;
  }
  decision->message = String(Text(traffic) + "; " + (flops ? flops->Text() : "?"));
}

}  // namespace deuteron::relax
