// What print_fields() prints, for events of which there are millions: what is the same in all events of a type is
// worked out once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "event/declaration.hpp"
#include "event/text_buffer.hpp"

namespace landtrace::event {

class FieldsPrinter {
 public:
  explicit FieldsPrinter(const Declaration& declaration);

  // " x=0x7 (7) msg=hello"; nothing outside of the payload is read.
  void print(TextBuffer& out, std::span<const std::byte> payload) const;

 private:
  struct Step {
    FieldKind kind;
    std::uint32_t at;    // in the payload; kNowhere for what does not begin there
    std::uint32_t size;  // …
    std::uint32_t name_at;
    std::uint32_t name_size;
  };
  void print_step(TextBuffer& out, const Step& step, std::span<const std::byte> payload) const;
  void print_other(TextBuffer& out, const Step& step, std::span<const std::byte> payload) const;

  Declaration declaration_;
  bool is_of_program_;  // and has fields; else print_fields() does it
  std::string names_;   // " x= msg=", and what is copied behind the last one
  std::vector<Step> steps_;
};

}  // namespace landtrace::event
