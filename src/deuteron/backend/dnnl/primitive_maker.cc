#include "deuteron/backend/dnnl/primitive_maker.h"

#include <algorithm>
#include <exception>
#include <thread>

#include "deuteron/backend/dnnl/general_product.h"
#include "deuteron/backend/dnnl/gomp.h"
#include "deuteron/support/error.h"

namespace deuteron::backend::dnnl {
namespace {

/// Fewer are made before another thread is awake.
constexpr size_t kWorthATeam = 4;
/// The one that describes is as slow as one or two that make.
constexpr int kMostThreads = 3;

}  // namespace

size_t PrimitiveMaker::Add(const ::dnnl::primitive_desc_base& description) {
  if (threads_ > 1 && CallsGeneralProduct(description)) BeginGeneralProduct(host_);
  const std::lock_guard lock(mutex_);
  items_.push_back({description, {}});
  waiting_.fetch_add(1);
  if (items_.size() == kWorthATeam) BeginTeam();
  return items_.size() - 1;
}

std::vector<::dnnl::primitive> PrimitiveMaker::Finish() {
  EndTeam();
  const auto make_rest = [](void* closure, int64_t begin, int64_t end) {
    auto* self = static_cast<PrimitiveMaker*>(closure);
    const RegionThreads scope(self->host_, self->threads_);
    for (size_t i = self->begun_ + begin; i < self->begun_ + end; ++i) {
      if (!self->Make(&self->items_[i], i)) return 1;
    }
    return 0;
  };
  int status = host_->parallel_for(static_cast<int64_t>(items_.size() - begun_), 1, make_rest, this);
  // What the team could not make. Make does nothing for the others.
  const RegionThreads scope(host_, threads_);
  for (size_t i = 0; i < begun_ && status == 0; ++i) status = Make(&items_[i], i) ? 0 : 1;
  if (refused_) throw Refused(*refused_);
  if (status != 0) DEUTERON_THROW(MemoryError) << "out of memory: oneDNN makes no primitives";
  std::vector<::dnnl::primitive> made;
  for (Item& item : items_) made.push_back(std::move(item.primitive));
  return made;
}

std::pair<PrimitiveMaker::Item*, size_t> PrimitiveMaker::Next() {
  if (waiting_.load() == 0) return {nullptr, 0};
  const std::lock_guard lock(mutex_);
  if (begun_ == items_.size()) return {nullptr, 0};
  waiting_.fetch_sub(1);
  const size_t number = begun_++;
  return {&items_[number], number};
}

bool PrimitiveMaker::Make(Item* item, size_t number) {
  if (item->primitive) return true;
  try {
    item->primitive = ::dnnl::primitive(item->description.get());
    return true;
  } catch (const ::dnnl::error& error) {
    const std::lock_guard lock(mutex_);
    refused_.emplace(error, number);
    return false;
  }
}

void PrimitiveMaker::HelpUntilClosed() {
  // A primitive is for as many threads as the one that makes it has.
  const RegionThreads scope(host_, threads_);
  while (!is_closed_.load()) {
    if (const auto [item, number] = Next(); item != nullptr) {
      // What is refused is refused again, and said, in the end.
      Make(item, number);
    } else {
      // The next one comes sooner than a thread that sleeps is awake, and who describes has other things to do than to
      // wake it.
      std::this_thread::yield();
    }
  }
}

void PrimitiveMaker::BeginTeam() {
  const int count = std::min({threads_, kMostThreads, host_->team_threads()});
  if (count < 2) return;
  const auto help = [](void* self, int) {
    try {
      static_cast<PrimitiveMaker*>(self)->HelpUntilClosed();
    } catch (const std::exception&) {
      // Without memory. What it leaves is made, or refused, in the end.
    }
  };
  team_ = host_->begin_team(count, help, this);
}

void PrimitiveMaker::EndTeam() {
  is_closed_ = true;
  if (team_ != nullptr) host_->end_team(team_);
  team_ = nullptr;
}

}  // namespace deuteron::backend::dnnl
