/// \file
/// Artefacts (artifact.h) of one model for several machines, in one file:
///
///     artefact │ pad to 4096 │ artefact │ pad to 4096 │ … │ index (JSON) │ trailer
///
/// Loading it takes the artefact with the most features of those that this machine can run; the others are not read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deuteron::runtime {

/// An entry of the index.
struct ArtifactMember {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  /// ThisArchitecture() there; and what else the machine must have, as in the artefact's manifest.
  std::string architecture;
  std::vector<std::string> cpu_features;
};

/// "x86-64", "aarch64": what this program was compiled for.
std::string_view ThisArchitecture();
/// The same of an ELF file; "" of others.
std::string_view ArchitectureOfElf(std::string_view elf);

/// What code is for that this machine cannot run, as "aarch64, and this processor is x86-64" or "a processor with
/// avx512f, which this one lacks"; empty if it can. `architecture` may be empty: not known.
std::string WhatMachineLacks(std::string_view architecture, const std::vector<std::string>& cpu_features);

/// Writes the artefacts in the files `members` as one. A UsageError if that fails.
void JoinArtifacts(const std::string& path, const std::vector<std::string>& members);

/// The index of a file; nothing if the file is no set. A ModelError that says what is wrong if it is damaged; `path`
/// is for messages.
std::optional<std::vector<ArtifactMember>> ReadArtifactSet(std::string_view file, const std::string& path);

/// Of these, the one to load. An UnsupportedError that says what each of them needs if there is none.
const ArtifactMember& ChooseArtifact(const std::vector<ArtifactMember>& members, const std::string& path);

}  // namespace deuteron::runtime
