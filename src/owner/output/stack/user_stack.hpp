// Records of user_stack as people see them:
//
//            app-1234    [003] .....    12.345678: <user stack trace>
//    => handle(request*)+0x1f [/usr/bin/app]
//    => /usr/lib/x86_64-linux-gnu/libc.so.6[+0x2724a]
//    =>  <00007f0b1e6eceec>
//
// by function, whose name is shortened; if none is known by object; else by address. The last two are the kernel's own
// forms. But its offsets count from the beginning of a mapping, and ours are addresses in the object's file, as
// addr2line and objdump take them.
#pragma once

#include <optional>
#include <span>

#include "output/record.hpp"
#include "output/stack/object_map.hpp"
#include "symbols/symbols.hpp"

namespace landtrace::output {

struct StackStyle {
  bool functions = true;   // false: sym-userobj, objects alone
  bool addresses = false;  // sym-addr: the address behind each
};

// Names for frames: objects and their functions.
class StackNames {
 public:
  // `symbols` may be nullptr: no file is opened. It must outlive this.
  explicit StackNames(symbols::Symbols* symbols = nullptr) : symbols_(symbols) {}

  [[nodiscard]] ObjectMap& objects() { return objects_; }
  struct Place {
    const MappedObject* object = nullptr;
    std::uint64_t offset = 0;  // as an address in the object's file
    std::optional<symbols::Function> function;
  };
  // `is_first`: it is its stack's nearest.
  Place find(std::uint32_t tgid, std::uint64_t address, std::uint64_t time, bool is_first, bool functions = true);

 private:
  symbols::Symbols* symbols_;
  ObjectMap objects_;
};

struct UserStack {
  std::uint32_t tgid = 0;
  std::vector<std::uint64_t> caller;
  std::uint64_t time_ns = 0;  // when it was recorded, if whoever has it knows that
};
// The kernel's records have eight addresses; unused ones are 0.
UserStack parse_user_stack(std::span<const std::byte> payload);

// The text after the columns, without a newline at its end. `names` may be nullptr.
void append_user_stack(std::string& out, const Record& record, StackNames* names, const StackStyle& style = {});
// {"tgid":1234,"caller":[{"address":"0x7f…","object":"/usr/bin/app","offset":"0x1181","function":"f",
//                         "function_offset":"0x1f"}]}, on one line
void append_json_user_stack(std::string& out, const Record& record, StackNames* names);
// The same of a stack that is known; `time_ns` is when.
void append_json_stack(std::string& out, const UserStack& stack, std::uint64_t time_ns, StackNames* names);

}  // namespace landtrace::output
