// Where a recording may begin, what keeps two of them apart, and which files beside it are none of its own.
//
// Whoever records into PATH, in this format or in another one, has PATH.partial and a flock(2) of it: from before there
// is anything else of the recording until that has its place. So has who completes one that was left. Only who has the
// lock makes, renames or removes files of these names. The journal's lock is another one, which readers ask for, too:
// see has_writer().
//
// Where a file system has no locks nobody is kept off but by what he sees.
#pragma once

#include <cstdint>
#include <string>

#include "output/trace_dat/file_ops.hpp"

namespace landtrace::output::trace_dat {

// The errors of who comes second.
tl::unexpected<Error> is_being_written(const std::string& path);
tl::unexpected<Error> is_busy(const std::string& path);
tl::unexpected<Error> is_in_the_way(const std::string& path);

// Whether nothing is lost with the file: it is not there or empty, or begins as what recorders leave. Others have files
// of these names, too: trace-cmd those of CPUs, record --format PATH.partial.
bool is_unused(const std::string& path);

// EBUSY: somebody records into PATH; EEXIST: a recording was left there, or at PATH.new.
Result<void> refuse_recordings(const std::string& path);

// What is at `from` becomes the older recording at `old`, in place of what has that name. EBUSY, EEXIST: that is a
// recording which is not finished; ENOENT: there is nothing at `from`. After an error all is where it was.
Result<void> make_older(const std::string& from, const std::string& old);

// EBUSY: somebody else has it; another error: there are no locks, and nobody can tell. Others ask for this lock, too:
// see has_writer().
Result<void> lock(const NamedFile& file);

// PATH.partial, locked.
struct Claim {
  NamedFile partial;
  bool is_new = false;  // it was not there
};
// EBUSY: somebody else has it; EPERM, EEXIST: something has its name that cannot be.
Result<Claim> claim(const std::string& path);
// A new one in place of that which was there, and its lock. EBUSY: another one came between.
Result<void> renew(NamedFile& partial);
// Keeps others off a file that is about to get this name.
void hold(const NamedFile& file);

// Both locked and empty. The journal is at `path`, or beside what is there.
struct NewFiles {
  NamedFile journal;
  NamedFile partial;
};
// Errors as TraceDatWriter::create() has them.
Result<NewFiles> make_files(const std::string& path, std::uint32_t streams);

}  // namespace landtrace::output::trace_dat
