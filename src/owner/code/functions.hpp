// The functions of an object: where they begin and end, and what they are called.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "code/frames.hpp"
#include "code/image.hpp"
#include "base/result.hpp"
#include "symbols/function_table.hpp"
#include "symbols/versions.hpp"

namespace landtrace::code {

inline constexpr std::size_t kLongestFunctionName = 16'384;

struct Function {
  std::uint64_t begin = 0;  // address in the file
  std::uint64_t end = 0;
  std::uint32_t first_name = 0;
  std::uint32_t names = 0;
  bool has_frame = false;  // .eh_frame has one that begins here
  bool is_signal = false;
  bool has_no_return_address = false;
  bool is_chooser = false;  // an ifunc: the linker calls it to choose the function that the name is to mean
  // Not a function by itself: what a compiler has moved out of one ("name.cold"), as far as is known. Nothing calls it,
  // and it has no name but that.
  bool is_part = false;
  bool jumps_unseen = false;  // it has an indirect jump whose targets the file does not tell
};

// What a symbol says.
struct Named {
  std::uint64_t begin;
  std::uint64_t size;
  std::string_view name;
  std::string_view version;  // "": none
  bool is_hidden;            // the version is not the default one
  std::uint8_t binding;      // 0: of all objects; 1: weak; 2: of its own file
  bool is_chooser;
  bool is_label;  // without a type: a function only if a frame begins there
};

class Functions {
 public:
  // `debug`: what has more symbols than the file, or null.
  Functions(const symbols::ElfFile& file, const symbols::ElfFile* debug, const Image& image,
            std::span<const Frame> frames);

  [[nodiscard]] std::span<const Function> all() const { return all_; }  // ascending
  [[nodiscard]] std::span<Function> all() { return all_; }
  // Linker names, the most public first. One that is not what linkers take for the bare name has its version behind
  // it: "memcpy@GLIBC_2.2.5".
  [[nodiscard]] std::span<const std::string_view> names(const Function& function) const {
    return std::span(names_).subspan(function.first_name, function.names);
  }
  // Which function "NAME", "NAME@VERSION" or "NAME@@VERSION" means: linkers' names, then those of C++, with parameters
  // or without. Of several the default version, and the most public one. ENOENT: none; EINVAL with a sentence: the name
  // has other versions only, or several C++ functions have it.
  [[nodiscard]] Result<const Function*> find(std::string_view name) const;
  // The function that holds the address: of several, the one that begins last.
  [[nodiscard]] const Function* holding(std::uint64_t address) const;
  // Where the next one begins behind the address; the end of addresses if none does.
  [[nodiscard]] std::uint64_t next_begin(std::uint64_t address) const;

 private:
  // By the bare name.
  struct Entry {
    std::string_view name;
    std::string_view version;
    bool is_hidden;
    std::uint8_t rank;  // of several of that name: the most public one has the lowest
    std::uint32_t function;
  };
  void take_name(std::uint32_t function, const Named& named);
  [[nodiscard]] std::span<const Entry> called(std::string_view name) const;
  [[nodiscard]] Result<const Function*> find_cpp(std::string_view name) const;
  [[nodiscard]] std::string versions_text(const symbols::VersionedName& wanted) const;

  std::deque<std::string> texts_;
  std::vector<symbols::SymbolVersions> versions_;  // whose names are referred to
  std::vector<std::string_view> names_;
  std::vector<Function> all_;
  std::vector<Entry> index_;  // ascending
};

}  // namespace landtrace::code
