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
  const std::byte* page = nullptr;  // as of File::page()
  bool is_paged = false;
  // Of paged files: where the pages begin, once that is known. Not 0 where somebody has looked into a mapping first.
  std::optional<std::uint64_t> first_page;
  std::optional<domain::FileId> event_data;

  // Who polls: whom to tell, of what, and what is known to them. The holder of the domain uses it.
  fuse_pollhandle* poll = nullptr;
  short wanted = 0;
  short told = 0;
};

using Handles = Registry<Handle>;

}  // namespace landtrace::fuse
