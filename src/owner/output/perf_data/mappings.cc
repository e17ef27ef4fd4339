#include "output/perf_data/mappings.hpp"

#include "symbols/elf_file.hpp"

namespace landtrace::output::perf_data {
namespace {

constexpr std::uint64_t kPage = 4096;

std::uint64_t down(std::uint64_t address) { return address & ~(kPage - 1); }

}  // namespace

std::vector<Mapping> mappings_of(const MappedObject& object) {
  std::vector<Mapping> mappings;
  const auto file = symbols::ElfFile::open(object.path);
  if (file && file->build_id() == object.build_id) {
    const auto segments = file->segments();
    for (const Elf64_Phdr& segment : segments ? *segments : std::vector<Elf64_Phdr>()) {
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
      const std::uint64_t begin = down(object.bias + segment.p_vaddr);
      const std::uint64_t end = down(object.bias + segment.p_vaddr + segment.p_memsz + kPage - 1);
      mappings.push_back({begin, end - begin, down(segment.p_offset)});
    }
  }
  if (mappings.empty()) mappings.push_back({object.start, object.end - object.start, object.start - object.bias});
  return mappings;
}

}  // namespace landtrace::output::perf_data
