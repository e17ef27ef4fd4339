// Sets everything up, runs the measuring process, cleans up.
//
//   supervisor            private folder; private mount namespace with the kernel's tracefs; LTTng's session
//   daemon
//     measure             under the preload shim; times ours and the peers in one process
//       owner             hosts the domain; one more for each row that wants a fresh one
//       clients           attach, register, wait
//
// Mounts go with the namespace, children with their parents (child.hpp), whatever ends the run; what is left
// in the file system and in the kernel's tracefs is removed by the supervisor, also after Ctrl-C.
#pragma once

#include "setting.hpp"

namespace landtrace::bench {

// The exit status.
int supervise(Setting setting);

}  // namespace landtrace::bench
