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

#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>

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
  // `symbols` may be nullptr: no file is opened. It must outlive this. `mutex`: under which it is asked, where other
  // threads do that too; each has StackNames of its own.
  explicit StackNames(symbols::Symbols* symbols = nullptr, std::mutex* mutex = nullptr)
      : symbols_(symbols), mutex_(mutex) {}

  // To change them at once.
  [[nodiscard]] ObjectMap& objects() {
    functions_.clear();
    return objects_;
  }
  struct Place {
    const MappedObject* object = nullptr;
    std::uint64_t offset = 0;  // as an address in the object's file
    std::optional<symbols::Function> function;
  };
  // `is_first`: it is its stack's nearest.
  Place find(std::uint32_t tgid, std::uint64_t address, std::uint64_t time, bool is_first, bool functions = true);

 private:
  // Of an address in an object, which may be its stack's nearest.
  struct Code {
    const MappedObject* object;
    std::uint64_t offset;
    bool is_first;
    friend bool operator==(const Code&, const Code&) = default;
  };
  struct CodeHash {
    std::size_t operator()(const Code& code) const {
      const std::uint64_t place = 2 * code.offset + (code.is_first ? 1 : 0);
      return (reinterpret_cast<std::uintptr_t>(code.object) ^ place) * 0x9e3779b97f4a7c15;
    }
  };
  static constexpr std::size_t kMostFunctions = 64 * 1024;
  const std::optional<symbols::Function>& function_of(const Code& code);

  symbols::Symbols* symbols_;
  std::mutex* mutex_;
  ObjectMap objects_;
  // Demangled: a program's stacks go through the same functions again and again.
  std::unordered_map<Code, std::optional<symbols::Function>, CodeHash> functions_;
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
