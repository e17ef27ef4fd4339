# Builds for aarch64 on another machine, with what Debian has for that: g++-aarch64-linux-gnu, the libraries of the
# architecture arm64 beside this machine's own, and qemu-user, under which CTest runs what was built (./dev arm).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
# Of each library the one that can be linked: pkg-config knows this machine's alone.
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
