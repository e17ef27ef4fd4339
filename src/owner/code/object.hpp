// An object's file: what it puts into memory, and its functions as far as symbols and .eh_frame tell of them. Its code
// is not looked at, which takes longer: Analysis.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "code/frames.hpp"
#include "code/functions.hpp"
#include "code/image.hpp"
#include "symbols/debug_file.hpp"

namespace landtrace::code {

struct Object {
  // Where they stay, as some refer to others.
  std::unique_ptr<symbols::ElfFile> file;
  std::unique_ptr<Image> image;
  std::unique_ptr<Functions> functions;
  std::vector<Frame> frames;
};

// What ElfFile::open() and Image::open() say. `path` is the file's in messages, and separate debug files are looked for
// near it and in `debug_folder`.
Result<Object> open_object(Fd fd, const std::string& path, const std::string& debug_folder = symbols::kDebugFolder);

}  // namespace landtrace::code
