// Where the functions of a domain's programs are, for filters with FIELD.function. The answers come from each program's
// /proc/PID/maps and from the symbols of the objects that it has mapped.
//
// Only programs of the owner's own user are looked at. The owner may be root: it must not open files that other users
// choose by mapping them.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "language/filter/functions.hpp"
#include "symbols/symbols.hpp"

namespace landtrace::programs {

class ProgramFunctions : public language::FunctionResolver {
 public:
  explicit ProgramFunctions(std::uint32_t owner_uid) : owner_uid_(owner_uid) {}

  // From here on the process is looked at, too. It is forgotten some time after it has ended.
  void add(std::uint32_t pid);

  std::vector<filter::FunctionRange> named(std::string_view name) override;
  std::vector<filter::FunctionRange> holding(std::uint64_t address) override;
  // The path of an object that one of the programs has mapped, by its name alone (is_object_called()); "" if none has.
  std::string find_object(std::string_view name);
  // The files that the programs were started from, each once; that of the thread `first`, if it is among them, first.
  std::vector<std::string> executables(std::uint32_t first);
  // The function that holds the address, in the first program that has one there; nullopt if none has.
  std::optional<symbols::Function> at(std::uint64_t address);

 private:
  // A file that a process has mapped.
  struct Object {
    std::string path;  // by which the owner can open it, whatever the process's root folder is
    std::string build_id;
    std::uint64_t begin;  // of what is mapped
    std::uint64_t end;
    std::uint64_t bias;  // what is added to an address of the file to get that in the process
  };
  static std::vector<Object> objects_of(std::uint32_t pid);
  using Find = std::function<void(const Object& object, std::vector<symbols::AddressRange>& found)>;
  // What `find` finds in all objects of all programs, as addresses in the processes.
  std::vector<filter::FunctionRange> find_in_all(const Find& find);
  [[nodiscard]] bool is_ours(std::uint32_t pid) const;
  void forget_ended();

  std::uint32_t owner_uid_;
  std::set<std::uint32_t> programs_;
  // So many processes are known when add() looks which of them have ended. Each time that costs as much as there are,
  // so the next time is when their number has doubled.
  std::size_t look_at_ = 256;
  symbols::Symbols symbols_;
};

}  // namespace landtrace::programs
