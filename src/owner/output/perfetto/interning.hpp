// What packets name by number: each text, and each stack, stands in the file once, in the packet that needs it first.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "output/stack/user_stack.hpp"

namespace landtrace::output::perfetto {

class Interning {
 public:
  void add(const MappedObject& object) { names_.objects().add(object); }

  // The number of a text in one of the tables of output/perfetto/fields.hpp that have texts.
  std::uint64_t text(std::uint32_t table, std::string_view text);
  // The number of a stack.
  std::uint64_t stack(const UserStack& stack);

  // What has got a number since this was called last: the packet's interned data.
  std::string take_new() { return std::exchange(new_, {}); }

 private:
  std::uint64_t mapping(const MappedObject& object);
  std::uint64_t frame(const UserStack& stack, std::size_t index);
  void begin_entry(std::string& entry, std::uint64_t number);

  symbols::Symbols symbols_;
  StackNames names_{&symbols_};
  std::map<std::uint32_t, std::unordered_map<std::string, std::uint64_t>> texts_;  // by table
  std::unordered_map<std::string, std::uint64_t> mappings_;                        // by process, place and path
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> frames_;        // by mapping and address
  std::unordered_map<std::string, std::uint64_t> stacks_;                          // by the numbers of frames, as bytes
  std::string new_;
};

}  // namespace landtrace::output::perfetto
