/* SPDX-License-Identifier: Apache-2.0 */
/* host: see host.h. */
#include "verbs-shim/preload/host.h"

#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "verbs-shim/preload/shim.h"

/* Room for a signal's frame and for a thread on any x86-64 processor: 11 KiB with AMX. The
 * machine's own figures differ. */
#define SIGNAL_STACK (12 << 10)
#define THREAD_STACK (32 << 10)
#define LINE_BYTES   64
#define STACK_OF_TASK \
	(16 << 10) /* of Linux: it permits half as many tasks as would fill an eighth of memory */

enum { WORD_BITS = 64 };

/* Processors. */

static struct shim_cpus *cpus_of(const struct shim_slot *slot)
{
	return &shim.memory->cpus[slot - shim.memory->slots];
}

static bool is_none(const struct shim_cpus *cpus)
{
	for (uint32_t i = 0; i < SHIM_CPU_WORDS; i++)
		if (cpus->words[i])
			return false;
	return true;
}

/* Returns the bits of the processors that the host has. */
static uint64_t present(uint32_t word)
{
	uint64_t cores = shim.memory->host.cores, first = (uint64_t)word * WORD_BITS;

	return cores >= first + WORD_BITS ? UINT64_MAX
	       : cores > first            ? (UINT64_C(1) << (cores - first)) - 1
					  : 0;
}

struct shim_cpus host_cpus(void)
{
	return shim_self.slot ? *cpus_of(shim_self.slot) : (struct shim_cpus){{0}};
}

/* Returns the slot of a thread. 0: the calling thread. Returns NULL with ESRCH if no thread of the
 * run has that number. */
static const struct shim_slot *slot_of(pid_t id)
{
	uint32_t real = (uint32_t)ids_real(id);

	if (id == 0)
		return shim_self.slot;
	for (uint32_t i = 0; i < SHIM_SLOTS; i++)
		if (real && shim.memory->slots[i].tid == real)
			return &shim.memory->slots[i];
	errno = ESRCH;
	return NULL;
}

/* Returns false and sets EINVAL if the host has no such processor. */
static bool take_cpus(struct shim_cpus *cpus, size_t bytes, const void *processors)
{
	struct shim_cpus wanted = {{0}};

	memcpy(&wanted, processors, bytes < sizeof(wanted) ? bytes : sizeof(wanted));
	for (uint32_t i = 0; i < SHIM_CPU_WORDS; i++)
		wanted.words[i] &= present(i);
	if (is_none(&wanted)) {
		errno = EINVAL;
		return false;
	}
	*cpus = wanted;
	return true;
}

static long give_cpus(const struct shim_cpus *cpus, size_t bytes, void *processors)
{
	size_t needed = (shim.memory->host.cores + WORD_BITS - 1) / WORD_BITS * 8;
	struct shim_cpus all;

	if (bytes < needed || bytes % sizeof(uint64_t) != 0) {
		errno = EINVAL;
		return -1;
	}
	for (uint32_t i = 0; i < SHIM_CPU_WORDS; i++)
		all.words[i] = present(i);
	memcpy(processors, is_none(cpus) ? &all : cpus, needed);
	return (long)needed;
}

long host_affinity(pid_t id, size_t bytes, void *processors)
{
	const struct shim_slot *slot = shim_self.slot ? slot_of(id) : NULL;

	if (!shim_self.slot)
		return system_call(SYS_sched_getaffinity, ids_real(id), bytes, processors);
	return slot ? give_cpus(cpus_of(slot), bytes, processors) : -1;
}

EXPORT int sched_getaffinity(pid_t id, size_t bytes, cpu_set_t *processors)
{
	long written = host_affinity(id, bytes, processors);

	if (written < 0)
		return -1;
	memset((char *)processors + written, 0, bytes - (size_t)written);
	return 0;
}

EXPORT int sched_setaffinity(pid_t id, size_t bytes, const cpu_set_t *processors)
{
	const struct shim_slot *slot = shim_self.slot ? slot_of(id) : NULL;

	if (!shim_self.slot)
		return (int)system_call(SYS_sched_setaffinity, ids_real(id), bytes, processors);
	return slot && take_cpus(cpus_of(slot), bytes, processors) ? 0 : -1;
}

/* pthread functions return the error. */

EXPORT int pthread_getaffinity_np(pthread_t thread, size_t bytes, cpu_set_t *processors)
{
	int before = errno, error = 0;
	const struct shim_slot *slot;
	long written;

	if (!shim_self.slot)
		return REAL(pthread_getaffinity_np)(thread, bytes, processors);
	slot = thread_slot(thread);
	if (!slot)
		return ESRCH;
	written = give_cpus(cpus_of(slot), bytes, processors);
	if (written < 0)
		error = errno;
	else
		memset((char *)processors + written, 0, bytes - (size_t)written);
	errno = before;
	return error;
}

EXPORT int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t *processors)
{
	int before = errno, error;
	const struct shim_slot *slot;

	if (!shim_self.slot)
		return REAL(pthread_setaffinity_np)(thread, bytes, processors);
	slot = thread_slot(thread);
	if (!slot)
		return ESRCH;
	error = take_cpus(cpus_of(slot), bytes, processors) ? 0 : errno;
	errno = before;
	return error;
}

void host_begin_thread(uint32_t slot, const pthread_attr_t *attributes, cpu_set_t *kept)
{
	struct shim_cpus *cpus = &shim.memory->cpus[slot];
	int before = errno;

	*cpus = host_cpus();
	CPU_ZERO(kept);
	if (!attributes)
		return;
	(void)pthread_attr_getaffinity_np(attributes, sizeof(*kept), kept);
	if (CPU_COUNT(kept) == CPU_SETSIZE) /* none is set: all that there can be */
		CPU_ZERO(kept);
	if (CPU_COUNT(kept) != 0) {
		(void)take_cpus(cpus, sizeof(*kept), kept);
		(void)pthread_attr_setaffinity_np((pthread_attr_t *)(uintptr_t)attributes, 0, kept);
	}
	errno = before;
}

void host_end_thread(const pthread_attr_t *attributes, const cpu_set_t *kept)
{
	if (attributes && CPU_COUNT(kept) != 0)
		(void)pthread_attr_setaffinity_np((pthread_attr_t *)(uintptr_t)attributes,
						  sizeof(*kept), kept);
}

int host_getcpu(unsigned *processor, unsigned *node)
{
	struct shim_cpus own = host_cpus();
	unsigned first =
		shim_self.slot ? shim.memory->cores[shim_self.slot - shim.memory->slots] : 0;

	if (!is_none(&own) && !(own.words[first / WORD_BITS] >> first % WORD_BITS & 1))
		first = 0; /* until the thread has moved */
	while (!is_none(&own) && first < SHIM_CPU_WORDS * WORD_BITS &&
	       !(own.words[first / WORD_BITS] >> first % WORD_BITS & 1))
		first++;
	if (processor)
		*processor = first;
	if (node)
		*node = 0;
	return 0;
}

EXPORT int getcpu(unsigned *processor, unsigned *node)
{
	return shim_self.slot ? host_getcpu(processor, node)
			      : (int)system_call(SYS_getcpu, processor, node, NULL);
}

EXPORT int sched_getcpu(void)
{
	unsigned processor;

	return getcpu(&processor, NULL) == 0 ? (int)processor : -1;
}

EXPORT int get_nprocs(void)
{
	return shim.memory ? (int)shim.memory->host.cores : REAL(get_nprocs)();
}

EXPORT int get_nprocs_conf(void)
{
	return shim.memory ? (int)shim.memory->host.cores : REAL(get_nprocs_conf)();
}

/* Memory and caches. */

EXPORT long get_phys_pages(void)
{
	return shim.memory ? (long)(shim.memory->host.memory_bytes / 4096) : REAL(get_phys_pages)();
}

EXPORT long get_avphys_pages(void)
{
	return shim.memory ? (long)(shim.memory->host.memory_bytes / 4096)
			   : REAL(get_avphys_pages)();
}

/* Returns size, ways or line of a cache, for _SC_LEVEL1_ICACHE_SIZE and the names that follow
 * it. */
static long cache_value(int name)
{
	int cache = (name - _SC_LEVEL1_ICACHE_SIZE) / 3;

	if (cache >= SHIM_CACHES)
		return 0;
	switch ((name - _SC_LEVEL1_ICACHE_SIZE) % 3) {
	case 0:
		return shim.memory->host.caches[cache].bytes;
	case 1:
		return shim.memory->host.caches[cache].ways;
	default:
		return LINE_BYTES;
	}
}

EXPORT long sysconf(int name)
{
	struct rlimit limit;

	if (!shim.memory)
		return REAL(sysconf)(name);
	switch (name) {
	case _SC_NPROCESSORS_CONF:
	case _SC_NPROCESSORS_ONLN:
		return get_nprocs();
	case _SC_PHYS_PAGES:
	case _SC_AVPHYS_PAGES:
		return get_phys_pages();
	case _SC_MINSIGSTKSZ:
		return SIGNAL_STACK;
	case _SC_SIGSTKSZ:
		return 4 * SIGNAL_STACK;
	case _SC_THREAD_STACK_MIN:
		return THREAD_STACK;
	case _SC_SIGQUEUE_MAX:
	case _SC_CHILD_MAX:
		(void)getrlimit(RLIMIT_NPROC, &limit);
		return (long)limit.rlim_cur;
	default:
		return name >= _SC_LEVEL1_ICACHE_SIZE && name <= _SC_LEVEL4_CACHE_LINESIZE
			       ? cache_value(name)
			       : REAL(sysconf)(name);
	}
}

/* Features of the processor that libc, too, may have been given are in cpuid's leaf 1. */
EXPORT unsigned long getauxval(unsigned long type)
{
	int before = errno;
	unsigned long value = REAL(getauxval)(type);

	if (!shim.memory)
		return value;
	errno = before;
	switch (type) {
	case AT_HWCAP:
		for (uint32_t i = 0; i < shim.memory->leaves.count; i++)
			if (shim.memory->leaves.leaf[i].leaf == 1)
				return shim.memory->leaves.leaf[i].words[3];
		return 0;
	case AT_HWCAP2:
		return 2; /* HWCAP2_FSGSBASE */
	case AT_MINSIGSTKSZ:
		return SIGNAL_STACK;
	default:
		if (value == 0)
			errno = ENOENT;
		return value;
	}
}

/* Limits. If a limit differs between machines and does not affect the run, programs see the
 * simulated host's value. A process keeps its own changes. */

static struct rlimit own_limits[RLIM_NLIMITS];
static bool is_own[RLIM_NLIMITS];

/* Returns false if the limit is the system's. */
static bool host_limit(unsigned resource, struct rlimit *limit)
{
	rlim_t tasks = shim.memory ? shim.memory->host.memory_bytes / 8 / STACK_OF_TASK / 2 : 0;

	if (!shim.memory)
		return false;
	switch (resource) {
	case RLIMIT_MEMLOCK:
		*limit = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
		break;
	case RLIMIT_NPROC:
	case RLIMIT_SIGPENDING:
		*limit = (struct rlimit){tasks, tasks};
		break;
	default:
		return false;
	}
	if (is_own[resource])
		*limit = own_limits[resource];
	return true;
}

EXPORT int prlimit(pid_t pid, enum __rlimit_resource resource, const struct rlimit *new,
		   struct rlimit *old)
{
	struct rlimit limit;

	if (!host_limit(resource, &limit))
		return (int)system_call(SYS_prlimit64, ids_real(pid), resource, new, old);
	if (new &&new->rlim_cur > new->rlim_max) {
		errno = EINVAL;
		return -1;
	}
	if (old)
		*old = limit;
	if (new && (pid == 0 || pid == getpid())) {
		own_limits[resource] = *new;
		is_own[resource] = true;
	}
	return 0;
}

_Static_assert(sizeof(struct rlimit) == sizeof(struct rlimit64), "x86-64");

EXPORT int prlimit64(pid_t pid, enum __rlimit_resource resource, const struct rlimit64 *new,
		     struct rlimit64 *old)
{
	return prlimit(pid, resource, (const struct rlimit *)new, (struct rlimit *)old);
}

EXPORT int getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
	return prlimit(0, resource, NULL, limit);
}

EXPORT int getrlimit64(__rlimit_resource_t resource, struct rlimit64 *limit)
{
	return prlimit(0, resource, NULL, (struct rlimit *)limit);
}

EXPORT int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	return prlimit(0, resource, limit, NULL);
}

EXPORT int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit)
{
	return prlimit(0, resource, (const struct rlimit *)limit, NULL);
}
