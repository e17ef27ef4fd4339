// Logs by glog, with the sink and after it.
#include <landtrace/bridges/glog.hpp>

int main(int /*argc*/, char** argv) {
  google::InitGoogleLogging(argv[0]);
  {
    const landtrace::bridges::GlogSink sink;
    LOG(INFO) << "one " << 1;
    LOG(WARNING) << std::string(25000, 'x');
  }
  LOG(ERROR) << "not this one";
}
