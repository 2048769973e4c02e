#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names each function of libc that may block and that the preloaded library neither stands in for nor may leave alone.

A thread that sleeps in such a function keeps the token: it loses it after 20 ms of real time, and the run may not repeat. libc marks its
blocking calls itself: each is a cancellation point and so calls one internal function, which is found as the first that read() calls.
Functions that block and are no cancellation points stand in BLOCKING. HARMLESS says of each function that is left alone why.

Usage: blocking.py LIBRARY
"""
import bisect
import re
import shutil
import subprocess
import sys

BLOCKING = """
    __poll_chk __ppoll_chk __pread64_chk __pread_chk __read_chk __recv_chk __recvfrom_chk aio_suspend clock_nanosleep cnd_timedwait
    cnd_wait epoll_wait fcntl flock getentropy getrandom lio_listio lockf lockf64 mq_receive mq_send mtx_lock mtx_timedlock nanosleep
    pause pselect pthread_barrier_wait pthread_clockjoin_np pthread_cond_clockwait pthread_cond_timedwait pthread_cond_wait
    pthread_join pthread_mutex_clocklock pthread_mutex_lock pthread_mutex_timedlock pthread_rwlock_clockrdlock
    pthread_rwlock_clockwrlock pthread_rwlock_rdlock pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock pthread_rwlock_wrlock
    pthread_spin_lock pthread_timedjoin_np sem_clockwait sem_timedwait sem_wait semop semtimedop sendfile sendfile64 sigsuspend
    sigtimedwait sigwait sigwaitinfo sleep thrd_join thrd_sleep usleep vfork wait3 wait4 waitpid
""".split()

DISK = "waits for the machine's disks, and for no other program"
FILES = "from file to file"
HARMLESS = {
    "aio_suspend": "waits for threads of libc's own, which only read and write files",
    "copy_file_range": FILES,
    "fallocate": DISK,
    "fallocate64": DISK,
    "fdatasync": DISK,
    "fsync": DISK,
    "lio_listio": "as aio_suspend()",
    "msync": DISK,
    "open_by_handle_at": "opens what exists in a file system",
    "sync_file_range": DISK,
    "tcdrain": "waits for a terminal's output, which the machine carries out",
}


def functions(library):
    """Returns the exported functions of a library: (address, size) -> names; libc's private names left out."""
    found = {}
    listed = subprocess.run(["nm", "-D", "-S", "--defined-only", library], capture_output=True,
                            text=True, check=True)
    for line in listed.stdout.splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[2] in "TWi" and not fields[3].endswith("GLIBC_PRIVATE"):
            found.setdefault((int(fields[0], 16), int(fields[1], 16)),
                             set()).add(fields[3].split("@")[0])
    return found


def cancellation_points(libc, places):
    """Returns the names of functions that call the function that read() calls before it may
    block."""
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", libc], capture_output=True,
                          text=True, check=True).stdout
    calls = [(int(call[1], 16), int(call[2], 16))
             for call in re.finditer(r"^ +([0-9a-f]+):\t(?:call|jmp) +([0-9a-f]+) ", code, re.M)]
    first, size = next(place for place, names in places.items() if "read" in names)
    internal = [to for at, to in calls if first <= at < first + size and not first <= to < first
                + size]
    sites = sorted(at for at, to in calls if internal and to == internal[0])
    points = set()
    for (first, size), names in places.items():
        after = bisect.bisect_left(sites, first)
        if after < len(sites) and sites[after] < first + size:
            points |= names
    return points


def main():
    if len(sys.argv) != 2 or not shutil.which("nm") or not shutil.which("objdump"):
        print(__doc__ if len(sys.argv) != 2 else "nm or objdump is not installed")
        return 77
    needs = subprocess.run(["ldd", sys.argv[1]], capture_output=True, text=True, check=True).stdout
    libc = re.search(r"libc\.so\.6 => (\S+)", needs)
    if not libc:
        print(f"no libc.so.6 among what {sys.argv[1]} needs")
        return 77
    places = functions(libc[1])
    points = cancellation_points(libc[1], places)
    if not {"read", "poll", "recvmmsg", "msgrcv"} <= points:
        print("this libc's cancellation points are not to be told: one of read, poll, recvmmsg, "
              "msgrcv is none")
        return 77
    own = set().union(*functions(sys.argv[1]).values())
    exported = set().union(*places.values())
    status = 0
    for name in sorted((points | set(BLOCKING)) & exported):
        if name not in own and name not in HARMLESS:
            print(f"{name} may block, and is neither stood in for nor harmless")
            status = 1
    for name in sorted(own & set(HARMLESS)):
        print(f"{name} is stood in for: it is not to be called harmless")
        status = 1
    print(f"{len(points)} cancellation points, {len(BLOCKING)} others")
    return status


if __name__ == "__main__":
    sys.exit(main())
