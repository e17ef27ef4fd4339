// How large the rings of a recording are when nobody has said so.
#pragma once

#include <cstdint>
#include <string>

#include "consumer/session.hpp"

namespace landtrace::cli {

// Each CPU's: what holds 5 million small events a second while the disk or another virtual machine has the recorder
// wait for 150 ms, where all of them together take no more than 256 MiB and a 64th of the memory. No less than 4 MiB.
std::uint64_t usual_ring_bytes(std::uint64_t cpus, std::uint64_t memory);

// What this process may use: the machine's, or less where its control groups (version 2) say so. `root`: "", or where
// the files stand.
std::uint64_t usable_memory(const std::string& root = "");

// Of a recording on this machine: the smaller ones will do where a domain has little room.
consumer::Session::Options usual_rings();

}  // namespace landtrace::cli
