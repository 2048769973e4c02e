/* SPDX-License-Identifier: Apache-2.0 */
/* host_view: see host_view.h. Sources of the formats: proc(5), sysfs(5), Documentation/ABI of
 * Linux. */
#include "verbs-shim/session/host_view.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs-shim/protocol.h"
#include "verbs-shim/session/session.h"

#define PROCESSORS   "/sys/devices/system/cpu"
#define NODES        "/sys/devices/system/node"
#define CLOCKS       "/sys/devices/system/clocksource/clocksource0"
#define OF_ALL       "/machine" /* in the run's directory */
#define HUGE_KIB     2048
#define RELEASE_MOST 64

bool host_view_is_possible(const struct cpu_params *cpu, char *error, size_t error_bytes)
{
	size_t length = strlen(cpu->kernel_release.text);

	if (length >= 1 && length <= RELEASE_MOST)
		return true;
	snprintf(error, error_bytes,
		 "cpu.kernel_release has %zu letters; expected 1 to %d, as uname() has", length,
		 RELEASE_MOST);
	return false;
}

void host_view_fill(const struct cpu_params *cpu, struct shim_host_view *view)
{
	view->cores = cpu->cores;
	view->memory_bytes = cpu->memory;
	snprintf(view->kernel_release, sizeof(view->kernel_release), "%.*s", RELEASE_MOST,
		 cpu->kernel_release.text);
	processor_caches(cpu->processor, view);
}

/* Returns the path of a file in a tree, and creates its folders. */
static void make_folders(const char *tree, const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s%s", tree, name);
	for (char *slash = path + strlen(tree) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		(void)mkdir(path, 0755);
		*slash = '/';
	}
}

bool host_view_file(const char *tree, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *file;

	make_folders(tree, name, path);
	file = fopen(path, "we");
	if (!file)
		return false;
	fputs(text, file);
	return fclose(file) == 0;
}

static bool put(const char *tree, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool put(const char *tree, const char *name, const char *format, ...)
{
	char text[2048];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	return host_view_file(tree, name, text);
}

static bool write_cpuinfo(const struct cpu_params *cpu, const char *tree)
{
	enum { ENTRY_BYTES = 4096 };
	uint32_t count = (uint32_t)cpu->cores;
	char *text = malloc((size_t)count * ENTRY_BYTES);
	size_t used = 0;
	bool written;

	assert(text);
	for (uint32_t i = 0; i < count; i++)
		used += processor_describe(cpu->processor, i, count, cpu->tsc, text + used,
					   ENTRY_BYTES);
	written = host_view_file(tree, "/proc/cpuinfo", text);
	free(text);
	return written;
}

/* Words of 32 processors, the highest first: first to last of `of`. */
static const char *mask(char text[PATH_MAX], uint32_t first, uint32_t last, uint32_t of)
{
	size_t used = 0;

	for (uint32_t word = (of + 31) / 32; word-- > 0;) {
		uint32_t bits = 0;

		for (uint32_t i = first; i <= last; i++)
			if (i / 32 == word)
				bits |= 1U << i % 32;
		used += (size_t)snprintf(text + used, PATH_MAX - used, "%08x%s", bits,
					 word ? "," : "\n");
	}
	return text;
}

static bool write_cache(const char *tree, const char *folder, uint32_t index, uint32_t processor,
			const struct shim_host_view *view)
{
	static const struct {
		const char *type;
		uint32_t level, which;
	} kinds[] = {{"Data", 1, 1}, {"Instruction", 1, 0}, {"Unified", 2, 2}, {"Unified", 3, 3}};
	uint32_t of = (uint32_t)view->cores, which = kinds[index].which;
	bool shared = kinds[index].level == 3;
	uint32_t bytes = view->caches[which].bytes, ways = view->caches[which].ways;
	char name[256], text[PATH_MAX];
	bool written = true;
#define PUT(file, ...)                                                                 \
	do {                                                                           \
		snprintf(name, sizeof(name), "%s/cache/index%u/" file, folder, index); \
		written &= put(tree, name, __VA_ARGS__);                               \
	} while (0)

	PUT("type", "%s\n", kinds[index].type);
	PUT("level", "%u\n", kinds[index].level);
	PUT("size", "%uK\n", bytes >> 10);
	PUT("coherency_line_size", "64\n");
	PUT("ways_of_associativity", "%u\n", ways);
	PUT("number_of_sets", "%u\n", bytes / 64 / ways);
	PUT("shared_cpu_map", "%s",
	    mask(text, shared ? 0 : processor, shared ? of - 1 : processor, of));
	if (shared)
		PUT("shared_cpu_list", "0-%u\n", of - 1);
	else
		PUT("shared_cpu_list", "%u\n", processor);
#undef PUT
	return written;
}

static bool write_processor(const char *tree, uint32_t number, const struct shim_host_view *view)
{
	uint32_t of = (uint32_t)view->cores;
	char folder[128], name[256], own[PATH_MAX], all[PATH_MAX];
	bool written = true;

	mask(own, number, number, of);
	mask(all, 0, of - 1, of);
	snprintf(folder, sizeof(folder), PROCESSORS "/cpu%u", number);
#define PUT(file, ...)                                                     \
	do {                                                               \
		snprintf(name, sizeof(name), "%s/topology/" file, folder); \
		written &= put(tree, name, __VA_ARGS__);                   \
	} while (0)
	PUT("physical_package_id", "0\n");
	PUT("core_id", "%u\n", number);
	PUT("thread_siblings", "%s", own);
	PUT("thread_siblings_list", "%u\n", number);
	PUT("core_siblings", "%s", all);
	PUT("core_siblings_list", "0-%u\n", of - 1);
#undef PUT
	for (uint32_t i = 0; i < SHIM_CACHES; i++)
		written &= write_cache(tree, folder, i, number, view);
	return written;
}

/* Writes /proc/meminfo, or the file of the NUMA node, whose lines have a different prefix. */
static bool write_memory(const char *tree, const char *name, const char *before, uint64_t kib)
{
	return put(tree, name,
		   "%sMemTotal:       %llu kB\n%sMemFree:        %llu kB\n"
		   "%sMemAvailable:   %llu kB\n%sBuffers:        0 kB\n%sCached:         0 kB\n"
		   "%sSwapCached:     0 kB\n%sSwapTotal:      0 kB\n%sSwapFree:       0 kB\n"
		   "%sAnonPages:      0 kB\n%sShmem:          0 kB\n%sAnonHugePages:  0 kB\n"
		   "%sHugePages_Total: 0\n%sHugePages_Free:  0\n%sHugePages_Rsvd:  0\n"
		   "%sHugePages_Surp:  0\n%sHugepagesize:   %u kB\n%sHugetlb:        0 kB\n",
		   before, (unsigned long long)kib, before, (unsigned long long)kib, before,
		   (unsigned long long)kib, before, before, before, before, before, before, before,
		   before, before, before, before, before, before, HUGE_KIB, before);
}

/* Writes the files of the processors, once for all hosts because they are many. */
static bool write_processors(const struct cpu_params *cpu, const char *tree)
{
	struct shim_host_view view = {.cores = 0};
	uint32_t last = (uint32_t)cpu->cores - 1;
	char text[PATH_MAX];
	bool written = true;

	host_view_fill(cpu, &view);
	for (uint32_t i = 0; i <= last; i++)
		written &= write_processor(tree, i, &view);
	written &= put(tree, PROCESSORS "/online", last ? "0-%u\n" : "%u\n", last);
	written &= put(tree, PROCESSORS "/possible", last ? "0-%u\n" : "%u\n", last);
	written &= put(tree, PROCESSORS "/present", last ? "0-%u\n" : "%u\n", last);
	written &= put(tree, PROCESSORS "/offline", "\n");
	written &= put(tree, PROCESSORS "/kernel_max", "%u\n", last);
	written &= put(tree, NODES "/online", "0\n");
	written &= put(tree, NODES "/possible", "0\n");
	written &= put(tree, NODES "/has_cpu", "0\n");
	written &= put(tree, NODES "/has_memory", "0\n");
	written &= put(tree, NODES "/node0/cpulist", last ? "0-%u\n" : "%u\n", last);
	written &= put(tree, NODES "/node0/cpumap", "%s", mask(text, 0, last, last + 1));
	written &= put(tree, NODES "/node0/distance", "10\n");
	return written & write_memory(tree, NODES "/node0/meminfo", "Node 0 ", cpu->memory >> 10);
}

static bool write_kernel(const struct cpu_params *cpu, const char *tree)
{
	static const char *const huge_pages[] = {
		"[always] madvise never\n", "always [madvise] never\n", "always madvise [never]\n"};
	const char *release = cpu->kernel_release.text;
	bool written = write_cpuinfo(cpu, tree);

	written &= write_memory(tree, "/proc/meminfo", "", cpu->memory >> 10);
	written &= put(tree, "/proc/version", "Linux version %s (hcasim) #1 SMP\n", release);
	written &= put(tree, "/proc/loadavg", "0.00 0.00 0.00 1/1 1000\n");
	written &= put(tree, CLOCKS "/current_clocksource", "tsc\n");
	written &= put(tree, CLOCKS "/available_clocksource", "tsc\n");
	written &= put(tree, "/proc/sys/kernel/ostype", "Linux\n");
	written &= put(tree, "/proc/sys/kernel/osrelease", "%s\n", release);
	written &= put(tree, "/proc/sys/kernel/version", "#1 SMP\n");
	written &= put(tree, "/proc/sys/kernel/shmmax", "18446744073692774399\n");
	written &= put(tree, "/proc/sys/kernel/shmall", "18446744073692774399\n");
	written &= put(tree, "/proc/sys/kernel/shmmni", "4096\n");
	written &= put(tree, "/proc/sys/vm/nr_hugepages", "0\n");
	written &= put(tree, "/proc/sys/vm/overcommit_memory", "0\n");
	written &= put(tree, "/sys/kernel/mm/transparent_hugepage/enabled", "%s",
		       huge_pages[cpu->huge_pages]);
	written &= put(tree, "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "%u\n",
		       HUGE_KIB << 10);
	written &= put(tree, "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0\n");
	return written &
	       put(tree, "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "0\n");
}

bool host_view_write(const struct cpu_params *cpu, const char *directory, const char *tree)
{
	char all[PATH_MAX], there[2 * PATH_MAX], here[PATH_MAX];
	static const char *const shared[] = {PROCESSORS, NODES};
	struct stat status;

	snprintf(all, sizeof(all), "%s" OF_ALL, directory);
	if (stat(all, &status) != 0 && (mkdir(all, 0755) != 0 || !write_processors(cpu, all)))
		return false;
	if (!write_kernel(cpu, tree))
		return false;
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		snprintf(there, sizeof(there), "%s%s", all, shared[i]);
		make_folders(tree, shared[i], here);
		if (symlink(there, here) != 0 && errno != EEXIST)
			return false;
	}
	return true;
}
