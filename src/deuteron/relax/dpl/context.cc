#include "deuteron/relax/dpl/context.h"

namespace deuteron::relax::dpl {
namespace {

std::vector<PatternContext>& Stack() {
  static thread_local std::vector<PatternContext> stack;
  return stack;
}

}  // namespace

PatternContext::PatternContext() : state_(std::make_shared<State>()) {}

PatternContext::Scope::Scope(const PatternContext& context) { Stack().push_back(context); }
PatternContext::Scope::~Scope() { Stack().pop_back(); }

bool PatternContext::HasCurrent() { return !Stack().empty(); }

PatternContext PatternContext::Current() {
  if (Stack().empty()) {
    DEUTERON_THROW(UsageError) << "there is no current PatternContext; open one by PatternContext::Scope";
  }
  return Stack().back();
}

void PatternContext::Add(UseConstraint constraint) const {
  for (UseConstraint& known : state_->uses) {
    if (known.producer.same_as(constraint.producer) && known.consumer.same_as(constraint.consumer) &&
        (known.index == constraint.index || constraint.index < 0)) {
      known.only |= constraint.only;
      return;
    }
  }
  state_->uses.push_back(std::move(constraint));
}

void PatternContext::AddSameShape(std::vector<DFPattern> patterns) const {
  state_->same_shapes.push_back(std::move(patterns));
}

// ----- Sequences.

PatternSeq::PatternSeq(DFPattern pattern) : patterns_{std::move(pattern)} {}

PatternSeq::PatternSeq(std::vector<DFPattern> patterns, bool only_use) {
  if (patterns.empty()) DEUTERON_THROW(UsageError) << "a PatternSeq needs a pattern";
  PatternSeq seq(patterns[0]);
  for (size_t i = 1; i < patterns.size(); ++i) seq = seq.Link(PatternSeq(patterns[i]), -1, only_use);
  *this = std::move(seq);
}

PatternSeq PatternSeq::Link(const PatternSeq& other, int64_t index, bool only) const {
  if (PatternContext::HasCurrent()) {
    PatternContext::Current().Add({patterns_.back(), other.patterns_.front(), index, only});
  }
  PatternSeq linked = *this;
  linked.patterns_.insert(linked.patterns_.end(), other.patterns_.begin(), other.patterns_.end());
  linked.edges_.push_back({index, only});
  linked.edges_.insert(linked.edges_.end(), other.edges_.begin(), other.edges_.end());
  return linked;
}

PatternSeq PatternSeq::Dup() const {
  PatternSeq copy(patterns_.front().Dup());
  for (size_t i = 0; i < edges_.size(); ++i) {
    copy = copy.Link(PatternSeq(patterns_[i + 1].Dup()), edges_[i].index, edges_[i].only);
  }
  return copy;
}

PatternSeq operator>>(const PatternSeq& a, const PatternSeq& b) { return a.OnlyUsedBy(b); }
PatternSeq operator^(const PatternSeq& a, const PatternSeq& b) { return a.UsedBy(b); }

// ----- The same, of single patterns.

PatternSeq DFPattern::UsedBy(const PatternSeq& other, int64_t index) const {
  return PatternSeq(*this).UsedBy(other, index);
}
PatternSeq DFPattern::OnlyUsedBy(const PatternSeq& other, int64_t index) const {
  return PatternSeq(*this).OnlyUsedBy(other, index);
}
void DFPattern::ForkTo(std::initializer_list<DFPattern> others) const {
  for (const DFPattern& other : others) UsedBy(PatternSeq(other));
}
void DFPattern::SameShapeAs(std::initializer_list<DFPattern> others) const {
  std::vector<DFPattern> patterns{*this};
  patterns.insert(patterns.end(), others.begin(), others.end());
  PatternContext::Current().AddSameShape(std::move(patterns));
}

}  // namespace deuteron::relax::dpl
