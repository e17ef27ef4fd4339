// Which domain a command without --socket means.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"

namespace landtrace::cli {

// --socket, or $LANDTRACE_SOCKET; "": neither names one.
std::string named_socket(const std::string& option);

// A domain that may be mounted by this user: the one that is named, served or not; else the user's own, or for root
// the one for all users, if somebody serves it; nullopt: none of them.
std::optional<std::string> mountable_domain(const std::string& option);

// The domain that a command without a CMD of its own speaks to.
struct ChosenDomain {
  enum class Why {
    kOption,
    kEnvironment,
    kOwn,     // the user's, served or not
    kSystem,  // that for all users, because nobody serves the user's own
  };
  std::string socket;
  Why why;
};
ChosenDomain choose_domain(const std::string& option);
// "that of all users, because nobody serves /run/user/1000/landtrace/domain.sock"
std::string why_text(const ChosenDomain& domain);

// The same one's socket. Where nothing that the user does shows which one it is, it is said.
std::string domain_to_speak_to(const std::string& option);

// Nobody serves a domain there.
bool is_nobody(const Error& error);
// Why a domain cannot be used, and what to do where nobody serves it.
tl::unexpected<Error> unreached(Error error);

}  // namespace landtrace::cli
