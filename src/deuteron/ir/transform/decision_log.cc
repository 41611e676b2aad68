#include "deuteron/ir/transform/decision_log.h"

#include <algorithm>
#include <cstring>

#include "deuteron/support/varint.h"

namespace deuteron::transform {
namespace {

/// Short texts are keys themselves: their last byte, which no address has, holds the length plus one. Longer ones are
/// told apart by where they lie, since the log keeps them alive; names are shared with the IR, not copied.
uint64_t KeyOf(const String& text) {
  constexpr size_t kShort = 7;
  if (text.size() > kShort) return reinterpret_cast<uintptr_t>(text.data());
  uint64_t key = 0;
  std::memcpy(&key, text.data(), text.size());
  return key | (static_cast<uint64_t>(text.size() + 1) << (8 * kShort));
}

}  // namespace

void DecisionLog::PutNumber(uint64_t number) { AppendVarint(number, &bytes_); }

void DecisionLog::PutText(const String& text) {
  if (text.empty()) return PutNumber(0);
  const auto [place, is_new] = text_index_.Insert(KeyOf(text));
  if (is_new) {
    texts_.push_back(text);
    *place = static_cast<uint32_t>(texts_.size());
  }
  PutNumber(*place);
}

void DecisionLog::PutSpan(const Span& span) {
  if (!span.defined()) return PutNumber(0);
  const auto [place, is_new] = span_index_.Insert(span.get());
  if (is_new) {
    spans_.push_back(span);
    *place = static_cast<uint32_t>(spans_.size());
  }
  PutNumber(*place);
}

std::string PlaceText(const Span& span, const String& fallback) {
  if (!span.defined() || span->source.empty()) return std::string(fallback);
  std::string text(span->source);
  if (span->line > 0) text += ":" + std::to_string(span->line);
  return text;
}

void DecisionLog::Add(const Decision& decision) {
  for (const String* text :
       {&decision.pass, &decision.function, &decision.subject, &decision.object, &decision.message}) {
    PutText(*text);
  }
  PutNumber(static_cast<uint64_t>(Reason(decision.reason)));
  PutSpan(decision.subject_span);
  PutSpan(decision.object_span);
  PutNumber(decision.figures.size());
  for (const auto& [name, value] : decision.figures) {
    const auto it = std::find(figure_names_.begin(), figure_names_.end(), name);
    PutNumber(static_cast<uint64_t>(it - figure_names_.begin()));
    if (it == figure_names_.end()) figure_names_.push_back(name);
    PutNumber(ZigZag(value));
  }
  ++size_;
}

void DecisionLog::Clear() { *this = DecisionLog(); }

void DecisionLog::CutTo(const Mark& mark) {
  size_ = mark.size;
  bytes_.resize(mark.bytes);
}

uint64_t DecisionLog::TakeNumber(size_t* at) const {
  uint64_t number = 0;
  for (int shift = 0;; shift += 7) {
    const uint8_t byte = bytes_[(*at)++];
    number |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128) return number;
  }
}

Decision DecisionLog::Take(size_t* at) const {
  Decision decision{.reason = Reason{}};
  for (String* text : {&decision.pass, &decision.function, &decision.subject, &decision.object, &decision.message}) {
    if (const uint64_t place = TakeNumber(at)) *text = texts_[place - 1];
  }
  decision.reason = static_cast<Reason>(TakeNumber(at));
  for (Span* span : {&decision.subject_span, &decision.object_span}) {
    if (const uint64_t place = TakeNumber(at)) *span = spans_[place - 1];
  }
  decision.figures.resize(TakeNumber(at));
  for (auto& [name, value] : decision.figures) {
    name = figure_names_[TakeNumber(at)];
    value = UnZigZag(TakeNumber(at));
  }
  return decision;
}

DecisionLog::Iterator::Iterator(const DecisionLog* log, size_t at) : log_(log), at_(at), end_(at) {
  if (end_ < log_->bytes_.size()) current_ = log_->Take(&end_);
}

DecisionLog::Iterator& DecisionLog::Iterator::operator++() {
  at_ = end_;
  if (end_ < log_->bytes_.size()) current_ = log_->Take(&end_);
  return *this;
}

}  // namespace deuteron::transform
