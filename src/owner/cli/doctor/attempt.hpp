// The program that `landtrace doctor` starts to try a way in: itself, with --attempt.
#pragma once

#include <string>

namespace landtrace::cli::doctor {

inline constexpr const char* kDoctorEvent = "landtrace_doctor";

// "native": one event by the native library; "files:FOLDER": one by the kernel's ABI on FOLDER/user_events_data;
// "readme:FOLDER": reads FOLDER/README. An exit status; complains when it fails.
int attempt(const std::string& way);

}  // namespace landtrace::cli::doctor
