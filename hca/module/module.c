/* SPDX-License-Identifier: Apache-2.0 */
/* module: see module.h. */
#include "hca/module/module.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/sim.h"

/* clang-format off */
#define MODULE_ROW(KIND, block, symbol, version) [MODULE_##KIND] = {block, #symbol, version},
static const struct {
	const char *block, *symbol;
	uint32_t version;
} kinds[MODULE_KIND_COUNT] = { MODULE_KINDS(MODULE_ROW) };
/* clang-format on */

const char *module_block(enum module_kind kind)
{
	return kinds[kind].block;
}

const void *module_load(enum module_kind kind, size_t table_bytes, const char *path, char *error,
			size_t error_bytes)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	const struct module_head *head;

	if (!library) {
		snprintf(error, error_bytes, "cannot be loaded: %s", dlerror());
		return NULL;
	}
	head = dlsym(library, kinds[kind].symbol);
	if (!head)
		snprintf(error, error_bytes,
			 "%s exports no %s; expected a shared object that replaces %s", path,
			 kinds[kind].symbol, kinds[kind].block);
	else if (head->version != kinds[kind].version || head->bytes != table_bytes)
		snprintf(error, error_bytes,
			 "%s is for version %u of the interface (a table of %u bytes); expected "
			 "version %u (%zu bytes): build it again with this hcasim's headers",
			 path, head->version, head->bytes, kinds[kind].version, table_bytes);
	else
		return head;
	dlclose(library);
	return NULL;
}

const void *module_open(enum module_kind kind, size_t table_bytes, const char *block,
			const char *path)
{
	char error[512];
	const void *table = module_load(kind, table_bytes, path, error, sizeof(error));

	if (!table)
		module_broke(block, error);
	return table;
}

void module_broke(const char *block, const char *what)
{
	fprintf(stderr, "hcasim: the module that replaces %s %s\n", block, what);
	exit(2);
}

void module_check_time(struct sim *sim, const char *block, uint64_t at)
{
	char what[160];

	if (at >= sim_now(sim))
		return;
	snprintf(what, sizeof(what),
		 "uses a past time, %llu ps, at %llu ps; expected the present or a later time: add "
		 "the delay of the call",
		 (unsigned long long)at, (unsigned long long)sim_now(sim));
	module_broke(block, what);
}
