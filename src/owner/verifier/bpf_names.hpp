// The names of what runs in programs, where the verifier needs them.
#pragma once

#include "bpf/instruction.hpp"
#include "bpf/map_layout.hpp"

namespace landtrace::verifier {

using bpf::access_size;
using bpf::constant_of;
using bpf::Instruction;
using bpf::kArray;
using bpf::kCall;
using bpf::kExit;
using bpf::kFramePointer;
using bpf::kFrameSize;
using bpf::kHash;
using bpf::kLoadConstant;
using bpf::kLruHash;
using bpf::kMaxFrames;
using bpf::kMaxInstructions;
using bpf::kPercpuArray;
using bpf::kPercpuHash;
using bpf::kPerfEventArray;
using bpf::kRegisters;
using bpf::kRingbuf;
using bpf::kStackTrace;
using bpf::MapLayout;

}  // namespace landtrace::verifier
