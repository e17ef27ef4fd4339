// What the layer above keeps with an event, with an event in an instance, or with an instance. The domain does not look
// into it: it goes with what it is attached to.
#pragma once

namespace landtrace::domain {

class Attachment {
 public:
  virtual ~Attachment() = default;
};

}  // namespace landtrace::domain
