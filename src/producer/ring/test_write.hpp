// One record into a set of rings, for tests: in the data plane plan/emit.hpp has the pieces of this in line.
#pragma once

#include "ring/writer.hpp"

namespace landtrace::ring {

// A record that finds no room is counted in its ring.
inline WriteResult write(const RingSet& rings, const WriteMode& mode, const RecordSpec& record) {
  arch::WriteRequest request;
  describe(request, record);
  return write_after(write_at_once(request, rings, mode, TimeOfWrite{}), request, rings, mode, record.tid);
}

}  // namespace landtrace::ring
