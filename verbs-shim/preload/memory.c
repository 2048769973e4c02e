/* SPDX-License-Identifier: Apache-2.0 */
/* memory: see memory.h. */
#include "verbs-shim/preload/memory.h"

#include <stdarg.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "verbs-shim/preload/device.h"
#include "verbs-shim/preload/packet_sockets.h"
#include "verbs-shim/preload/range.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/trap_watch.h"

#define SEGMENTS 64 /* attached System V segments; further segments are not watched */

static struct {
	const void *address; /* NULL: free */
	size_t length;
} segments[SEGMENTS];

/* The library chooses the addresses of programs' mappings, because the adapter's caches index pages
 * by address. The system would place them below its own pages in each process, whose size differs
 * between kernels. Mappings follow one another downwards from the end. */
#define PLACES_END   UINT64_C(0x6f0000000000)
#define PLACES_BEGIN UINT64_C(0x640000000000)

static uint64_t lowest = PLACES_END; /* mapping so far */

static uint64_t whole_pages(size_t length)
{
	return (length + 4095) & ~UINT64_C(4095);
}

/* Returns an address for pages without a fixed address. Returns NULL if the system chooses. */
static void *place(uint64_t length)
{
	uint64_t before = __atomic_load_n(&lowest, __ATOMIC_RELAXED), after;

	if (length == 0 || !shim.memory)
		return NULL;
	do {
		if (length > before - PLACES_BEGIN)
			return NULL;
		after = before - length;
	} while (!__atomic_compare_exchange_n(&lowest, &before, after, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return (void *)(uintptr_t)after;
}

/* The lowest pages are free again: the next ones take their place. */
static void give_place(const void *address, uint64_t length)
{
	uint64_t at = (uint64_t)(uintptr_t)address;

	(void)__atomic_compare_exchange_n(&lowest, &at, at + length, false, __ATOMIC_RELAXED,
					  __ATOMIC_RELAXED);
}

/* Pages change their kind. */
static void unmapped(const void *address, size_t length)
{
	uint32_t file;
	bool known;

	if (!shim_active())
		return;
	gate_enter();
	known = range_remove((uint64_t)(uintptr_t)address, whole_pages(length), &file);
	gate_leave();
	if (!known)
		return;
	(void)gate_call(OP_MAPPED,
			REQUEST(.mapped = {(uint64_t)(uintptr_t)address, whole_pages(length)}));
	device_leave(file);
}

/* Other processes may see these pages too, and change them. */
static void shared(const void *address, size_t length)
{
	if (!shim_active())
		return;
	gate_enter();
	range_add_peers((uint64_t)(uintptr_t)address, whole_pages(length));
	if (!shim.process->shares)
		shim.memory->sharing[shim.process->host]++;
	shim.process->shares = 1;
	gate_leave();
}

void *memory_map(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
	void *result, *placed = NULL;

	if (shim_active() && device_has_pages(fd))
		return device_mmap(address, length, prot, flags, fd, offset);
	if (shim_active() && fd >= 0 && !(flags & MAP_ANONYMOUS)) {
		result = packet_sockets_map(fd, length);
		if (result)
			return result;
	}
	if (shim.memory &&
	    flags & MAP_HUGETLB) { /* the simulated host has none, independent of the machine */
		errno = ENOMEM;
		return MAP_FAILED;
	}
	if (!address && !(flags & (MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT)))
		address = placed = place(whole_pages(length));
	result = (void *)system_call(SYS_mmap, address, length, prot, flags, fd, offset);
	if (placed && result != placed)
		give_place(placed, whole_pages(length));
	if (result == MAP_FAILED)
		return result;
	if (flags & MAP_FIXED)
		unmapped(result, length);
	if (flags & MAP_SHARED && prot != PROT_NONE) /* a bit of MAP_SHARED_VALIDATE as well */
		shared(result, length);
	return result;
}

EXPORT void *mmap(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
	return memory_map(address, length, prot, flags, fd, offset);
}

EXPORT void *mmap64(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
	return memory_map(address, length, prot, flags, fd, offset);
}

int memory_unmap(void *address, size_t length)
{
	int result = (int)system_call(SYS_munmap, address, length);

	if (result == 0) {
		unmapped(address, length);
		give_place(address, whole_pages(length));
	}
	return result;
}

EXPORT int munmap(void *address, size_t length)
{
	return memory_unmap(address, length);
}

void *memory_remap(void *old, size_t old_length, size_t length, int flags, void *wanted)
{
	bool peers = shim_active() && range_is_peers((uint64_t)(uintptr_t)old);
	void *result;

	if (shim_active())
		trap_watch_before_call(); /* pages move with their protection */
	result = (void *)system_call(SYS_mremap, old, old_length, length, flags, wanted);
	if (result == MAP_FAILED)
		return result;
	unmapped(old, old_length);
	if (flags & MREMAP_FIXED)
		unmapped(result, length);
	if (peers)
		shared(result, length);
	return result;
}

EXPORT void *mremap(void *old, size_t old_length, size_t length, int flags, ...)
{
	void *wanted;
	va_list rest;

	va_start(rest, flags);
	wanted = va_arg(rest, void *);
	va_end(rest);
	return memory_remap(old, old_length, length, flags, wanted);
}

void *memory_attach(int segment, const void *address, int flags)
{
	struct shmid_ds status;
	bool known = shmctl(segment, IPC_STAT, &status) == 0;
	void *placed = known && !address ? place(whole_pages(status.shm_segsz)) : NULL;
	void *result = (void *)system_call(SYS_shmat, segment, placed ? placed : address, flags);

	if (placed && result != placed) {
		give_place(placed, whole_pages(status.shm_segsz));
		if (result == (void *)-1)
			result = (void *)system_call(SYS_shmat, segment, NULL, flags);
	}
	if (result == (void *)-1 || !known)
		return result;
	if (flags & SHM_REMAP)
		unmapped(result, status.shm_segsz);
	for (uint32_t i = 0; i < SEGMENTS; i++) {
		if (segments[i].address && segments[i].address != result)
			continue;
		segments[i].address = result;
		segments[i].length = status.shm_segsz;
		shared(result, status.shm_segsz);
		break;
	}
	return result;
}

/* Huge pages are refused as in memory_map(). */
EXPORT int shmget(key_t key, size_t bytes, int flags)
{
	if (shim.memory && flags & SHM_HUGETLB) {
		errno = ENOMEM;
		return -1;
	}
	return (int)system_call(SYS_shmget, key, bytes, flags);
}

EXPORT void *shmat(int segment, const void *address, int flags)
{
	return memory_attach(segment, address, flags);
}

int memory_detach(const void *address)
{
	int result = (int)system_call(SYS_shmdt, address);

	for (uint32_t i = 0; result == 0 && i < SEGMENTS; i++)
		if (segments[i].address == address) {
			segments[i].address = NULL;
			unmapped(address, segments[i].length);
			give_place(address, whole_pages(segments[i].length));
		}
	return result;
}

EXPORT int shmdt(const void *address)
{
	return memory_detach(address);
}

/* Memory of another process, by its number as programs see it. A copy takes only the virtual time
 * of the call. */

static void begin_call(void)
{
	if (!shim_active())
		return;
	gate_charge(CPU_system_call, shim.memory->cost_system_call);
	trap_watch_before_call();
}

EXPORT ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long here_count,
				const struct iovec *there, unsigned long there_count,
				unsigned long flags)
{
	begin_call();
	return system_call(SYS_process_vm_readv, ids_real(pid), here, here_count, there,
			   there_count, flags);
}

EXPORT ssize_t process_vm_writev(pid_t pid, const struct iovec *here, unsigned long here_count,
				 const struct iovec *there, unsigned long there_count,
				 unsigned long flags)
{
	begin_call();
	return system_call(SYS_process_vm_writev, ids_real(pid), here, here_count, there,
			   there_count, flags);
}
