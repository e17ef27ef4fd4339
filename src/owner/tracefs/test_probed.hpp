// For tests: the program whose functions the transcripts 90 to 92 probe (tests/conformance/probed.c), and its places in
// their texts, as `conform` puts them there.
#pragma once

#include <map>
#include <string>

namespace landtrace::tracefs {

class TestProbed {
 public:
  TestProbed();
  ~TestProbed();
  TestProbed(const TestProbed&) = delete;
  TestProbed& operator=(const TestProbed&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  // Of a function, in the file.
  [[nodiscard]] std::uint64_t offset_of(const std::string& function) const { return offsets_.at(function); }

  // <FUNC>, <FUNC+N>, <OFF:FUNC> and <PROBED> as they are here.
  [[nodiscard]] std::string fill(const std::string& text) const;
  // The reverse; addresses become ADDR.
  [[nodiscard]] std::string strip(const std::string& text) const;

 private:
  [[nodiscard]] std::string near(std::uint64_t offset) const;

  std::string path_;  // as long as the one that was recorded, since carets stand behind it
  std::map<std::string, std::uint64_t> offsets_;
};

}  // namespace landtrace::tracefs
