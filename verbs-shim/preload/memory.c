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
#include "verbs-shim/preload/shim.h"

#define SEGMENTS 64 /* of System V, attached at a time; what is more is not watched */

static struct {
	const void *address; /* NULL: free */
	size_t length;
} segments[SEGMENTS];

static uint64_t whole_pages(size_t length)
{
	return (length + 4095) & ~UINT64_C(4095);
}

/* Pages are something else now. */
static void unmapped(const void *address, size_t length)
{
	uint32_t file;
	bool known;

	if (!shim_active())
		return;
	gate_enter();
	known = trap_remove((uint64_t)(uintptr_t)address, whole_pages(length), &file);
	gate_leave();
	if (!known)
		return;
	(void)gate_call(OP_MAPPED, (uint64_t)(uintptr_t)address, whole_pages(length), 0, 0);
	device_leave(file);
}

/* Other processes may see these pages too, and change them. */
static void shared(const void *address, size_t length)
{
	if (!shim_active())
		return;
	gate_enter();
	trap_add_peers((uint64_t)(uintptr_t)address, whole_pages(length));
	shim_process->shares = 1;
	gate_leave();
}

void *memory_map(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
	void *result;

	if (shim_active() && device_has_pages(fd))
		return device_mmap(address, length, prot, flags, fd, offset);
	result = (void *)system_call(SYS_mmap, address, length, prot, flags, fd, offset);
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

	if (result == 0)
		unmapped(address, length);
	return result;
}

EXPORT int munmap(void *address, size_t length)
{
	return memory_unmap(address, length);
}

void *memory_remap(void *old, size_t old_length, size_t length, int flags, void *wanted)
{
	bool peers = shim_active() && trap_is_peers((uint64_t)(uintptr_t)old);
	void *result;

	if (shim_active())
		trap_before_call(); /* pages move with their protection */
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
	void *result = (void *)system_call(SYS_shmat, segment, address, flags);
	struct shmid_ds status;

	if (result == (void *)-1 || shmctl(segment, IPC_STAT, &status) != 0)
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
		}
	return result;
}

EXPORT int shmdt(const void *address)
{
	return memory_detach(address);
}

/* Memory of another process, by its number as programs see it. Copying takes no virtual time but the call's. */

static void begin_call(void)
{
	if (!shim_active())
		return;
	gate_charge(shim_memory->cost_system_call);
	trap_before_call();
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
