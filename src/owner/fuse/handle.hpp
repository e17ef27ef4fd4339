// A file between OPEN and RELEASE.
#pragma once

#include <memory>
#include <optional>

#include "domain/files.hpp"
#include "fuse/lowlevel.hpp"
#include "fuse/registry.hpp"
#include "tracefs/node.hpp"

namespace landtrace::fuse {

struct Handle {
  std::unique_ptr<tracefs::OpenFile> file;
  const std::byte* page = nullptr;  // File::page()
  bool is_paged = false;
  // Of paged files: where the pages begin, once that is known. Not 0 if the reader has mapped the file first.
  std::optional<std::uint64_t> first_page;
  std::optional<domain::FileId> event_data;

  // poll(): how to tell the kernel, which events it wants, and which it has been told. Only with the domain held.
  fuse_pollhandle* poll = nullptr;
  short wanted = 0;
  short told = 0;
};

using Handles = Registry<Handle>;

}  // namespace landtrace::fuse
