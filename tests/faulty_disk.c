/* A disk that fails: loaded before libc (LD_PRELOAD), it lets the n-th change of a file under a folder fail.

   Python sets `fault_folder`, `fault_error` and `fault_countdown` through ctypes; at 0 every call passes. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

char fault_folder[4096];
int fault_error;
long fault_countdown; /* the call that brings it to 0 fails, and with `fault_stays` all after it */
int fault_stays;
long fault_failed; /* how many calls failed */

static int fails(int file)
{
    char link[64], path[4096];
    ssize_t length;

    if (!fault_countdown || !fault_folder[0])
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    if (strncmp(path, fault_folder, strlen(fault_folder)))
        return 0;
    if (fault_countdown > 1) {
        fault_countdown--;
        return 0;
    }
    if (!fault_stays)
        fault_countdown = 0;
    fault_failed++;
    errno = fault_error;
    return 1;
}

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void *data, size_t size) { return fails(file) ? -1 : REAL(write)(file, data, size); }
ssize_t pwrite(int file, const void *data, size_t size, off_t at)
{
    return fails(file) ? -1 : REAL(pwrite)(file, data, size, at);
}
ssize_t pwrite64(int file, const void *data, size_t size, off64_t at)
{
    return fails(file) ? -1 : REAL(pwrite64)(file, data, size, at);
}
int fsync(int file) { return fails(file) ? -1 : REAL(fsync)(file); }
int fdatasync(int file) { return fails(file) ? -1 : REAL(fdatasync)(file); }
int ftruncate(int file, off_t size) { return fails(file) ? -1 : REAL(ftruncate)(file, size); }
int ftruncate64(int file, off64_t size) { return fails(file) ? -1 : REAL(ftruncate64)(file, size); }
