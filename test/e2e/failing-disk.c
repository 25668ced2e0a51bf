// Preloaded into a process: from the FAULT_AFTER-th time on, FAULT_CALL (sync or write) fails with FAULT_ERRNO on the journal's files, or
// takes FAULT_MS longer.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static long count = 0;

static int fails(const char *call, int fd) {
  const char *chosen = getenv("FAULT_CALL");
  const char *after = getenv("FAULT_AFTER");
  if (chosen == NULL || after == NULL || strcmp(chosen, call) != 0) return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  if (strstr(path, "journal.db") == NULL || strstr(path, ".lock") != NULL) return 0;
  if (__sync_add_and_fetch(&count, 1) < atol(after)) return 0;
  const char *ms = getenv("FAULT_MS");
  if (ms != NULL) {
    usleep(1000 * atoi(ms));
    return 0;
  }
  const char *number = getenv("FAULT_ERRNO");
  errno = number == NULL ? EIO : atoi(number);
  return 1;
}

#define REAL(name, type) ((type)dlsym(RTLD_NEXT, name))

int fsync(int fd) { return fails("sync", fd) ? -1 : REAL("fsync", int (*)(int))(fd); }
int fdatasync(int fd) { return fails("sync", fd) ? -1 : REAL("fdatasync", int (*)(int))(fd); }

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
  return fails("write", fd) ? -1 : REAL("pwrite64", ssize_t (*)(int, const void *, size_t, off64_t))(fd, data, size, at);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
  return fails("write", fd) ? -1 : REAL("pwrite", ssize_t (*)(int, const void *, size_t, off_t))(fd, data, size, at);
}
