// Input: an ELF file. Its first bytes are made those of a program for x86-64, so that what follows is looked at.
// Whatever it holds: nothing outside of it is read, and the recipes that come out fit their bounds.
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "code/analysis.hpp"
#include "code/glob.hpp"
#include "code/refusal.hpp"

namespace {

using namespace landtrace;

void require(bool condition) {
  if (!condition) std::abort();
}

std::string as_program(std::string bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header) return bytes;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = EM_X86_64;
  // Headers mostly lie in the file, and are of the right size.
  if (header.e_version % 8 != 0) {
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_shoff %= bytes.size();
    header.e_phoff %= bytes.size();
    header.e_shnum %= 16;
    header.e_phnum %= 16;
  }
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

Fd as_file(const std::string& bytes) {
  Fd fd(::memfd_create("elf", MFD_CLOEXEC));
  require(::pwrite(fd.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  return fd;
}

void look_at(const agent::Recipe& recipe) {
  require(!code::refusal_text(recipe.refusal).empty() || recipe.refusal == agent::Refusal::kNone);
  if (recipe.way == agent::Way::kRefused) {
    require(recipe.refusal != agent::Refusal::kNone);
    return;
  }
  require(recipe.displaced >= agent::kJumpSize && recipe.displaced <= agent::kMaxDisplaced);
  require(recipe.copy_size != 0 && recipe.copy_size <= agent::kMaxCopy && recipe.fixup_count <= agent::kMaxFixups);
  for (unsigned i = 0; i < recipe.fixup_count; ++i) {
    const agent::Fixup& fixup = recipe.fixups[i];
    require(fixup.at + 4u <= recipe.copy_size && fixup.next <= recipe.copy_size);
  }
}

// Each name means a function that has it, and what an ifunc may choose are functions.
void look_at_names(const code::Analysis& analysis) {
  std::size_t looked = 0;
  for (const code::Matched& one : code::matching(analysis.named(), "*")) {
    require(!one.function->is_part);
    const auto choices = analysis.choices(*one.function);
    for (const std::uint64_t offset : choices) require(analysis.function_at(offset) != nullptr);
    // C++ names may be such that reading them takes all memory.
    if (++looked > 64 || one.name.starts_with("_Z")) continue;
    const auto found = analysis.named().find(one.name);
    if (found) require(!(*found)->is_part);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto analysis =
      code::Analysis::open(as_file(as_program({reinterpret_cast<const char*>(data), size})), "input", "/nonexistent");
  if (!analysis) return 0;
  require(analysis->build_id().size() <= size);
  std::size_t looked = 0;
  for (const code::Function& function : analysis->functions()) {
    require(function.begin < function.end);
    for (const std::string_view name : analysis->names(function)) require(!name.empty() && name.size() <= size);
    if (++looked > 64) continue;
    const std::uint64_t offset = analysis->offset_of(function);
    require(analysis->function_at(offset) != nullptr);
    for (std::uint64_t at = offset; at < offset + 8; ++at) look_at(analysis->recipe(at));
    std::ignore = analysis->return_refusal(offset);
  }
  look_at(analysis->recipe(size / 2));
  look_at_names(*analysis);
  return 0;
}
