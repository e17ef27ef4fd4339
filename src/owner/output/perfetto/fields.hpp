// Numbers of the fields that are used of the messages of Perfetto's public trace format (perfetto_trace.proto).
#pragma once

#include <cstdint>

namespace landtrace::output::perfetto {

namespace trace {
inline constexpr std::uint32_t kPacket = 1;
}

namespace packet {
inline constexpr std::uint32_t kClockSnapshot = 6;
inline constexpr std::uint32_t kTimestamp = 8;
inline constexpr std::uint32_t kTrustedPacketSequenceId = 10;
inline constexpr std::uint32_t kTrackEvent = 11;
inline constexpr std::uint32_t kInternedData = 12;
inline constexpr std::uint32_t kSequenceFlags = 13;
inline constexpr std::uint32_t kTracePacketDefaults = 59;
inline constexpr std::uint32_t kTrackDescriptor = 60;
inline constexpr std::uint64_t kIncrementalStateCleared = 1;
inline constexpr std::uint64_t kNeedsIncrementalState = 2;
}  // namespace packet

namespace defaults {
inline constexpr std::uint32_t kTimestampClockId = 58;
}

namespace clock {
inline constexpr std::uint32_t kClocks = 1;
inline constexpr std::uint32_t kPrimaryTraceClock = 2;
inline constexpr std::uint32_t kClockId = 1;
inline constexpr std::uint32_t kTimestamp = 2;
inline constexpr std::uint64_t kRealtime = 1;
inline constexpr std::uint64_t kMonotonic = 3;
}  // namespace clock

namespace track {
inline constexpr std::uint32_t kUuid = 1;
inline constexpr std::uint32_t kName = 2;
inline constexpr std::uint32_t kProcess = 3;
inline constexpr std::uint32_t kThread = 4;
inline constexpr std::uint32_t kParentUuid = 5;
inline constexpr std::uint32_t kCounter = 8;
inline constexpr std::uint32_t kProcessPid = 1;
inline constexpr std::uint32_t kProcessName = 6;
inline constexpr std::uint32_t kThreadPid = 1;
inline constexpr std::uint32_t kThreadTid = 2;
inline constexpr std::uint32_t kThreadName = 5;
}  // namespace track

namespace track_event {
inline constexpr std::uint32_t kCategoryIids = 3;
inline constexpr std::uint32_t kDebugAnnotations = 4;
inline constexpr std::uint32_t kType = 9;
inline constexpr std::uint32_t kNameIid = 10;
inline constexpr std::uint32_t kTrackUuid = 11;
inline constexpr std::uint32_t kCounterValue = 30;
inline constexpr std::uint32_t kDoubleCounterValue = 44;
inline constexpr std::uint32_t kFlowIds = 47;
inline constexpr std::uint32_t kTerminatingFlowIds = 48;
inline constexpr std::uint32_t kCallstackIid = 56;
enum class Type : std::uint8_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4 };
}  // namespace track_event

namespace annotation {
inline constexpr std::uint32_t kNameIid = 1;
inline constexpr std::uint32_t kUint = 3;
inline constexpr std::uint32_t kInt = 4;
inline constexpr std::uint32_t kDouble = 5;
inline constexpr std::uint32_t kString = 6;
}  // namespace annotation

namespace interned {
inline constexpr std::uint32_t kEventCategories = 1;
inline constexpr std::uint32_t kEventNames = 2;
inline constexpr std::uint32_t kDebugAnnotationNames = 3;
inline constexpr std::uint32_t kFunctionNames = 5;
inline constexpr std::uint32_t kFrames = 6;
inline constexpr std::uint32_t kCallstacks = 7;
inline constexpr std::uint32_t kBuildIds = 16;
inline constexpr std::uint32_t kMappingPaths = 17;
inline constexpr std::uint32_t kMappings = 19;
// Of each of them.
inline constexpr std::uint32_t kIid = 1;
inline constexpr std::uint32_t kText = 2;
inline constexpr std::uint32_t kMappingBuildId = 2;
inline constexpr std::uint32_t kMappingStart = 4;
inline constexpr std::uint32_t kMappingEnd = 5;
inline constexpr std::uint32_t kMappingPathIds = 7;
inline constexpr std::uint32_t kFrameFunctionId = 2;
inline constexpr std::uint32_t kFrameMappingId = 3;
inline constexpr std::uint32_t kFrameRelPc = 4;
inline constexpr std::uint32_t kCallstackFrameIds = 2;
}  // namespace interned

}  // namespace landtrace::output::perfetto
