// Requests that the owner may take a while for.
#pragma once

#include <cerrno>
#include <ctime>
#include <string_view>

#include "base/system_call.hpp"
#include "client/process.hpp"

namespace landtrace::bpf_calls {

// Asks again as long as the answer is that it is being worked on (EINPROGRESS), for half a minute at most.
inline Result<ipc::Answer> ask_patiently(const ipc::Request& request, std::string_view text = {}) {
  constexpr timespec kPause{0, 5'000'000};
  constexpr int kMostPauses = 6'000;
  for (int pauses = 0;; ++pauses) {
    auto answer = client::Process::get().ask(request, text);
    if (answer || answer.error().code != EINPROGRESS || pauses == kMostPauses) return answer;
    system_call(SYS_nanosleep, &kPause, static_cast<void*>(nullptr));
  }
}

}  // namespace landtrace::bpf_calls
