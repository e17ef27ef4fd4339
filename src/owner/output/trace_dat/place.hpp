// Where a recording may begin, what keeps two of them apart, and which files beside it are none of its own.
#pragma once

#include <cstdint>
#include <string>

#include "output/trace_dat/file_ops.hpp"

namespace landtrace::output::trace_dat {

// The errors of who comes second.
tl::unexpected<Error> is_being_written(const std::string& path);
tl::unexpected<Error> is_busy(const std::string& path);

// EBUSY: somebody else has it. Others ask for this lock, too: see has_writer().
Result<void> lock(const NamedFile& file);

// The new recording's journal, locked and empty: at `path`, or beside what is there. Errors as TraceDatWriter::create()
// has them.
Result<NamedFile> open_new_journal(const std::string& path, std::uint32_t streams);

}  // namespace landtrace::output::trace_dat
