// Loaded before the C library (LD_PRELOAD), this makes one call fail: the Nth of its kind in all
// processes that share $HEADWAY_FAULT_COUNTER, a file that counts with a byte a call. So every
// place that writes can be made to fail, one after the other, and none is met by luck.
//
// $HEADWAY_FAULT is CALL:N:ERRNO, "write:7:28"; N 0 only counts. CALL is write (also writev,
// pwrite), short (the same, which then take half and say so), open (for writing, and fopen),
// mkdir, rename, fork, pipe (also socketpair) or fsync (also fdatasync). Writes to pipes and
// terminals are let through.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace {

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// Counts a call; true if it is the one that fails.
bool is_hit(const char* call) {
  const char* const fault = std::getenv("HEADWAY_FAULT");
  const char* const counter = std::getenv("HEADWAY_FAULT_COUNTER");
  if (fault == nullptr || counter == nullptr) return false;
  const std::size_t length = std::strlen(call);
  if (std::strncmp(fault, call, length) != 0 || fault[length] != ':') return false;
  char* rest = nullptr;
  const long wanted = std::strtol(fault + length + 1, &rest, 10);
  const int error = *rest == ':' ? std::atoi(rest + 1) : EIO;
  // Past our own functions, or counting would count itself. O_APPEND makes the count exact.
  const long file = syscall(SYS_openat, AT_FDCWD, counter, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file < 0) return false;
  syscall(SYS_write, file, "x", 1);
  const long count = syscall(SYS_lseek, file, 0, SEEK_CUR);
  syscall(SYS_close, file);
  if (count != wanted) return false;
  errno = error;
  return true;
}

/// What is printed may go to a file too, and is no file of ours.
bool is_regular(int file) {
  struct stat status {};
  return file > STDERR_FILENO && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

bool is_for_writing(int flags) { return (flags & O_ACCMODE) != O_RDONLY; }
bool is_for_writing(const char* mode) { return std::strpbrk(mode, "wa+") != nullptr; }

/// How many of `count` bytes a write takes; nothing where it fails.
std::optional<size_t> taken(int file, size_t count) {
  if (!is_regular(file)) return count;
  if (is_hit("write")) return std::nullopt;
  return count > 1 && is_hit("short") ? count / 2 : count;
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* bytes, size_t count) {
  const std::optional<size_t> most = taken(file, count);
  if (!most) return -1;
  return real<ssize_t(int, const void*, size_t)>("write")(file, bytes, *most);
}
ssize_t writev(int file, const struct iovec* parts, int count) {
  size_t whole = 0;
  for (int i = 0; i < count; ++i) whole += parts[i].iov_len;
  const std::optional<size_t> most = taken(file, whole);
  if (!most) return -1;
  // What is taken of them ends within the first part, or with it.
  if (*most < whole) {
    return real<ssize_t(int, const void*, size_t)>("write")(file, parts[0].iov_base,
                                                            std::min(*most, parts[0].iov_len));
  }
  return real<ssize_t(int, const struct iovec*, int)>("writev")(file, parts, count);
}
ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t offset) {
  const std::optional<size_t> most = taken(file, count);
  if (!most) return -1;
  return real<ssize_t(int, const void*, size_t, off64_t)>("pwrite64")(file, bytes, *most, offset);
}
FILE* fopen(const char* path, const char* mode) {
  if (is_for_writing(mode) && is_hit("open")) return nullptr;
  return real<FILE*(const char*, const char*)>("fopen")(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  if (is_for_writing(mode) && is_hit("open")) return nullptr;
  return real<FILE*(const char*, const char*)>("fopen64")(path, mode);
}
int mkdir(const char* path, mode_t mode) {
  if (is_hit("mkdir")) return -1;
  return real<int(const char*, mode_t)>("mkdir")(path, mode);
}
int pipe(int ends[2]) {
  if (is_hit("pipe")) return -1;
  return real<int(int*)>("pipe")(ends);
}
int socketpair(int domain, int type, int protocol, int ends[2]) {
  if (is_hit("pipe")) return -1;
  return real<int(int, int, int, int*)>("socketpair")(domain, type, protocol, ends);
}
int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  if (is_for_writing(flags) && is_hit("open")) return -1;
  return real<int(const char*, int, ...)>("open")(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  if (is_for_writing(flags) && is_hit("open")) return -1;
  return real<int(const char*, int, ...)>("open64")(path, flags, mode);
}
int rename(const char* from, const char* to) {
  if (is_hit("rename")) return -1;
  return real<int(const char*, const char*)>("rename")(from, to);
}
int fsync(int file) {
  if (is_hit("fsync")) return -1;
  return real<int(int)>("fsync")(file);
}
int fdatasync(int file) {
  if (is_hit("fsync")) return -1;
  return real<int(int)>("fdatasync")(file);
}
pid_t fork() {
  if (is_hit("fork")) return -1;
  return real<pid_t()>("fork")();
}

}  // extern "C"
