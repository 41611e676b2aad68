/// \file
/// The layout of `model.so`: a shared object that holds the kernels, if there are any, and after it, page by page, what
/// the runtime maps itself:
///
///     ELF image │ program (byte code) │ manifest (JSON, notes) │ pad to 4096 │ weights │ trailer
///
/// The trailer (fixed size, at the very end) says where each part lies and carries a checksum of all but the weights,
/// so that a truncated or damaged file is refused before any of it is used. Weights are mapped read-only, read from
/// disk when first touched, and compared then with the checksums that the program has of each (weights.h). `strip`
/// would cut the tail off: the file is then refused by name.
///
/// An artefact without weights (its manifest names a file of them, see shared_weights.h) ends with an empty part of
/// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "deuteron/runtime/executable.h"

namespace deuteron::runtime {

inline constexpr std::string_view kArtifactMagic = "DEUTERON";
inline constexpr uint32_t kArtifactVersion = 4;
inline constexpr uint64_t kPageBytes = 4096;

struct ArtifactTrailer {
  char magic[8];
  uint32_t version;
  uint32_t program_version;
  uint64_t elf_bytes;
  uint64_t program_offset, program_bytes;
  uint64_t manifest_offset, manifest_bytes;
  uint64_t weights_offset, weights_bytes;
  /// 0; other versions find the version, and say it, where the size is theirs.
  uint64_t unused;
  /// Of everything before the trailer but the weights, then of the trailer up to here.
  uint64_t checksum;
};
static_assert(sizeof(ArtifactTrailer) == 88);

/// Writes an artefact: `elf` are the bytes of the linked shared object, `weight(i)` the data of constant i (its
/// checksum in the program is made here), which is added to `weights_file` instead if one is named. Written to a
/// temporary file beside `path` and renamed. A UsageError if a file cannot be written.
void WriteArtifact(const std::string& path, std::string_view elf, Program program, Manifest manifest,
                   const std::function<const void*(size_t)>& weight, const std::string& weights_file = "");

/// What an artefact consists of.
struct ArtifactParts {
  std::string_view elf;
  /// Verified: offsets of its constants lie within the weights, unless those lie elsewhere.
  Program program;
  Manifest manifest;
  std::string_view weights;
};

/// The parts of an artefact (of one, not of a set of them), which point into `bytes`, the file `path` or a part of it.
/// The checksum of all but the weights is compared. A ModelError that says why it is damaged, no artefact, or of
/// another version.
ArtifactParts ReadArtifact(std::string_view bytes, const std::string& path);

}  // namespace deuteron::runtime
