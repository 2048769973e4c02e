/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine: prints the properties of its host that a program can see apart from RDMA devices:
 * processors, memory, limits, the kernel. It uses libc, system calls and files.
 * tests/programs/machine.sh compares them with the scenario.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

static void print_file(const char *name)
{
	char line[256];
	FILE *file = fopen(name, "r");

	printf("%s:", name);
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strchr(line, ':') || strstr(line, "Total"))
			printf(" %s", line);
	}
	printf("%s\n", file ? "" : " none");
	if (file)
		fclose(file);
}

static void print_cpus(const char *who, const cpu_set_t *cpus)
{
	printf("%s: %d processors, of 16 first", who, CPU_COUNT(cpus));
	for (size_t i = 0; i < 16; i++)
		printf(" %d", CPU_ISSET(i, cpus) != 0);
	printf("\n");
}

static void *thread(void *context)
{
	cpu_set_t cpus;

	(void)pthread_getaffinity_np(pthread_self(), sizeof(cpus), &cpus);
	print_cpus(context, &cpus);
	return NULL;
}

static void print_processors(void)
{
	pthread_attr_t attributes;
	pthread_t other;
	cpu_set_t cpus;
	char inherited[] = "thread", asked[] = "thread that asks";

	printf("nprocs %d %d, sysconf %ld %ld\n", get_nprocs(), get_nprocs_conf(),
	       sysconf(_SC_NPROCESSORS_ONLN), sysconf(_SC_NPROCESSORS_CONF));
	(void)sched_getaffinity(0, sizeof(cpus), &cpus);
	print_cpus("at first", &cpus);
	CPU_ZERO(&cpus);
	CPU_SET(9, &cpus);
	CPU_SET(11, &cpus);
	printf("setaffinity %d\n", sched_setaffinity(0, sizeof(cpus), &cpus));
	printf("then on %d\n", sched_getcpu());
	(void)pthread_create(&other, NULL, thread, inherited);
	(void)pthread_join(other, NULL);
	CPU_ZERO(&cpus);
	CPU_SET(12, &cpus);
	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setaffinity_np(&attributes, sizeof(cpus), &cpus);
	printf("create %d\n", pthread_create(&other, &attributes, thread, asked));
	(void)pthread_join(other, NULL);
	CPU_ZERO(&cpus);
	CPU_SET(700, &cpus);
	printf("of none: %d\n", sched_setaffinity(0, sizeof(cpus), &cpus));
	memset(&cpus, 0, sizeof(cpus));
	printf("system call %ld\n", syscall(SYS_sched_getaffinity, 0, sizeof(cpus), (void *)&cpus));
	print_cpus("system call", &cpus);
}

/* Filters of system calls are accepted and have no effect. */
static void print_filters(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog filter = {.len = 1, .filter = &allow};

	printf("filters %d", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
	printf(" %ld %ld", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter),
	       syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0));
	printf(" %d\n", prctl(PR_GET_SECCOMP));
}

static unsigned char pool[8];

int main(void)
{
	struct rlimit limit;
	struct sysinfo info;
	struct utsname name;
	void *pages;

	print_processors();
	printf("pages %ld %ld %ld %ld\n", sysconf(_SC_PHYS_PAGES), sysconf(_SC_AVPHYS_PAGES),
	       get_phys_pages(), get_avphys_pages());
	(void)sysinfo(&info);
	printf("sysinfo %lu %lu %u %u\n", info.totalram, info.freeram, info.mem_unit, info.procs);
	for (int i = _SC_LEVEL1_ICACHE_SIZE; i <= _SC_LEVEL4_CACHE_LINESIZE; i++)
		printf("%ld%s", sysconf(i), i < _SC_LEVEL4_CACHE_LINESIZE ? " " : "\n");
	printf("stacks %ld %ld %ld %lu\n", sysconf(_SC_MINSIGSTKSZ), sysconf(_SC_SIGSTKSZ),
	       sysconf(_SC_THREAD_STACK_MIN), getauxval(AT_MINSIGSTKSZ));
	printf("auxiliary %lx %lx %s\n", getauxval(AT_HWCAP), getauxval(AT_HWCAP2),
	       (const char *)getauxval(AT_PLATFORM));
	printf("random %016lx %zd", *(const unsigned long *)getauxval(AT_RANDOM),
	       getrandom(pool, sizeof(pool), 0));
	for (size_t i = 0; i < sizeof(pool); i++)
		printf("%s%02x", i ? "" : " ", pool[i]);
	printf(" %08x %u\n", arc4random(), arc4random_uniform(1000));
	print_filters();
	(void)getrlimit(RLIMIT_MEMLOCK, &limit);
	printf("memlock %d\n", limit.rlim_cur == RLIM_INFINITY);
	(void)getrlimit(RLIMIT_NPROC, &limit);
	printf("nproc %lu %ld %ld\n", limit.rlim_cur, sysconf(_SC_CHILD_MAX),
	       sysconf(_SC_SIGQUEUE_MAX));
	(void)getrlimit(RLIMIT_STACK, &limit);
	printf("stack %lu\n", limit.rlim_cur);
	(void)uname(&name);
	printf("%s %s %s %s %s\n", name.sysname, name.nodename, name.release, name.version,
	       name.machine);
	pages = mmap(NULL, 12345, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	printf("pages at %p\n", pages);
	(void)munmap(pages, 12345);
	pages = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	printf("pages at %p\n", pages);
	printf("huge pages %d %d\n",
	       mmap(NULL, 1 << 21, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0) ==
		       MAP_FAILED,
	       shmget(IPC_PRIVATE, 1 << 21, IPC_CREAT | SHM_HUGETLB | 0600));
	print_file("/proc/meminfo");
	print_file("/proc/version");
	print_file("/proc/sys/kernel/osrelease");
	print_file("/proc/sys/kernel/shmmax");
	print_file("/proc/sys/kernel/random/uuid");
	print_file("/proc/sys/kernel/random/boot_id");
	print_file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
	print_file("/sys/kernel/mm/transparent_hugepage/enabled");
	print_file("/sys/kernel/mm/ksm/run");
	print_file("/sys/devices/system/cpu/online");
	print_file("/sys/devices/system/cpu/cpu15/cache/index3/size");
	print_file("/sys/devices/system/cpu/cpu15/topology/core_siblings");
	print_file("/sys/devices/system/cpu/cpu16/topology/core_id");
	print_file("/sys/devices/system/node/node0/meminfo");
	print_file("/sys/devices/system/node/node1/meminfo");
	return 0;
}
