// A program that a test compiles, and what is said of it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace landtrace::dwarf {

class TestProgram {
 public:
  // `compiler`: the command and its options, "gcc -g -O2".
  TestProgram(const std::string& file, const std::string& source, const std::string& compiler);
  ~TestProgram();
  TestProgram(const TestProgram&) = delete;
  TestProgram& operator=(const TestProgram&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] std::uint64_t address_of(const std::string& symbol) const;
  [[nodiscard]] std::uint64_t offset_of(const std::string& symbol) const;

  // The answer as it is.
  [[nodiscard]] std::string ask(const std::vector<std::string>& words) const;
  // "NAME=FETCH" of each value, or the sentence.
  [[nodiscard]] std::vector<std::string> say(std::uint64_t offset, const std::vector<std::string>& expressions,
                                             const std::string& side) const;
  [[nodiscard]] std::vector<std::uint64_t> line(const std::string& file, unsigned number) const;

  // Where debug files are looked for.
  std::string debug_folder;

 private:
  std::string folder_;
  std::string path_;
};

// What there is on this machine to compile that language ("c", "c++") with, each with several options.
std::vector<std::string> compilers(const std::string& language);
// Letters and digits of it.
std::string test_name(const std::string& compiler);

void run_command(const std::string& command);

}  // namespace landtrace::dwarf
