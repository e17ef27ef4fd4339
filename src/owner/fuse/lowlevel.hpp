// libfuse's low-level interface, in the version that this adapter uses.
#pragma once

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>
