// Takes back what dead producers still hold in the data segments.
#pragma once

#include "domain/instances.hpp"
#include "domain/segment_names.hpp"

namespace landtrace::domain {

// Frees the thread slots and ring claims whose thread is gone. A claim is taken back as it stands: what its holder had
// not committed is not there.
void reap(const Users& users, Instances& instances);

}  // namespace landtrace::domain
