/// \file
/// Generated C, C++ and CUDA sources to shared objects, by the compilers of the machine.
#pragma once

#include <string>
#include <vector>

namespace deuteron::backend {

enum class SourceLanguage { kC, kCxx, kCuda };

struct SourceUnit {
  SourceLanguage language = SourceLanguage::kC;
  std::string text;
  /// Names the unit in messages and file names.
  std::string name = "source";
  /// Besides those that make a shared object: "-O3", "-march=native", "-I…".
  std::vector<std::string> flags;
};

struct SourceCompiler {
  /// A program in the search path or a path to one; empty: $CC, $CXX or $NVCC, else cc, c++ or nvcc.
  std::string program;
  /// Where results are kept; empty: `deuteron/sources` in the user's cache folder. A folder that cannot be written
  /// means that nothing is kept beyond the process.
  std::string cache_dir;
};

/// The compiler of a language as a path; empty if there is none.
std::string FindCompiler(SourceLanguage language, const SourceCompiler& compiler = {});

/// Why there is no compiler of a language: the program that was looked for, and who named it. Empty if there is one.
std::string CompilerProblem(SourceLanguage language, const SourceCompiler& compiler = {});

/// The bytes of a shared object. What was compiled before, the same text by the same compiler (its version counts) with
/// the same flags, comes from the cache. An UnsupportedError that names the compiler if it is missing, and one with the
/// compiler's first messages if it refuses the source.
std::string CompileSource(const SourceUnit& unit, const SourceCompiler& compiler = {});

}  // namespace deuteron::backend
