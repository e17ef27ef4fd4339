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
#include "symbols/function_table.hpp"

namespace landtrace::code {

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

class Functions {
 public:
  // `debug`: what has more symbols than the file, or null.
  Functions(const symbols::ElfFile& file, const symbols::ElfFile* debug, const Image& image,
            std::span<const Frame> frames);

  [[nodiscard]] std::span<const Function> all() const { return all_; }  // ascending
  [[nodiscard]] std::span<Function> all() { return all_; }
  // Linker names, the most public first.
  [[nodiscard]] std::span<const std::string_view> names(const Function& function) const {
    return std::span(names_).subspan(function.first_name, function.names);
  }
  // The function that holds the address: of several, the one that begins last.
  [[nodiscard]] const Function* holding(std::uint64_t address) const;
  // Where the next one begins behind the address; the end of addresses if none does.
  [[nodiscard]] std::uint64_t next_begin(std::uint64_t address) const;

 private:
  std::deque<std::string> texts_;
  std::vector<std::string_view> names_;
  std::vector<Function> all_;
};

}  // namespace landtrace::code
