/// \file
/// The one pool of threads of the process, shared by generated kernels and by library back ends.
///
/// A loop is cut into pieces whose bounds depend on its extent, its grain and the number of threads asked
/// for only, so that results do not depend on who runs them. The caller takes part. Idle workers are claimed one by
/// one: host threads that compute at the same time share them, and together use no more threads than the pool has (as
/// long as there are no more host threads than that). A loop within a loop runs serially.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace deuteron::runtime {

/// One piece of a loop: [begin, end). Non-zero = failed.
using LoopBody = int (*)(void* closure, int64_t begin, int64_t end);

/// Affinity of the process ∩ its cgroup's CPU quota (v1 and v2), at least 1.
int UsableThreads();

/// Runs `body` over [0, extent) in pieces of at least `grain` (but the last) by up to `threads` threads, the
/// caller among them. Returns after all pieces have run; once a piece has failed, those not yet begun are
/// left out and its result is returned, or what it threw is thrown. A fork-join costs about a microsecond while workers
/// are awake (they are for some tens of microseconds after each loop).
int ParallelFor(int threads, int64_t extent, int64_t grain, LoopBody body, void* closure);
/// The same for callers that no exception may pass, such as generated code: 1 in its place, and what it says in
/// `*thrown`.
int ParallelForOrStatus(int threads, int64_t extent, int64_t grain, LoopBody body, void* closure,
                        std::string* thrown) noexcept;

/// Threads that run at once and may wait for each other, as the parallel regions of libraries need. Workers of the pool
/// are used as far as they are free, threads made for the occasion beyond that. Where the system gives none, the team
/// waits for workers that others have; a MemoryError, before any has begun, where the pool has too few, or in a loop.
class Team {
 public:
  /// Starts `body(closure, i)` for i in [1, count); the work of index 0 is the caller's, before the team is destroyed.
  Team(int count, void (*body)(void* closure, int index), void* closure);
  /// Returns when all have returned.
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
/// How many threads of at most `threads` a team should have now, the caller among them, so that host threads that
/// compute at the same time do not get into each other's way.
int TeamThreads(int threads);

/// An embedder's own threads in place of the pool: same contract as ParallelFor. One that throws has no piece at work.
using ParallelBackend = int (*)(void* user, int threads, int64_t extent, int64_t grain, LoopBody body, void* closure);
/// Replaces the pool in the whole process; null brings it back. Not while a loop runs.
void SetParallelBackend(ParallelBackend backend, void* user);

/// Told what the pool's threads do.
class PieceObserver {
 public:
  virtual ~PieceObserver() = default;
  /// In the thread that ran a piece of a loop, after it; the steady clock's nanoseconds.
  virtual void OnPiece(int64_t begin_ns, int64_t end_ns) = 0;
};
/// Of all loops of the process that the pool runs from now on; null: nobody. Not while a loop runs.
void SetPieceObserver(PieceObserver* observer);

/// While it lives, its thread counts as one that computes: the workers that others may claim are fewer by it.
class ComputeScope {
 public:
  ComputeScope();
  ~ComputeScope();
  ComputeScope(const ComputeScope&) = delete;
  ComputeScope& operator=(const ComputeScope&) = delete;
};

}  // namespace deuteron::runtime
