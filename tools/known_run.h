/// \file
/// `deuteron run` of what is compiled already, without the compiler: it and its libraries take as long to load as a
/// small network takes from there to its results.
///
/// After a run of a model whose artefact is in the cache a note there, NAME.run, says which artefact that was, and
/// which files it depends on: the model's, those of this build and of its plugins. NAME is a checksum of what was asked
/// for and of where: the flags, the processor, the threads, the boot. As long as no file has changed, the runtime
/// library alone runs the artefact. In all other cases, whatever goes wrong among them, the whole command runs, and
/// says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deuteron::tools {

/// The flags of `deuteron run` that notes know, and what they say.
inline constexpr std::string_view kPlainFlags[] = {"--backend", "--threads",    "--shape", "--cache",
                                                   "--input",   "--output-dir", "--seed"};
struct PlainRun {
  std::string model;
  std::string backend = "auto";
  int threads = 0;
  std::vector<std::string> shapes;
  std::string cache;
  std::vector<std::string> inputs;
  std::string output_dir;
  uint64_t seed = 0;
};

/// Whether notes may be of runs with such a --backend: of others it is not files alone that tell what they compile
/// with.
bool IsNoted(const std::string& backend);

/// Nothing if the command line is another, has other flags, or something is wrong with them.
std::optional<PlainRun> ParsePlainRun(int argc, const char* const* argv);

/// The name of the note of such a run.
std::string NameOfRun(const PlainRun& run);

/// Runs what a note leads to, or a compiled MODEL. False if it did not: then nothing was printed.
bool RunKnown(const PlainRun& run);

}  // namespace deuteron::tools
