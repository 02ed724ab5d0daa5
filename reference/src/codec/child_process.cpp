// SPDX-License-Identifier: BSD-3-Clause
#include "codec/child_process.h"

#include <c10/util/Exception.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <new>
#include <string_view>

namespace tdref {
namespace {

// The last byte of what a child says; without it, it broke.
constexpr char kResult = 'r';
constexpr char kError = 'e';

void check_system(bool condition, const char* what) {
  const int error = errno;
  TORCH_CHECK(condition, what, ": ", std::strerror(error));
}

std::size_t data_bytes() {
  std::ifstream status("/proc/self/statm");
  std::array<std::size_t, 6> pages{};  // size, resident, shared, text, lib, data
  for (auto& count : pages) {
    status >> count;
  }
  return pages.back() * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void set_limit(__rlimit_resource resource, std::size_t most) {
  const rlimit limit{most, most};
  setrlimit(resource, &limit);
}

// Handlers of this process would report what is expected here, or wait for its other threads.
void let_signals_end_the_child() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGXCPU, SIGPIPE}) {
    std::signal(signal, SIG_DFL);
  }
}

void confine(const ChildLimits& limits) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  let_signals_end_the_child();
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_CPU, limits.cpu_seconds);
  set_limit(RLIMIT_DATA, data_bytes() + limits.memory_bytes);
  // A library that breaks says so where nobody could tell whom it means.
  if (const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) {
    dup2(nowhere, STDERR_FILENO);
  }
}

std::string answer_of(const std::function<std::string()>& produce) {
  try {
    return produce() + kResult;
  } catch (const c10::Error& error) {
    return error.what_without_backtrace() + std::string(1, kError);
  } catch (const std::bad_alloc&) {
    return std::string("it takes more memory than is allowed") + kError;
  }
}

void write_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = write(to, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return;  // nobody reads
    }
  }
}

std::string read_all(int from) {
  std::string bytes;
  std::array<char, 1 << 16> part{};
  for (;;) {
    const auto count = read(from, part.data(), part.size());
    if (count > 0) {
      bytes.append(part.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      return bytes;
    }
  }
}

void wait_for(pid_t child) {
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

std::string call_in_child(const ChildLimits& limits, const std::function<std::string()>& produce) {
  std::array<int, 2> ends{};
  check_system(pipe2(ends.data(), O_CLOEXEC) == 0, "the system makes no pipe");
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    confine(limits);
    write_all(ends[1], answer_of(produce));
    _exit(0);  // nothing of this process is to be put away twice
  }
  close(ends[1]);
  std::string answer = child > 0 ? read_all(ends[0]) : std::string();
  close(ends[0]);
  check_system(child > 0, "the system makes no child process");
  wait_for(child);
  const char last = answer.empty() ? '\0' : answer.back();
  TORCH_CHECK_VALUE(last == kResult || last == kError,
                    "it broke the library that reads it, or took more than ",
                    limits.cpu_seconds,
                    " seconds or ",
                    limits.memory_bytes,
                    " bytes");
  answer.pop_back();
  TORCH_CHECK_VALUE(last == kResult, answer);
  return answer;
}

}  // namespace tdref
