// Input: damage to a program's debugging information, 5 bytes each: where, and what stands there instead. It is
// compiled when this starts. Whatever becomes of it, each question has an answer that ends, and that is understood or
// refused. libdw is not instrumented: what it cannot take ends landtrace-dwarf, and nothing else.
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "dwarf/reader.hpp"
#include "dwarf/reading/answers.hpp"

namespace {

using namespace landtrace;

constexpr const char* kSource =
    "struct point { int x, y; };\n"
    "struct request { unsigned id; const char *route; int status; unsigned mode : 3; int codes[4];\n"
    "                 struct request *next; struct point at; };\n"
    "int counter = 5;\n"
    "static inline __attribute__((always_inline)) int clamp(int v) { int r = v > 9 ? 9 : v; return r * 2; }\n"
    "int handle(int id, struct request *req, struct point p, double d) {\n"
    "  int local = id + counter;\n"
    "  req->status += clamp(local) + p.x;\n"
    "  return local + d;\n"
    "}\n"
    "void _start(void) { struct request r = {1}; struct point p = {2}; handle(3, &r, p, 4); }\n";

struct Program {
  std::string bytes;
  std::vector<std::size_t> damageable;  // where debugging information is
  std::uint64_t offset = 0;             // of handle()
};

void require(bool condition) {
  if (!condition) std::abort();
}

template <typename T>
T read_as(const std::string& bytes, std::uint64_t at) {
  T value;
  require(at + sizeof value <= bytes.size());
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

Program compiled(const char* options) {
  char folder[] = "/tmp/landtrace-fuzz-XXXXXX";
  require(::mkdtemp(folder) != nullptr);
  const std::string in = folder;
  std::FILE* const file = std::fopen((in + "/test.c").c_str(), "w");
  require(file != nullptr && std::fputs(kSource, file) >= 0 && std::fclose(file) == 0);
  const std::string command = "cd " + in + " && cc -nostdlib -static " + options + " test.c -o test";
  require(std::system(command.c_str()) == 0);
  Program program{read_file(in + "/test").value(), {}, 0};
  require(std::system(("rm -r " + in).c_str()) == 0);
  const auto header = read_as<Elf64_Ehdr>(program.bytes, 0);
  const auto section = [&](unsigned i) {
    return read_as<Elf64_Shdr>(program.bytes, header.e_shoff + i * sizeof(Elf64_Shdr));
  };
  const Elf64_Shdr names = section(header.e_shstrndx);
  // handle() comes first in it.
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr each = section(i);
    const std::string name = program.bytes.c_str() + names.sh_offset + each.sh_name;
    if (name == ".text") program.offset = each.sh_offset;
    if (!name.starts_with(".debug_")) continue;
    for (std::uint64_t at = 0; at < each.sh_size; ++at) program.damageable.push_back(each.sh_offset + at);
  }
  require(!program.damageable.empty() && program.offset != 0);
  return program;
}

Fd as_file(const std::string& bytes) {
  Fd fd(::memfd_create("elf", MFD_CLOEXEC));
  require(::pwrite(fd.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  return fd;
}

void ask(const std::string& bytes, const std::vector<std::string>& words) {
  const std::string said = dwarf::answer(as_file(bytes), "/nowhere/test", "/nowhere", words);
  require(said.ends_with("end\n"));
  const auto is_refused = [&] { return said.starts_with("error\t"); };
  if (words[0] == "values") require(is_refused() || dwarf::parse_values(said, words.size() - 3).has_value());
  if (words[0] == "functions") require(is_refused() || dwarf::parse_functions(said).has_value());
  if (words[0] == "line") require(is_refused() || dwarf::parse_places(said).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const std::vector<Program> programs{compiled("-gdwarf-5 -O0"), compiled("-gdwarf-5 -O2"),
                                             compiled("-gdwarf-4 -O2")};
  if (size == 0) return 0;
  const Program& program = programs[data[0] % programs.size()];
  std::string bytes = program.bytes;
  for (std::size_t at = 1; at + 5 <= size; at += 5) {
    std::uint32_t where = 0;
    std::memcpy(&where, data + at, sizeof where);
    bytes[program.damageable[where % program.damageable.size()]] = static_cast<char>(data[at + 4]);
  }
  const std::string offset = std::to_string(program.offset);
  ask(bytes,
      {"values", offset, "entry", "$params", "id", "req->status", "req->next->codes[2]", "$vars", "p.y", "req->at.x"});
  ask(bytes, {"values", offset, "return", "$retval", "id", "req->route", "counter:x8[4]"});
  ask(bytes, {"line", "test.c", "8"});
  ask(bytes, {"no-function", "clamp"});
  ask(bytes, {"functions"});
  return 0;
}
