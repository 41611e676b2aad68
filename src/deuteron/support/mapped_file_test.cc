#include "deuteron/support/mapped_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "deuteron/support/error.h"
#include "deuteron/testing/temporary_folder.h"

namespace deuteron {
namespace {

namespace fs = std::filesystem;

/// A folder "model" with a file "data", and a file "secret" beside it.
class Beneath : public testing::Test {
 protected:
  Beneath() {
    fs::create_directories(root_ / "model" / "parts");
    std::ofstream(root_ / "model" / "data") << "weights";
    std::ofstream(root_ / "secret") << "secret";
  }

  std::string Folder() const { return (root_ / "model").string(); }
  /// The bytes, or the error.
  std::string Read(const std::string& relative) const {
    try {
      return std::string(MappedFile::OpenBeneath(Folder(), relative, "the data")->bytes());
    } catch (const tvm::ffi::Error& error) {
      return error.kind() + ": " + error.message();
    }
  }
  static std::string Outside(const std::string& relative) {
    return "ModelError: the data '" + relative + "' lies outside of the folder, where nothing is read";
  }

  const TemporaryFolder temporary_;
  const fs::path root_ = temporary_.path();
};

TEST_F(Beneath, ReadsWhatLiesThere) {
  EXPECT_EQ(Read("data"), "weights");
  EXPECT_EQ(Read("./data"), "weights");
  EXPECT_EQ(Read("parts/../data"), "weights");
  fs::create_symlink("../data", root_ / "model" / "parts" / "link");
  EXPECT_EQ(Read("parts/link"), "weights");
}

TEST_F(Beneath, NothingLeadsOutside) {
  EXPECT_EQ(Read("../secret"), Outside("../secret"));
  EXPECT_EQ(Read("parts/../../secret"), Outside("parts/../../secret"));
  const std::string absolute = (root_ / "secret").string();
  EXPECT_EQ(Read(absolute), Outside(absolute));
  EXPECT_EQ(Read(std::string("data\0x", 6)), Outside(std::string("data\0x", 6)));
  EXPECT_EQ(Read(""), Outside(""));
  fs::create_symlink("../secret", root_ / "model" / "link");
  EXPECT_EQ(Read("link"), Outside("link"));
  fs::create_symlink(absolute, root_ / "model" / "absolute");
  EXPECT_EQ(Read("absolute"), Outside("absolute"));
  fs::create_directory_symlink("..", root_ / "model" / "up");
  EXPECT_EQ(Read("up/secret"), Outside("up/secret"));
}

TEST_F(Beneath, WhatIsNoFileIsRefused) {
  EXPECT_EQ(Read("missing"), "ModelError: cannot open the data '" + Folder() + "/missing': No such file or directory");
  EXPECT_EQ(Read("parts"), "ModelError: cannot read the data '" + Folder() + "/parts': it is a directory");
}

TEST_F(Beneath, HardLinksToFilesOfOthersAreRefused) {
  fs::create_hard_link(root_ / "secret", root_ / "model" / "own");
  EXPECT_EQ(Read("own"), "secret");
  if (chown((root_ / "secret").c_str(), 12345, static_cast<gid_t>(-1)) != 0) {
    GTEST_SKIP() << "only root gives files away";
  }
  EXPECT_EQ(Read("own"), "ModelError: the data 'own' is a hard link to a file of another owner: copy it");
}

}  // namespace
}  // namespace deuteron
