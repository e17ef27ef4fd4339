// Judges the facts that mounting depends on.
#pragma once

#include <string>
#include <vector>

#include "cli/doctor/check.hpp"

namespace landtrace::cli::doctor {

// The first executable file `name` in the folders of `path` ("A:B"; null: the usual ones), or "".
std::string find_program(const std::string& name, const char* path);

// `file`: fusermount3, or "".
Check judge_fusermount(const std::string& file, bool is_setuid_root, bool as_root);
// `folders`: where tools find a tracefs.
Check judge_tracefs(const std::vector<std::string>& folders);
// `release`: the kernel's, as of uname(2).
Check judge_mapped_status(const std::string& release);

}  // namespace landtrace::cli::doctor
