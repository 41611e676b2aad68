/// \file
/// Verdicts of passes, recorded as they are made: what was fused and what not, which schedule rule took a
/// kernel, which back end took a group, and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deuteron/ir/span.h"
#include "deuteron/ir/transform/reason.h"
#include "deuteron/support/pointer_map.h"

namespace deuteron::transform {

/// A place as verdicts name it ("/layer1/conv1", "model.py:12"); `fallback` where none is known.
std::string PlaceText(const Span& span, const String& fallback);

/// A figure that decided, by name ("group", "phase", "bytes_saved", …). The name outlives the log.
using Figure = std::pair<const char*, int64_t>;

/// A reason that has to be given: a decision without one does not compile.
class GivenReason {
 public:
  constexpr GivenReason(Reason reason) : reason_(reason) {}  // NOLINT(google-explicit-constructor)
  constexpr operator Reason() const { return reason_; }      // NOLINT(google-explicit-constructor)

 private:
  Reason reason_;
};

/// One verdict. Names are handles shared with the IR, so that a verdict on every edge of a large graph
/// copies no text.
struct Decision {
  /// "FuseOps", "ScheduleForCPU", …
  String pass;
  /// The function it was made in.
  String function;
  /// What it is about: variable or kernel names; for an edge, producer then consumer.
  String subject;
  String object;
  GivenReason reason;
  /// What is particular here; empty where the reason's sentence says it all.
  String message;
  std::vector<Figure> figures;
  /// Places in the user's model at both ends; may be null.
  Span subject_span;
  Span object_span;

  /// The figure of that name, or `fallback`.
  int64_t Get(std::string_view name, int64_t fallback = 0) const {
    for (const auto& [key, value] : figures) {
      if (name == key) return value;
    }
    return fallback;
  }
};

/// Append-only list of decisions, packed into some twenty bytes each: there is one on every edge of a graph, and graphs
/// have millions. Texts and spans are kept once, however many decisions name them.
class DecisionLog {
 public:
  void Add(const Decision& decision);
  void Clear();

  /// Where the log ends, and what it is cut to: decisions that were taken back.
  struct Mark {
    size_t size, bytes;
  };
  Mark End() const { return {size_, bytes_.size()}; }
  void CutTo(const Mark& mark);

  /// From the first decision to the last. What it refers to lasts until the next step.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Decision;
    using difference_type = std::ptrdiff_t;
    using pointer = const Decision*;
    using reference = const Decision&;

    reference operator*() const { return current_; }
    pointer operator->() const { return &current_; }
    Iterator& operator++();
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    friend class DecisionLog;
    Iterator(const DecisionLog* log, size_t at);

    const DecisionLog* log_;
    /// Where the current decision begins and ends.
    size_t at_;
    size_t end_;
    Decision current_{.reason = Reason{}};
  };
  /// The decisions as a range. Nothing may be added while it is walked over.
  class Range {
   public:
    Iterator begin() const { return {log_, 0}; }
    Iterator end() const { return {log_, log_->bytes_.size()}; }
    size_t size() const { return log_->size_; }
    bool empty() const { return log_->size_ == 0; }

   private:
    friend class DecisionLog;
    explicit Range(const DecisionLog* log) : log_(log) {}
    const DecisionLog* log_;
  };
  Range decisions() const { return Range(this); }

 private:
  void PutNumber(uint64_t number);
  void PutText(const String& text);
  void PutSpan(const Span& span);
  uint64_t TakeNumber(size_t* at) const;
  /// The decision that begins at `at`, which is moved to its end.
  Decision Take(size_t* at) const;

  size_t size_ = 0;
  /// Numbers of seven bits a byte; a text or a span is its place in the lists below plus one, 0 if it is none. Not in
  /// one piece: what a million operators have is never copied to grow.
  std::deque<uint8_t> bytes_;
  std::deque<String> texts_;
  /// Places in `texts_`: by content up to seven characters, by address beyond.
  FlatMap<uint32_t> text_index_;
  std::deque<Span> spans_;
  PointerMap<uint32_t> span_index_;
  std::vector<const char*> figure_names_;
};

}  // namespace deuteron::transform
