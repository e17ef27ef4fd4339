// The memory of a program that runs: what is mapped where, and the objects in it with their dynamic symbols, read from
// the memory itself. So a library counts whose file has been replaced, or is in another root folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attach/mapped_range.hpp"
#include "base/fd.hpp"

namespace landtrace::attach {

class ProgramMemory {
 public:
  // EACCES, EPERM where it is not for us; ENOENT where there is no such process.
  static Result<ProgramMemory> open(std::uint32_t pid);

  // False where nothing, or not all of it, is mapped. What is_gone() says is why.
  bool read(std::uint64_t address, void* to, std::size_t size) const;
  template <typename T>
  bool read(std::uint64_t address, T& value) const {
    return read(address, &value, sizeof value);
  }
  // Also where the program itself could not write.
  [[nodiscard]] bool write(std::uint64_t address, const void* from, std::size_t size) const;
  // The program has ended, or has called exec.
  [[nodiscard]] bool is_gone() const;

  // What is mapped when it is called.
  [[nodiscard]] Result<std::vector<MappedRange>> ranges() const;

 private:
  ProgramMemory(Fd memory, std::uint32_t pid) : memory_(std::move(memory)), pid_(pid) {}

  Fd memory_;
  std::uint32_t pid_;
};

// A part of an object that is mapped: a segment, or, of an executable one, what is left of its last page.
struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class MappedObject {
 public:
  // What begins at `begin`; nullopt where that is no object.
  static std::optional<MappedObject> read(const ProgramMemory& memory, const std::string& path, std::uint64_t begin);

  [[nodiscard]] const std::string& path() const { return path_; }
  // Its file's name.
  [[nodiscard]] std::string name() const { return path_.substr(path_.rfind('/') + 1); }
  [[nodiscard]] const std::vector<Extent>& code() const { return code_; }
  // Behind code, up to its page's end.
  [[nodiscard]] const std::vector<Extent>& rests() const { return rests_; }
  // There is a place (DT_DEBUG) where the loader tells of its list of objects. Of the program itself; libraries are
  // never told.
  [[nodiscard]] bool is_told_of_loading() const { return is_told_; }
  // It has told where that list is, and is not at work on it.
  [[nodiscard]] bool is_told_that_all_is_loaded(const ProgramMemory& memory) const;
  // The address of a function that it defines for others, the default version of it; 0: none.
  [[nodiscard]] std::uint64_t find(const ProgramMemory& memory, const std::string& symbol) const;

 private:
  MappedObject() = default;
  bool read_dynamic(const ProgramMemory& memory, std::uint64_t address, std::uint64_t size);

  std::string path_;
  std::uint64_t bias_ = 0;
  std::vector<Extent> code_;
  std::vector<Extent> rests_;
  // Addresses of its tables; 0: it has none.
  std::uint64_t symbols_ = 0;
  std::uint64_t names_ = 0;
  std::uint64_t hash_ = 0;
  std::uint64_t versions_ = 0;
  std::uint64_t debug_ = 0;
  bool is_told_ = false;
};

// `most` of them.
std::vector<MappedObject> objects_in(const ProgramMemory& memory, const std::vector<MappedRange>& ranges,
                                     std::size_t most = ~std::size_t{0});

}  // namespace landtrace::attach
