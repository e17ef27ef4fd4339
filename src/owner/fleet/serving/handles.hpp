// What libnats gives out, owned.
#pragma once

#include <nats/nats.h>

#include <memory>
#include <string>

#include "base/result.hpp"
#include "fleet/failure_text.hpp"

namespace landtrace::fleet {

template <auto kDestroy>
struct Destroyer {
  template <typename T>
  void operator()(T* object) const {
    kDestroy(object);
  }
};

using Options = std::unique_ptr<natsOptions, Destroyer<natsOptions_Destroy>>;
using Connection = std::unique_ptr<natsConnection, Destroyer<natsConnection_Destroy>>;
using JetStream = std::unique_ptr<jsCtx, Destroyer<jsCtx_Destroy>>;
using Message = std::unique_ptr<natsMsg, Destroyer<natsMsg_Destroy>>;
using Bucket = std::unique_ptr<kvStore, Destroyer<kvStore_Destroy>>;

// libnats before 3.6.1 looks up whose a message is, and uses that without a lock (nats.c, issue 637): what is destroyed
// meanwhile leaves the connection's thread to wait for ever, or to crash. So a subscription is destroyed when that
// thread has read an answer behind its end. Where none comes it is not destroyed, but has ended.
class Leave {
 public:
  Leave() = default;
  explicit Leave(natsConnection* connection) : connection_(connection) {}
  void operator()(natsSubscription* subscription) const;

 private:
  natsConnection* connection_ = nullptr;  // the subscription keeps its memory
};
using Subscription = std::unique_ptr<natsSubscription, Leave>;

// An errno for it, and what libnats says of it behind `what`.
inline tl::unexpected<Error> nats_failure(const std::string& what, natsStatus status) {
  int code = EIO;
  switch (status) {
    case NATS_NOT_FOUND:
      code = ENOENT;
      break;
    case NATS_TIMEOUT:
      code = ETIMEDOUT;
      break;
    case NATS_NO_SERVER:
    case NATS_CONNECTION_CLOSED:
    case NATS_CONNECTION_DISCONNECTED:
    case NATS_NO_RESPONDERS:
      code = ECONNREFUSED;
      break;
    case NATS_NOT_PERMITTED:
    case NATS_CONNECTION_AUTH_FAILED:
      code = EACCES;
      break;
    default:
      break;
  }
  natsStatus last = NATS_OK;
  const char* const more = nats_GetLastError(&last);
  const bool is_of_it = more != nullptr && more[0] != '\0' && last == status;
  return fail(code, what + ": " + without_places(is_of_it ? more : natsStatus_GetText(status)));
}

inline std::string text_of(const natsMsg* message) {
  return {natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))};
}

}  // namespace landtrace::fleet
