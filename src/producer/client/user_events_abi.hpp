// The ABI's definitions under the client's name.
#pragma once

#include "event/user_events_abi.hpp"

namespace landtrace::client {
namespace abi = event::abi;
}
