// SPDX-License-Identifier: BSD-3-Clause
#include "common/stacks.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

namespace tdconf::adapter {
namespace {

constexpr int kSignal = SIGUSR2;
constexpr long kThreadDeadlineNs = 500'000'000;
// The handler and the kernel's return trampoline.
constexpr int kFramesOfHandler = 2;
constexpr std::size_t kMaxSymbolLength = 200;

/// One thread at a time writes here: the one whose id it claims from `wanted`.
struct Capture {
  std::atomic<pid_t> wanted{0};
  std::array<void*, 128> frames{};
  int depth = 0;
  sem_t done{};
};
Capture capture;

pid_t this_thread() {
  return static_cast<pid_t>(syscall(SYS_gettid));
}

void on_signal(int) {
  const int saved_errno = errno;
  pid_t self = this_thread();
  // A thread that answers after its deadline finds another id, or none, and keeps its hands off.
  if (capture.wanted.compare_exchange_strong(self, 0)) {
    capture.depth = backtrace(capture.frames.data(), static_cast<int>(capture.frames.size()));
    sem_post(&capture.done);
  }
  errno = saved_errno;
}

bool wait_for_capture() {
  timespec deadline{};
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_nsec += kThreadDeadlineNs;
  deadline.tv_sec += deadline.tv_nsec / 1'000'000'000;
  deadline.tv_nsec %= 1'000'000'000;
  int status = -1;
  do {
    status = sem_timedwait(&capture.done, &deadline);
  } while (status != 0 && errno == EINTR);
  return status == 0;
}

/// True when `capture` now holds the frames of `thread`.
bool capture_thread(pid_t thread) {
  capture.wanted = thread;
  if (syscall(SYS_tgkill, getpid(), thread, kSignal) == 0 && wait_for_capture()) return true;
  pid_t still_wanted = thread;
  if (capture.wanted.compare_exchange_strong(still_wanted, 0)) return false;
  return wait_for_capture();  // It claimed the capture just as the deadline passed.
}

std::string readable_symbol(const char* symbol) {
  if (symbol == nullptr) return "?";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
  std::string readable = status == 0 ? demangled.get() : symbol;
  if (readable.size() > kMaxSymbolLength)
    readable.replace(kMaxSymbolLength, std::string::npos, "...");
  return readable;
}

/// Gives the place in the file too, which addr2line turns into a source line.
std::string describe_frame(void* address) {
  std::ostringstream text;
  Dl_info info{};
  if (dladdr(address, &info) == 0) {
    text << address;
    return text.str();
  }
  text << readable_symbol(info.dli_sname) << " in "
       << std::filesystem::path(info.dli_fname).filename().string() << "+0x" << std::hex
       << static_cast<const char*>(address) - static_cast<const char*>(info.dli_fbase);
  return text.str();
}

std::vector<pid_t> all_threads() {
  std::vector<pid_t> threads;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    threads.push_back(static_cast<pid_t>(std::stol(entry.path().filename().string())));
  }
  std::sort(threads.begin(), threads.end());
  return threads;
}

std::string thread_name(pid_t thread) {
  std::string name;
  std::getline(std::ifstream("/proc/self/task/" + std::to_string(thread) + "/comm"), name);
  return name;
}

}  // namespace

void enable_stacks() {
  sem_init(&capture.done, 0, 0);
  // The first call loads libgcc, which a signal handler must not do.
  backtrace(capture.frames.data(), 1);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(kSignal, &action, nullptr);
}

std::string describe_stacks() {
  std::ostringstream text;
  for (const pid_t thread : all_threads()) {
    text << "thread " << thread << ' ' << thread_name(thread) << '\n';
    if (!capture_thread(thread)) {
      text << "  no answer\n";
      continue;
    }
    for (int i = kFramesOfHandler; i < capture.depth; ++i) {
      text << "  #" << i - kFramesOfHandler << ' '
           << describe_frame(capture.frames[static_cast<std::size_t>(i)]) << '\n';
    }
  }
  return text.str();
}

}  // namespace tdconf::adapter
