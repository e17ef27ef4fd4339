#include "cli/doctor/attempt.hpp"

#include <fcntl.h>
#include <landtrace/landtrace.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#include "abi/user_events.hpp"
#include "base/fd.hpp"
#include "cli/failure.hpp"

namespace landtrace::cli::doctor {
namespace {

constexpr const char* kDeclaration = "landtrace_doctor u32 value";

Result<void> emit_native() {
  static landtrace_event event = LANDTRACE_EVENT_INIT;
  if (const int code = landtrace_register(&event, kDeclaration, 0); code != 0) return fail_errno("registering", -code);
  if (landtrace_event_backend(&event) != LANDTRACE_DOMAIN) return fail(ENOENT, "the library found no domain");
  const std::uint32_t value = 1;
  const iovec payload{const_cast<std::uint32_t*>(&value), sizeof value};
  if (const int code = landtrace_emit(&event, &payload, 1); code != 0) return fail_errno("emitting", -code);
  landtrace_unregister(&event);
  return {};
}

Result<void> emit_through(const std::string& folder) {
  const std::string path = folder + "/user_events_data";
  const Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd) return fail_errno(path);
  static std::uint32_t enabled = 0;
  abi::UserReg request{};
  request.size = sizeof request;
  request.enable_size = sizeof enabled;
  request.enable_addr = reinterpret_cast<std::uint64_t>(&enabled);
  request.name_args = reinterpret_cast<std::uint64_t>(kDeclaration);
  if (::ioctl(fd.get(), abi::kIoctlRegister, &request) != 0) return fail_errno("DIAG_IOCSREG");
  if (__atomic_load_n(&enabled, __ATOMIC_RELAXED) == 0) return fail(EPROTO, "the enable word was not set");
  const std::uint32_t words[] = {request.write_index, 1};
  if (::write(fd.get(), words, sizeof words) != sizeof words) return fail_errno("writing an event");
  return {};
}

Result<void> read_readme(const std::string& folder) {
  LT_TRY(const std::string text, read_file(folder + "/README"));
  if (text.find("user_events_data") == std::string::npos) return fail(EPROTO, folder + " is not ours");
  return {};
}

Result<void> try_way(const std::string& way) {
  const std::size_t colon = way.find(':');
  const std::string folder = colon == std::string::npos ? "" : way.substr(colon + 1);
  if (way == "native") return emit_native();
  if (way.starts_with("files:")) return emit_through(folder);
  if (way.starts_with("readme:")) return read_readme(folder);
  return fail(EINVAL, "no such way");
}

}  // namespace

int attempt(const std::string& way) {
  const auto tried = try_way(way);
  return tried ? kSuccess : fail_with(kFailure, sentence(tried.error()));
}

}  // namespace landtrace::cli::doctor
