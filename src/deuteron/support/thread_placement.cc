#include "deuteron/support/thread_placement.h"

#include <sched.h>

#include <memory>
#include <system_error>

namespace deuteron {
namespace {

thread_local int taken_from_this_thread = 0;

/// `allowed` but for one, if it is among them and there are others.
std::optional<cpu_set_t> Without(int processor, cpu_set_t allowed) {
  if (processor < 0 || processor >= CPU_SETSIZE || !CPU_ISSET(processor, &allowed) || CPU_COUNT(&allowed) == 1)
    return std::nullopt;
  CPU_CLR(processor, &allowed);
  return allowed;
}

/// What a thread of ThreadBeside begins with.
struct Beginning {
  std::function<void()> body;
  int taken;
};

void* Begin(void* closure) {
  const std::unique_ptr<Beginning> beginning(static_cast<Beginning*>(closure));
  taken_from_this_thread = beginning->taken;
  beginning->body();
  return nullptr;
}

/// The attributes of a thread that is made, with its processors if they are known.
class Attributes {
 public:
  explicit Attributes(const std::optional<cpu_set_t>& allowed) {
    pthread_attr_init(&attributes_);
    if (allowed) pthread_attr_setaffinity_np(&attributes_, sizeof *allowed, &*allowed);
  }
  ~Attributes() { pthread_attr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  const pthread_attr_t* get() const { return &attributes_; }

 private:
  pthread_attr_t attributes_{};
};

}  // namespace

int ThisProcessor() { return sched_getcpu(); }

ThreadBeside::ThreadBeside(std::function<void()> body) {
  const int here = ThisProcessor();
  cpu_set_t now;
  std::optional<cpu_set_t> allowed = sched_getaffinity(0, sizeof now, &now) == 0 ? Without(here, now) : std::nullopt;
  auto beginning = std::make_unique<Beginning>(Beginning{std::move(body), taken_from_this_thread});
  const auto make = [&](const std::optional<cpu_set_t>& processors) {
    beginning->taken = taken_from_this_thread + (processors ? 1 : 0);
    pthread_t thread{};
    const int error = pthread_create(&thread, Attributes(processors).get(), &Begin, beginning.get());
    if (error == 0) placement_.emplace(thread);
    return error;
  };
  int error = make(allowed);
  // Where the system lets no thread be placed.
  if (error != 0 && allowed) error = make(allowed = std::nullopt);
  if (error != 0) throw std::system_error(error, std::generic_category(), "no thread");
  static_cast<void>(beginning.release());
  if (!allowed) return;
  placement_->avoided_ = here;
  placement_->is_taken_ = true;
}

ThreadBeside::~ThreadBeside() {
  if (placement_) pthread_join(placement_->thread_, nullptr);
}

ThreadPlacement ThreadBeside::Detach() {
  pthread_detach(placement_->thread_);
  return *std::exchange(placement_, std::nullopt);
}

int TakenFromThisThread() { return taken_from_this_thread; }

void ThreadPlacement::AvoidThisProcessor() {
  const int here = ThisProcessor();
  if (here == avoided_ || here < 0) return;
  cpu_set_t allowed;
  const bool is_known = pthread_getaffinity_np(thread_, sizeof allowed, &allowed) == 0;
  if (is_known && is_taken_) CPU_SET(avoided_, &allowed);
  // What fails is not tried again before the caller moves.
  avoided_ = here;
  const auto others = is_known ? Without(here, allowed) : std::nullopt;
  is_taken_ = others && pthread_setaffinity_np(thread_, sizeof *others, &*others) == 0;
}

}  // namespace deuteron
