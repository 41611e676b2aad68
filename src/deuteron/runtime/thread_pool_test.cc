#include "deuteron/runtime/thread_pool.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "deuteron/runtime/float_mode.h"
#include "deuteron/support/sanitizers.h"

namespace deuteron::runtime {
namespace {

/// Counts visits of each index and remembers the bounds of the pieces.
struct Visits {
  std::vector<std::atomic<int>> count;
  std::mutex mutex;
  std::set<std::pair<int64_t, int64_t>> pieces;
  explicit Visits(size_t extent) : count(extent) {}
  static int Body(void* closure, int64_t begin, int64_t end) {
    auto* self = static_cast<Visits*>(closure);
    for (int64_t i = begin; i < end; ++i) self->count[i].fetch_add(1);
    std::lock_guard<std::mutex> lock(self->mutex);
    self->pieces.emplace(begin, end);
    return 0;
  }
};

TEST(ParallelFor, CoversEveryIndexOnceWithPiecesOfTheGrain) {
  for (const int threads : {1, 2, 3, 7}) {
    for (const int64_t extent : {1, 2, 5, 63, 64, 1000}) {
      for (const int64_t grain : {1, 3, 100, 5000}) {
        Visits visits(extent);
        ASSERT_EQ(ParallelFor(threads, extent, grain, &Visits::Body, &visits), 0);
        for (const auto& count : visits.count) ASSERT_EQ(count.load(), 1);
        for (const auto& [begin, end] : visits.pieces) {
          ASSERT_GE(end - begin, visits.pieces.size() > 1 ? grain : 1);
        }
      }
    }
  }
  EXPECT_EQ(ParallelFor(2, 0, 1, &Visits::Body, nullptr), 0);
}

/// All pieces are computed in the mode of the caller, which has its own again.
TEST(ParallelFor, ComputesInTheModeOfTheCaller) {
  struct Modes {
    const FloatMode callers;
    std::atomic<int> others{0};
    static int Body(void* closure, int64_t, int64_t) {
      auto* self = static_cast<Modes*>(closure);
      if (FloatMode::OfThread() != self->callers) ++self->others;
      return 0;
    }
  };
  const FloatMode before = FloatMode::OfThread();
  for (const FloatMode mode : {before.WithoutDenormals(), before}) {
    const FloatModeScope scope(mode);
    for (int i = 0; i < 50; ++i) {
      Modes modes{FloatMode::OfThread()};
      EXPECT_EQ(modes.callers, mode);
      ParallelFor(4, 64, 1, &Modes::Body, &modes);
      EXPECT_EQ(modes.others, 0);
    }
  }
  EXPECT_EQ(FloatMode::OfThread(), before);
}

TEST(ParallelFor, PiecesDoNotDependOnWhoRunsThem) {
  Visits first(1000);
  ParallelFor(4, 1000, 10, &Visits::Body, &first);
  for (int i = 0; i < 200; ++i) {
    Visits again(1000);
    ParallelFor(4, 1000, 10, &Visits::Body, &again);
    ASSERT_EQ(again.pieces, first.pieces);
  }
}

TEST(ParallelFor, ReturnsTheResultOfAPieceThatFails) {
  const auto body = [](void*, int64_t begin, int64_t end) { return begin <= 500 && 500 < end ? 42 : 0; };
  for (int i = 0; i < 100; ++i) ASSERT_EQ(ParallelFor(3, 1000, 1, body, nullptr), 42);
}

TEST(ParallelFor, ThrowsWhatAPieceThrowsWhenNoneIsAtWork) {
  struct AtWork {
    std::atomic<int> count{0};
    std::thread::id host = std::this_thread::get_id();
    std::atomic<bool> foreign{false};
    static int Body(void* closure, int64_t begin, int64_t) {
      struct Here {
        std::atomic<int>* count;
        explicit Here(std::atomic<int>* count) : count(count) { count->fetch_add(1); }
        ~Here() { count->fetch_sub(1); }
      };
      auto* self = static_cast<AtWork*>(closure);
      const Here here(&self->count);
      if (std::this_thread::get_id() != self->host) self->foreign = true;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      if (begin >= 500) throw std::runtime_error("a piece threw");
      return 0;
    }
  } at_work;
  for (int i = 0; i < 50; ++i) {
    try {
      ParallelFor(3, 1000, 1, &AtWork::Body, &at_work);
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      ASSERT_STREQ(error.what(), "a piece threw");
    }
    ASSERT_EQ(at_work.count.load(), 0);
  }
  EXPECT_TRUE(at_work.foreign.load());
  std::string thrown;
  EXPECT_EQ(ParallelForOrStatus(3, 1000, 1, &AtWork::Body, &at_work, &thrown), 1);
  EXPECT_EQ(thrown, "a piece threw");
  Visits visits(1000);
  EXPECT_EQ(ParallelFor(3, 1000, 1, &Visits::Body, &visits), 0);
  for (const auto& count : visits.count) ASSERT_EQ(count.load(), 1);
}

TEST(ParallelFor, RunsALoopWithinALoopInTheSameThread) {
  struct Inner {
    std::atomic<int> foreign{0};
    static int Outer(void* closure, int64_t, int64_t) {
      struct Here {
        std::thread::id id = std::this_thread::get_id();
        Inner* self;
      } here{.self = static_cast<Inner*>(closure)};
      return ParallelFor(
          4, 100, 1,
          [](void* nested, int64_t, int64_t) {
            auto* here = static_cast<Here*>(nested);
            if (here->id != std::this_thread::get_id()) here->self->foreign.fetch_add(1);
            return 0;
          },
          &here);
    }
  } inner;
  EXPECT_EQ(ParallelFor(4, 16, 1, &Inner::Outer, &inner), 0);
  EXPECT_EQ(inner.foreign.load(), 0);
}

TEST(ParallelFor, ServesManyHostThreads) {
  std::vector<std::thread> hosts;
  std::atomic<int> wrong{0};
  for (int h = 0; h < 6; ++h) {
    hosts.emplace_back([&wrong] {
      ComputeScope scope;
      for (int i = 0; i < 500; ++i) {
        Visits visits(97);
        if (ParallelFor(4, 97, 1, &Visits::Body, &visits) != 0) wrong.fetch_add(1);
        for (const auto& count : visits.count) {
          if (count.load() != 1) wrong.fetch_add(1);
        }
      }
    });
  }
  for (std::thread& host : hosts) host.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(ParallelFor, WakesWorkersThatSleep) {
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    Visits visits(64);
    ASSERT_EQ(ParallelFor(3, 64, 1, &Visits::Body, &visits), 0);
    for (const auto& count : visits.count) ASSERT_EQ(count.load(), 1);
  }
}

TEST(ParallelFor, CanBeReplaced) {
  int calls = 0;
  SetParallelBackend(
      [](void* user, int, int64_t extent, int64_t, LoopBody body, void* closure) {
        ++*static_cast<int*>(user);
        return body(closure, 0, extent);
      },
      &calls);
  Visits visits(10);
  EXPECT_EQ(ParallelFor(4, 10, 1, &Visits::Body, &visits), 0);
  SetParallelBackend(nullptr, nullptr);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(visits.pieces.size(), 1u);
}

/// All members of a team wait until all have come: they run at once.
struct Meeting {
  int count;
  std::atomic<int> arrived{0};
  std::atomic<int> sum{0};
  void Arrive(int index) {
    arrived.fetch_add(1);
    while (arrived.load() < count) std::this_thread::yield();
    sum.fetch_add(index + 1);
  }
  /// Whether each has come once.
  static bool Hold(int count) {
    Meeting meeting{count};
    {
      Team team(
          count, [](void* closure, int index) { static_cast<Meeting*>(closure)->Arrive(index); }, &meeting);
      meeting.Arrive(0);
    }
    return meeting.sum.load() == count * (count + 1) / 2;
  }
};

/// Also when several host threads want the same workers.
TEST(Team, RunsAtOnce) {
  const auto meet = [] {
    for (int round = 0; round < 200; ++round) {
      for (const int count : {1, 2, 3, 6}) ASSERT_TRUE(Meeting::Hold(count));
    }
  };
  std::thread other(meet);
  meet();
  other.join();
}

TEST(Team, RunsAtOnceInAForkedProcess) {
#if DEUTERON_THREAD_SANITIZER
  GTEST_SKIP() << "ThreadSanitizer ends forked processes that start threads";
#endif
  ASSERT_TRUE(Meeting::Hold(4));
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    const bool met = Meeting::Hold(4);
    Visits visits(1000);
    const int status = ParallelFor(4, 1000, 1, &Visits::Body, &visits);
    bool all = true;
    for (const auto& count : visits.count) all &= count.load() == 1;
    _exit(met && all && status == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

/// While it lives, no thread can be made: there is no room for its stack.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_getattr_default_np(&huge);
    pthread_attr_setstacksize(&huge, size_t{1} << 50);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoMoreThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  pthread_attr_t before_{};
};

/// Two teams of all workers, of hosts that do not know of each other.
TEST(Team, WaitsForWorkersWhereNoThreadsAreToBeHad) {
  EXPECT_EQ(TeamThreads(4), 4);
  std::atomic<bool> begin{false};
  const auto meet = [&begin] {
    while (!begin.load()) std::this_thread::yield();
    for (int round = 0; round < 40; ++round) ASSERT_TRUE(Meeting::Hold(4));
  };
  std::thread other(meet), another(meet);
  {
    const NoMoreThreads none;
    EXPECT_THROW(std::thread(meet).join(), std::system_error);
    begin = true;
    meet();
    other.join();
    another.join();
  }
  EXPECT_TRUE(Meeting::Hold(4));
}

TEST(Team, SharesThePoolBetweenHosts) {
  const ComputeScope mine;
  EXPECT_EQ(TeamThreads(1), 1);
  EXPECT_EQ(TeamThreads(200), 200);
  const ComputeScope another;
  EXPECT_LT(TeamThreads(200), 200);
}

TEST(UsableThreads, IsAtLeastOne) { EXPECT_GE(UsableThreads(), 1); }

}  // namespace
}  // namespace deuteron::runtime
