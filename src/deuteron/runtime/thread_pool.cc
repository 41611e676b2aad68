/// \file
/// Workers wait in mailboxes of their own. A loop claims idle workers one by one with a compare-and-swap, posts the
/// loop to each, and takes part; there is no lock and no queue, so loops of several host threads
/// do not meet except at workers. A worker spins for a short while after its last piece (kernels follow each
/// other closely), then sleeps in the kernel until it is claimed. It is kept off the processor of the host thread that
/// claims it.
#include "deuteron/runtime/thread_pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "deuteron/runtime/float_mode.h"
#include "deuteron/support/error.h"
#include "deuteron/support/thread_placement.h"

namespace deuteron::runtime {
namespace {

constexpr int kMaxThreads = 256;
/// How long a worker without work stays awake.
constexpr auto kSpin = std::chrono::microseconds(60);
/// Pieces a thread: enough to even out threads that are slow or late, few enough to keep runs long.
constexpr int64_t kPiecesPerThread = 4;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

/// True in a thread that is inside of a loop.
thread_local bool in_loop = false;

class InLoop {
 public:
  InLoop() : outer_(in_loop) { in_loop = true; }
  ~InLoop() { in_loop = outer_; }
  InLoop(const InLoop&) = delete;
  InLoop& operator=(const InLoop&) = delete;

 private:
  bool outer_;
};

std::atomic<PieceObserver*> piece_observer{nullptr};

int64_t Nanoseconds() { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// One call of ParallelFor. Each participant has a run of pieces of its own, taken in order, so that a thread finds in
/// its cache what it wrote in the loop before; who is done helps the others.
struct Loop {
  struct alignas(64) Counter {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  LoopBody body;
  void* closure;
  int64_t extent;
  int64_t pieces;
  int participants;
  Counter* counters;
  /// The caller's, which all compute in.
  FloatMode float_mode = FloatMode::OfThread();
  std::atomic<int> result{0};
  std::atomic<int> running{0};
  /// Of the piece that set `result`, if it threw.
  std::exception_ptr thrown;

  int64_t Bound(int64_t piece) const { return static_cast<int64_t>(static_cast<__int128>(extent) * piece / pieces); }

  void Participate(int self) {
    const InLoop scope;
    const FloatModeScope mode(float_mode);
    for (int k = 0; k < participants; ++k) {
      Counter& counter = counters[(self + k) % participants];
      while (result.load(std::memory_order_relaxed) == 0) {
        const int64_t piece = counter.next.fetch_add(1, std::memory_order_relaxed);
        if (piece >= counter.end) break;
        std::exception_ptr exception;
        const int status = RunPiece(piece, &exception);
        int none = 0;
        if (status != 0 && result.compare_exchange_strong(none, status, std::memory_order_relaxed)) {
          thrown = std::move(exception);
        }
      }
    }
  }

  /// An exception waits for the caller: others may still be at work, on what lies on the caller's stack.
  int RunPiece(int64_t piece, std::exception_ptr* exception) const {
    try {
      PieceObserver* const observer = piece_observer.load(std::memory_order_acquire);
      if (observer == nullptr) return body(closure, Bound(piece), Bound(piece + 1));
      const int64_t begin = Nanoseconds();
      const int status = body(closure, Bound(piece), Bound(piece + 1));
      observer->OnPiece(begin, Nanoseconds());
      return status;
    } catch (...) {
      *exception = std::current_exception();
      return 1;
    }
  }
};

/// Host threads that compute now.
std::atomic<int> computing{0};

class alignas(64) Worker {
 public:
  Worker() : placement_(ThreadBeside([this] { Main(); }).Detach()) {}

  /// Whether this worker is now the caller's to Post to.
  bool Claim() {
    uint32_t state = state_.load(std::memory_order_relaxed);
    if (state != kIdle && state != kAsleep) return false;
    if (!state_.compare_exchange_strong(state, kClaimed, std::memory_order_acquire)) return false;
    was_asleep_ = state == kAsleep;
    return true;
  }

  /// Takes the loop of that post back if this worker has not begun it: nobody waits for a thread that the system has
  /// not woken yet.
  bool Retract(uint32_t post) { return state_.compare_exchange_strong(post, kIdle, std::memory_order_release); }

  /// Gives a claim up. From then on the worker is whoever's claims it.
  void Release() {
    const bool wake = was_asleep_;
    state_.store(kIdle, std::memory_order_release);
    if (wake) Wake();
  }

  /// Returns what Retract needs. Posts are numbered: the next one may be another host's.
  uint32_t Post(Loop* loop, int self) {
    // Several host threads would only drive it to and fro.
    if (computing.load(std::memory_order_relaxed) <= 1) placement_.AvoidThisProcessor();
    loop_ = loop;
    self_ = self;
    const bool wake = was_asleep_;
    const uint32_t post = kWork + (++posts_ << kStateBits);
    state_.store(post, std::memory_order_release);
    if (wake) Wake();
    return post;
  }

 private:
  enum State : uint32_t { kIdle, kAsleep, kClaimed, kWork, kBusy };
  /// Above them, in kWork only: the number of the post.
  static constexpr int kStateBits = 3;

  void Wake() { syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); }

  bool Begin() {
    uint32_t post = state_.load(std::memory_order_relaxed);
    return (post & ((1u << kStateBits) - 1)) == kWork &&
           state_.compare_exchange_strong(post, kBusy, std::memory_order_acquire);
  }

  void AwaitWork() {
    auto deadline = std::chrono::steady_clock::now() + kSpin;
    for (int turn = 1; !Begin(); ++turn) {
      Pause();
      if (turn % 32 != 0 || std::chrono::steady_clock::now() < deadline) continue;
      uint32_t idle = kIdle;
      if (!state_.compare_exchange_strong(idle, kAsleep, std::memory_order_relaxed)) continue;
      while (state_.load(std::memory_order_relaxed) == kAsleep) {
        syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, kAsleep, nullptr, nullptr, 0);
      }
      deadline = std::chrono::steady_clock::now() + kSpin;
    }
  }

  void Main() {
    while (true) {
      AwaitWork();
      Loop* loop = loop_;
      loop->Participate(self_);
      // Idle first: whoever waits for `running` may start the next loop at once and shall find us. The loop
      // is gone after the last decrement.
      state_.store(kIdle, std::memory_order_release);
      loop->running.fetch_sub(1, std::memory_order_release);
    }
  }

  std::atomic<uint32_t> state_{kIdle};
  /// Written by whoever has claimed this worker.
  uint32_t posts_ = 0;
  bool was_asleep_ = false;
  int self_ = 0;
  Loop* loop_ = nullptr;
  /// Of the thread of this worker, which does not end.
  ThreadPlacement placement_;
};

/// All workers; never destroyed, since they may outlive every static object. A forked process makes its own.
class Pool {
 public:
  static Pool& Get() {
    alignas(Pool) static std::byte storage[sizeof(Pool)];
    static Pool* pool = [] {
      auto* made = new (storage) Pool();
      // A forked process has the thread that forked and no other: what the workers of its parent were at is not its
      // own.
      pthread_atfork(nullptr, nullptr, [] {
        new (storage) Pool();
        computing = 0;
      });
      return made;
    }();
    return *pool;
  }

  int Run(int threads, int64_t extent, int64_t pieces, LoopBody body, void* closure) {
    // To make one takes as long as a library that is being opened.
    if (threads > computing.load(std::memory_order_relaxed)) EnsureWorkers(threads - 1);
    threads = static_cast<int>(std::min<int64_t>({threads, pieces, num_workers_.load(std::memory_order_acquire) + 1}));
    std::array<Loop::Counter, 16> few;
    // Nothing is thrown here: the code that calls may be generated.
    std::unique_ptr<Loop::Counter[]> many;
    if (threads > static_cast<int>(few.size())) many.reset(new (std::nothrow) Loop::Counter[threads]);
    if (many == nullptr) threads = std::min(threads, static_cast<int>(few.size()));
    std::array<Worker*, kMaxThreads> claimed;
    const int count = ClaimWorkers(threads - 1, claimed.data());
    if (count == 0) return RunAlone(extent, pieces, body, closure);
    const int participants = count + 1;
    Loop loop{body, closure, extent, pieces, participants, many == nullptr ? few.data() : many.get()};
    for (int p = 0; p < participants; ++p) {
      loop.counters[p].next.store(pieces * p / participants, std::memory_order_relaxed);
      loop.counters[p].end = pieces * (p + 1) / participants;
    }
    loop.running.store(count, std::memory_order_relaxed);
    std::array<uint32_t, kMaxThreads> posts;
    for (int i = 0; i < count; ++i) posts[i] = claimed[i]->Post(&loop, i + 1);
    Join(&loop, count, claimed.data(), posts.data());
    if (loop.thrown != nullptr) std::rethrow_exception(loop.thrown);
    return loop.result.load(std::memory_order_relaxed);
  }

  /// Workers for a team, as far as they are free; how many it got.
  int ClaimForTeam(int wanted, Worker** claimed) {
    EnsureWorkers(wanted);
    return ClaimWorkers(wanted, claimed);
  }
  void Release(int count, Worker** claimed) {
    for (int i = 0; i < count; ++i) claimed[i]->Release();
    busy_.fetch_sub(count, std::memory_order_relaxed);
  }
  /// Claims as many as are wanted, whoever has them now: waits until they are free. False where there are not so many.
  /// The caller has claimed none: of two that wait, and keep a part each, neither would get the rest.
  bool AwaitForTeam(int wanted, Worker** claimed) {
    const int workers = num_workers_.load(std::memory_order_acquire);
    if (wanted > workers) return false;
    std::lock_guard<std::mutex> lock(awaiting_);
    for (int count = 0; true; sched_yield()) {
      for (int i = 0; i < workers && count < wanted; ++i) {
        if (!workers_[i]->Claim()) continue;
        claimed[count++] = workers_[i];
        busy_.fetch_add(1, std::memory_order_relaxed);
      }
      if (count == wanted) return true;
    }
  }
  /// Posts pieces 1 … of `loop` (one a thread) to them.
  static void Post(Loop* loop, int count, Worker** claimed, uint32_t* posts) {
    loop->participants = count + 1;
    loop->running.store(count, std::memory_order_relaxed);
    for (int i = 0; i < count; ++i) posts[i] = claimed[i]->Post(loop, i + 1);
  }

  /// Takes back what no worker has begun, does it, and waits for the rest.
  void Join(Loop* loop, int count, Worker** claimed, const uint32_t* posts) {
    loop->Participate(0);
    for (int i = 0; i < count; ++i) {
      if (claimed[i]->Retract(posts[i])) loop->running.fetch_sub(1, std::memory_order_relaxed);
    }
    // Workers are in their last piece now; if that takes long, somebody else may need this processor.
    for (int turn = 0; loop->running.load(std::memory_order_acquire) != 0; ++turn) {
      if (turn < 2000) {
        Pause();
      } else {
        sched_yield();
      }
    }
    busy_.fetch_sub(count, std::memory_order_relaxed);
  }

  /// Workers that a host thread may claim of `wanted`, its share of those that there are.
  int Share(int wanted) {
    EnsureWorkers(wanted);
    const int workers = num_workers_.load(std::memory_order_acquire);
    const int hosts = std::max(computing.load(std::memory_order_relaxed), 1);
    const int free = workers + 1 - hosts;
    return std::clamp((free + hosts - 1) / hosts, 0, std::min(wanted, workers));
  }

  /// The same pieces, one after another.
  static int RunAlone(int64_t extent, int64_t pieces, LoopBody body, void* closure) {
    const Loop loop{body, closure, extent, pieces, 1, nullptr};
    const InLoop scope;
    int status = 0;
    for (int64_t i = 0; i < pieces && status == 0; ++i) status = body(closure, loop.Bound(i), loop.Bound(i + 1));
    return status;
  }

 private:
  /// As many as there can be: where the system gives no more threads, what there is computes all.
  void EnsureWorkers(int count) noexcept {
    count = std::min(count, most_workers_.load(std::memory_order_relaxed));
    if (count <= num_workers_.load(std::memory_order_acquire)) return;
    std::lock_guard<std::mutex> lock(growth_);
    for (int i = num_workers_.load(std::memory_order_relaxed); i < count; ++i) {
      try {
        workers_[i] = new Worker();
      } catch (const std::exception&) {
        most_workers_.store(i, std::memory_order_relaxed);
        return;
      }
      num_workers_.store(i + 1, std::memory_order_release);
    }
  }

  int ClaimWorkers(int wanted, Worker** claimed) {
    const int workers = num_workers_.load(std::memory_order_acquire);
    const int hosts = std::max(computing.load(std::memory_order_relaxed), 1);
    // Host threads and workers together are no more than the pool's threads; each host gets its share.
    const int free = workers + 1 - hosts;
    wanted = std::min(wanted, (free + hosts - 1) / hosts);
    wanted = std::min(wanted, free - busy_.load(std::memory_order_relaxed));
    int count = 0;
    for (int i = 0; i < workers && count < wanted; ++i) {
      if (workers_[i]->Claim()) claimed[count++] = workers_[i];
    }
    busy_.fetch_add(count, std::memory_order_relaxed);
    return count;
  }

  std::mutex growth_;
  std::mutex awaiting_;
  std::atomic<int> num_workers_{0};
  std::atomic<int> most_workers_{kMaxThreads};
  std::atomic<int> busy_{0};
  std::array<Worker*, kMaxThreads> workers_{};
};

std::atomic<ParallelBackend> backend{nullptr};
std::atomic<void*> backend_user{nullptr};

}  // namespace

int ParallelFor(int threads, int64_t extent, int64_t grain, LoopBody body, void* closure) {
  if (extent <= 0) return 0;
  grain = std::max<int64_t>(grain, 1);
  threads = std::clamp(threads, 1, kMaxThreads);
  const int64_t pieces = threads == 1 ? 1 : std::clamp<int64_t>(extent / grain, 1, threads * kPiecesPerThread);
  if (in_loop || pieces == 1) return Pool::RunAlone(extent, pieces, body, closure);
  if (const ParallelBackend replaced = backend.load(std::memory_order_acquire)) {
    return replaced(backend_user.load(std::memory_order_relaxed), threads, extent, grain, body, closure);
  }
  return Pool::Get().Run(threads, extent, pieces, body, closure);
}

int ParallelForOrStatus(int threads, int64_t extent, int64_t grain, LoopBody body, void* closure,
                        std::string* thrown) noexcept {
  try {
    return ParallelFor(threads, extent, grain, body, closure);
  } catch (const std::exception& error) {
    *thrown = error.what();
  } catch (...) {
    *thrown = "an exception that is none of the standard's";
  }
  return 1;
}

void SetParallelBackend(ParallelBackend replacement, void* user) {
  backend_user.store(user, std::memory_order_relaxed);
  backend.store(replacement, std::memory_order_release);
}

void SetPieceObserver(PieceObserver* observer) { piece_observer.store(observer, std::memory_order_release); }

int TeamThreads(int threads) {
  threads = std::clamp(threads, 1, kMaxThreads);
  // An embedder's threads cannot be told to run at once.
  if (in_loop || threads == 1 || backend.load(std::memory_order_acquire) != nullptr) return 1;
  return 1 + Pool::Get().Share(threads - 1);
}

struct Team::Impl {
  Impl(int count, void (*body)(void*, int), void* closure) : body(body), closure(closure), outer_in_loop(in_loop) {
    count = std::clamp(count, 1, kMaxThreads);
    loop.body = [](void* self, int64_t begin, int64_t) {
      const auto* impl = static_cast<Impl*>(self);
      impl->body(impl->closure, static_cast<int>(begin));
      return 0;
    };
    loop.closure = this;
    loop.extent = loop.pieces = count;
    if (count > static_cast<int>(few.size())) many = std::make_unique<Loop::Counter[]>(count);
    loop.counters = many != nullptr ? many.get() : few.data();
    for (int i = 1; i < count; ++i) {
      loop.counters[i].next.store(i, std::memory_order_relaxed);
      loop.counters[i].end = i + 1;
    }
    if (!outer_in_loop && count > 1) workers = Pool::Get().ClaimForTeam(count - 1, claimed.data());
    MakeThreads(count);
    in_loop = true;
    gate.store(kOpen, std::memory_order_release);
    gate.notify_all();
    Pool::Post(&loop, workers, claimed.data(), posts.data());
  }
  /// For what no worker is there to do. They wait: nobody begins before all are there. Where the system gives no more
  /// threads, workers that others have now do it afterwards.
  void MakeThreads(int count) {
    try {
      threads.reserve(static_cast<size_t>(count - 1 - workers));
      for (int i = count - 1; i > workers; --i) {
        threads.emplace_back([this, i] {
          gate.wait(kShut, std::memory_order_acquire);
          if (gate.load(std::memory_order_acquire) == kGivenUp) return;
          in_loop = true;
          this->body(this->closure, i);
        });
      }
    } catch (const std::exception& error) {
      Pool::Get().Release(std::exchange(workers, 0), claimed.data());
      const int missing = count - 1 - static_cast<int>(threads.size());
      if (!outer_in_loop && Pool::Get().AwaitForTeam(missing, claimed.data())) {
        workers = missing;
        return;
      }
      gate.store(kGivenUp, std::memory_order_release);
      gate.notify_all();
      for (std::thread& thread : threads) thread.join();
      DEUTERON_THROW(MemoryError) << "the system gives no thread to work with: " << error.what();
    }
  }
  ~Impl() {
    if (workers > 0) Pool::Get().Join(&loop, workers, claimed.data(), posts.data());
    for (std::thread& thread : threads) thread.join();
    in_loop = outer_in_loop;
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void (*body)(void*, int);
  void* closure;
  bool outer_in_loop;
  Loop loop{};
  std::array<Loop::Counter, 16> few;
  std::unique_ptr<Loop::Counter[]> many;
  std::array<Worker*, kMaxThreads> claimed;
  std::array<uint32_t, kMaxThreads> posts;
  int workers = 0;
  enum Gate : int { kShut, kOpen, kGivenUp };
  std::atomic<int> gate{kShut};
  std::vector<std::thread> threads;
};

Team::Team(int count, void (*body)(void*, int), void* closure) : impl_(std::make_unique<Impl>(count, body, closure)) {}
Team::~Team() = default;

ComputeScope::ComputeScope() {
  // Which counts anew in a forked process.
  Pool::Get();
  computing.fetch_add(1, std::memory_order_relaxed);
}
ComputeScope::~ComputeScope() { computing.fetch_sub(1, std::memory_order_relaxed); }

}  // namespace deuteron::runtime
