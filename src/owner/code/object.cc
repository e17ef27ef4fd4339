#include "code/object.hpp"

#include <algorithm>

namespace landtrace::code {
namespace {

constexpr std::uint64_t kMaxFrameBytes = 512u << 20;

std::vector<Frame> frames_of(const symbols::ElfFile& file, const Image& image) {
  const std::vector<std::string> names = file.section_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Elf64_Shdr& section = file.sections()[i];
    if (names[i] != ".eh_frame") continue;
    const auto bytes = file.contents(section, kMaxFrameBytes);
    return bytes ? read_frames(*bytes, section.sh_addr) : std::vector<Frame>();
  }
  // Without section headers it reaches to the end of its segment at most.
  Reader reader(file, image);
  const std::uint64_t begin = frames_of_index(reader, image.frame_index());
  const Segment* const segment = image.segment_at(begin);
  if (begin == 0 || segment == nullptr) return {};
  std::string bytes(std::min(segment->end - begin, kMaxFrameBytes), '\0');
  if (!file.read(image.offset_of(begin), std::as_writable_bytes(std::span(bytes)))) return {};
  return read_frames(bytes, begin);
}

}  // namespace

Result<Object> open_object(Fd fd, const std::string& path, const std::string& debug_folder) {
  LT_TRY(symbols::ElfFile file, symbols::ElfFile::open(std::move(fd), path));
  LT_TRY(Image image, Image::open(file));
  Object object{std::make_unique<symbols::ElfFile>(std::move(file)), std::make_unique<Image>(std::move(image)), {}, {}};
  object.frames = frames_of(*object.file, *object.image);
  const auto& sections = object.file->sections();
  const bool has_all_symbols = std::any_of(sections.begin(), sections.end(),
                                           [](const Elf64_Shdr& section) { return section.sh_type == SHT_SYMTAB; });
  const auto debug = has_all_symbols ? std::nullopt : symbols::find_debug_file(*object.file, path, debug_folder);
  object.functions = std::make_unique<Functions>(*object.file, debug ? &*debug : nullptr, *object.image, object.frames);
  return object;
}

}  // namespace landtrace::code
