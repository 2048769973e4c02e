/* SPDX-License-Identifier: Apache-2.0 */
/* ranks: see ranks.h. */
#include "sim/ranks.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/install_paths.h"

#define MODULE "libhcasim-ranks.so"

/* Open MPI's mpirun sets these variables for the processes that it starts. */
static unsigned number_of(const char *variable)
{
	const char *text = getenv(variable);

	return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

bool ranks_wanted(unsigned *rank)
{
	*rank = number_of("OMPI_COMM_WORLD_RANK");
	return number_of("OMPI_COMM_WORLD_SIZE") > 1;
}

static const struct ranks_ops *load(char *error, size_t error_bytes)
{
	const struct ranks_ops *ops;
	char path[PATH_MAX];
	void *module;

	if (!install_paths_library(MODULE, path)) {
		snprintf(error, error_bytes,
			 "mpirun: %s not found, because hcasim was built without MPI; expected "
			 "a build with libopenmpi-dev, or hcasim without mpirun",
			 MODULE);
		return NULL;
	}
	/* MPI loads parts of its own, which need its symbols. */
	module = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	ops = module ? dlsym(module, "ranks_mpi_ops") : NULL;
	if (!ops)
		snprintf(error, error_bytes, "mpirun: %s", dlerror());
	return ops;
}

struct ranks *ranks_begin(char *error, size_t error_bytes)
{
	const struct ranks_ops *ops = load(error, error_bytes);
	struct ranks *ranks;

	if (!ops)
		return NULL;
	ranks = calloc(1, sizeof(*ranks));
	assert(ranks);
	ranks->ops = ops;
	ops->begin(&ranks->rank, &ranks->count);
	ranks->out = calloc(ranks->count, sizeof(ranks->out[0]));
	ranks->in = calloc(ranks->count, sizeof(ranks->in[0]));
	assert(ranks->out && ranks->in);
	return ranks;
}

void ranks_end(struct ranks *ranks)
{
	if (!ranks)
		return;
	ranks->ops->end();
	for (unsigned i = 0; i < ranks->count; i++) {
		carry_fini(&ranks->out[i]);
		carry_fini(&ranks->in[i]);
	}
	free(ranks->out);
	free(ranks->in);
	free(ranks);
}

bool ranks_agree(struct ranks *ranks, bool one)
{
	uint64_t others = !one;

	if (!ranks)
		return one;
	ranks->ops->sum(&others, 1);
	return others == 0;
}
