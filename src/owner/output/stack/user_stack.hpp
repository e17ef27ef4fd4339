// Records of user_stack as people see them:
//
//            app-1234    [003] .....    12.345678: <user stack trace>
//    => handle(request*)+0x1f [/usr/bin/app]
//    => /usr/lib/x86_64-linux-gnu/libc.so.6[+0x2724a]
//    =>  <00007f0b1e6eceec>
//
// by function, by object where no function is known, and by address where nothing is. The last two are the kernel's own
// forms; but its offsets count from where a part of the object is mapped, and ours as addresses in the object's file do,
// which is what addr2line and objdump want.
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

// What is known of the objects on stacks.
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
  Place find(std::uint32_t tgid, std::uint64_t address, std::uint64_t time, bool functions = true);

 private:
  symbols::Symbols* symbols_;
  ObjectMap objects_;
};

struct UserStack {
  std::uint32_t tgid = 0;
  std::vector<std::uint64_t> caller;
};
// The kernel's have eight addresses, those behind the last one 0.
UserStack parse_user_stack(std::span<const std::byte> payload);

// What stands behind the columns; no newline at the end. `names` may be nullptr.
void append_user_stack(std::string& out, const Record& record, StackNames* names, const StackStyle& style = {});
// {"tgid":1234,"caller":[{"address":"0x7f…","object":"/usr/bin/app","offset":"0x1181","function":"f","function_offset":"0x1f"}]}
void append_json_user_stack(std::string& out, const Record& record, StackNames* names);

}  // namespace landtrace::output
