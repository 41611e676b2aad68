/// \file
/// What was compiled before, on disk: artefacts by the content of what they were made of (docs/cache.md).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "deuteron/driver/compile.h"
#include "deuteron/frontend/onnx/import.h"
#include "deuteron/runtime/cache_note.h"
#include "deuteron/support/mapped_file.h"
#include "deuteron/target/target.h"

namespace deuteron {

/// A name for what compiling `module` for `target` gives: a checksum of the module's text, of the bytes of its
/// constants, of everything in `options` and `target` that compiling depends on, of which libraries there are, and of
/// this build of Deuteron.
std::string CacheKey(const IRModule& module, const CompileOptions& options, const Target& target);

/// A name for what compiling the module in the file `path` gives, as long as no file changes that it is read from.
std::string FilesKey(const std::string& path, const onnx::ImportOptions& import, const CompileOptions& options,
                     const Target& target);

/// A folder of artefacts KEY.so, and of notes NAME.files of what they were made from, NAME.run of what ran them.
/// Processes share it: an entry has its name once it is whole, and is never changed. Where the folder cannot be used it
/// holds nothing; what is wrong with it is told once.
class CompileCache {
 public:
  CompileCache(std::string folder, int64_t most_bytes, std::function<void(const std::string&)> warn)
      : folder_(std::move(folder)), most_bytes_(most_bytes), warn_(std::move(warn)) {}

  /// The entry of that key, all of it compared with its checksums, for so many threads. One that is damaged or of
  /// another version is removed.
  std::optional<Executable> Find(const std::string& key, int threads);
  /// Adds the artefact that `write` writes to the path it is given, and removes entries, those that were used the
  /// longest ago first, until all take no more than the cache may. Gives the entry as loaded from there; nothing if it
  /// could not be written or takes more than the cache may alone.
  std::optional<Executable> Store(const std::string& key, int threads,
                                  const std::function<void(const std::string& path)>& write);

  /// The note of what was made from files that are as they were then; nothing if there is none, or one has changed.
  std::optional<CacheNote> NoteOfFiles(const std::string& name) const;
  /// Its key; empty if there is none.
  std::string KeyOfFiles(const std::string& name) const;
  /// Notes that for KeyOfFiles, if there is an entry of that key.
  void RememberFiles(const std::string& name, const std::vector<FileState>& files, const std::string& key);

  /// Writes a note, unless it is there. What cannot be written is found out again the next time.
  void WriteNote(const std::string& file, const CacheNote& note) const;

 private:
  std::string PathOf(const std::string& key) const;
  void Warn(const std::string& what);
  void RemoveOldest(const std::string& newest);

  std::string folder_;
  int64_t most_bytes_;
  std::function<void(const std::string&)> warn_;
};

/// Notes as NAME.run what CompileFile gives for these arguments, and all files that this depends on, if the cache
/// (`options` names one) knows: for the next run of it, which needs no compiler (tools/known_run.h).
void NoteRun(const std::string& name, const std::string& path, const onnx::ImportOptions& import,
             const CompileOptions& options);

}  // namespace deuteron
