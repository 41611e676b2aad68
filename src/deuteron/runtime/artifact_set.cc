#include "deuteron/runtime/artifact_set.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "deuteron/runtime/artifact.h"
#include "deuteron/runtime/checksum.h"
#include "deuteron/runtime/cpu_features.h"
#include "deuteron/support/error.h"
#include "deuteron/support/mapped_file.h"
#include "deuteron/support/write_file.h"

namespace deuteron::runtime {
namespace {

constexpr std::string_view kSetMagic = "DEUTERNS";
constexpr uint32_t kSetVersion = 1;

struct SetTrailer {
  char magic[8];
  uint32_t version;
  uint32_t unused;
  uint64_t index_offset, index_bytes;
  /// Of the index, then of the trailer up to here.
  uint64_t checksum;
};
static_assert(sizeof(SetTrailer) == 40);

uint64_t ChecksumOf(std::string_view index, const SetTrailer& trailer) {
  Checksum sum;
  sum.Add(index.data(), index.size());
  sum.Add(&trailer, offsetof(SetTrailer, checksum));
  return sum.Value();
}

std::string Listed(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

}  // namespace

std::string_view ThisArchitecture() {
#if defined(__aarch64__)
  return "aarch64";
#else
  return "x86-64";
#endif
}

std::string_view ArchitectureOfElf(std::string_view elf) {
  if (elf.size() < 20 || !elf.starts_with("\x7f"
                                          "ELF"))
    return "";
  // e_machine, in the byte order of both.
  const auto machine = static_cast<unsigned char>(elf[18]) | static_cast<unsigned char>(elf[19]) << 8;
  return machine == 62 ? "x86-64" : machine == 183 ? "aarch64" : "";
}

std::string WhatMachineLacks(std::string_view architecture, const std::vector<std::string>& cpu_features) {
  if (!architecture.empty() && architecture != ThisArchitecture()) {
    return std::string(architecture) + ", and this processor is " + std::string(ThisArchitecture());
  }
  const std::vector<std::string> missing = MissingCpuFeatures(cpu_features);
  return missing.empty() ? "" : "a processor with " + Listed(missing) + ", which this one lacks";
}

void JoinArtifacts(const std::string& path, const std::vector<std::string>& members) {
  static constexpr char kZeros[kPageBytes] = {};
  std::vector<std::shared_ptr<const MappedFile>> files;
  std::vector<std::string_view> parts;
  nlohmann::json index = nlohmann::json::array();
  uint64_t at = 0;
  const auto add = [&](std::string_view part) {
    parts.push_back(part);
    at += part.size();
  };
  for (const std::string& member : members) {
    files.push_back(MappedFile::Open(member, "the compiled model"));
    const std::string_view bytes = files.back()->bytes();
    index.push_back({{"offset", at},
                     {"bytes", bytes.size()},
                     {"architecture", ArchitectureOfElf(bytes)},
                     {"cpu_features", ReadArtifact(bytes, member).manifest.cpu_features}});
    add(bytes);
    add({kZeros, (kPageBytes - at % kPageBytes) % kPageBytes});
  }
  const std::string text = index.dump();
  SetTrailer trailer{};
  std::memcpy(trailer.magic, kSetMagic.data(), sizeof(trailer.magic));
  trailer.version = kSetVersion;
  trailer.index_offset = at;
  trailer.index_bytes = text.size();
  trailer.checksum = ChecksumOf(text, trailer);
  add(text);
  add({reinterpret_cast<const char*>(&trailer), sizeof(trailer)});
  WriteFile(path, std::span<const std::string_view>(parts));
}

std::optional<std::vector<ArtifactMember>> ReadArtifactSet(std::string_view file, const std::string& path) {
  SetTrailer trailer{};
  if (file.size() < sizeof(trailer)) return std::nullopt;
  std::memcpy(&trailer, file.data() + file.size() - sizeof(trailer), sizeof(trailer));
  if (std::memcmp(trailer.magic, kSetMagic.data(), sizeof(trailer.magic)) != 0) return std::nullopt;
  const auto damaged = [&](const std::string& why) {
    DEUTERON_THROW(ModelError) << path << " is damaged or truncated: " << why;
  };
  if (trailer.version != kSetVersion) {
    DEUTERON_THROW(ModelError) << path << " was compiled for another version of the runtime: compile the model again";
  }
  const uint64_t end = file.size() - sizeof(trailer);
  if (trailer.index_offset > end || trailer.index_bytes != end - trailer.index_offset) damaged("its parts do not fit");
  const std::string_view index = file.substr(trailer.index_offset, trailer.index_bytes);
  if (ChecksumOf(index, trailer) != trailer.checksum) damaged("the checksum of its index differs");
  std::vector<ArtifactMember> members;
  try {
    for (const nlohmann::json& entry : nlohmann::json::parse(index)) {
      ArtifactMember& member = members.emplace_back();
      entry.at("offset").get_to(member.offset);
      entry.at("bytes").get_to(member.bytes);
      entry.at("architecture").get_to(member.architecture);
      entry.at("cpu_features").get_to(member.cpu_features);
      const bool fits = member.offset % kPageBytes == 0 && member.offset <= trailer.index_offset &&
                        member.bytes <= trailer.index_offset - member.offset;
      if (!fits) damaged("its parts do not fit");
    }
  } catch (const nlohmann::json::exception& error) {
    damaged(error.what());
  }
  if (members.empty()) damaged("it holds nothing");
  return members;
}

const ArtifactMember& ChooseArtifact(const std::vector<ArtifactMember>& members, const std::string& path) {
  const ArtifactMember* best = nullptr;
  std::string problems;
  for (const ArtifactMember& member : members) {
    const std::string lacks = WhatMachineLacks(member.architecture, member.cpu_features);
    if (!lacks.empty()) {
      problems += (problems.empty() ? "" : "; for ") + lacks;
    } else if (best == nullptr || member.cpu_features.size() > best->cpu_features.size()) {
      best = &member;
    }
  }
  if (best == nullptr) {
    DEUTERON_THROW(UnsupportedError) << path << " was compiled for " << problems
                                     << "; compile it with --target for this processor";
  }
  return *best;
}

}  // namespace deuteron::runtime
