#include "agent/loader.hpp"

#include <elf.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>

namespace landtrace::agent {

std::uint64_t loader_state() {
  std::uint64_t state = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t size, void* to) {
        if (size >= sizeof *info) *static_cast<std::uint64_t*>(to) = info->dlpi_adds + info->dlpi_subs;
        return 1;
      },
      &state);
  return state;
}

const r_debug* loader_debug() {
  const auto* headers = reinterpret_cast<const ElfW(Phdr)*>(::getauxval(AT_PHDR));
  const std::size_t count = ::getauxval(AT_PHNUM);
  if (headers == nullptr) return nullptr;
  std::uint64_t base = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (headers[i].p_type == PT_PHDR) base = reinterpret_cast<std::uint64_t>(headers) - headers[i].p_vaddr;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (headers[i].p_type != PT_DYNAMIC) continue;
    for (const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(base + headers[i].p_vaddr); entry->d_tag != DT_NULL;
         ++entry) {
      if (entry->d_tag == DT_DEBUG) return reinterpret_cast<const r_debug*>(entry->d_un.d_ptr);
    }
  }
  return nullptr;
}

namespace {

// What stands behind the `ret` of an empty function up to the next: it is never run.
bool is_padding(const std::uint8_t* bytes) {
  static constexpr std::uint8_t kForms[][4] = {
      {0x66, 0x2e, 0x0f, 0x1f}, {0x66, 0x66, 0x2e, 0x0f}, {0x0f, 0x1f, 0x80, 0x00}, {0x0f, 0x1f, 0x84, 0x00},
      {0x0f, 0x1f, 0x44, 0x00}, {0x0f, 0x1f, 0x40, 0x00}, {0x66, 0x0f, 0x1f, 0x44}, {0x66, 0x0f, 0x1f, 0x84},
      {0x90, 0x90, 0x90, 0x90}, {0xcc, 0xcc, 0xcc, 0xcc}, {0x00, 0x00, 0x00, 0x00}};
  return std::any_of(std::begin(kForms), std::end(kForms),
                     [bytes](const std::uint8_t(&form)[4]) { return std::memcmp(bytes, form, sizeof form) == 0; });
}

}  // namespace

bool recipe_of_empty_function(const std::uint8_t* bytes, Recipe& recipe) {
  static constexpr std::uint8_t kPadAndReturn[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xc3};
  const bool has_pad = std::memcmp(bytes, kPadAndReturn, sizeof kPadAndReturn) == 0;
  if (!has_pad && (bytes[0] != 0xc3 || !is_padding(bytes + 1))) return false;
  recipe = {};
  recipe.way = has_pad ? Way::kQuiet : Way::kOneStore;
  recipe.displaced = kJumpSize;
  recipe.flags = kAtEntry | kNeverComesBack;
  recipe.copy_size = 1;
  recipe.copy[0] = 0xc3;
  std::memcpy(recipe.expected, bytes, kJumpSize);
  return true;
}

}  // namespace landtrace::agent
