/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin: common parts of all plug-ins: the services that hcasim offers them, and the counters and
 * trace points that they declare. A plug-in is a shared object. A plug-in exports a table of
 * functions. The header of the interface states the name of the table.
 *
 *     table                header
 *     congestion_plugin    congestion.h
 *     balance_plugin       switch_plugins.h
 *     schedule_plugin      switch_plugins.h
 *     marking_plugin       switch_plugins.h
 *     buffer_plugin        switch_plugins.h
 *
 * `hcasim plugin new` writes a plug-in that compiles, and `hcasim plugin build` builds it.
 *
 * A plug-in keeps its values in the state that hcasim provides, never in variables of the object. A
 * run uses one object for many flows and switches, in several threads. A plug-in takes time and
 * random numbers only from its services, so that a run repeats.
 */
#ifndef INCLUDE_HCASIM_PLUGIN_H
#define INCLUDE_HCASIM_PLUGIN_H

#include <stdint.h>

#include "hcasim/params.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A counter that counters.json contains. */
struct counter {
	const char *name;
	const char *unit;
	const char *meaning;
};

/* A trace point. `first` and `second` name the two values of a record. */
struct trace_point {
	const char *name;
	const char *first;
	const char *second;
	const char *meaning;
};

struct plugin_services {
	/* Returns a random number of the plug-in's own stream, which the seed of the run
	 * determines. */
	uint64_t (*random)(void *self);
	/* Writes a record of the plug-in's trace point with that index. */
	void (*trace)(void *self, unsigned point, uint64_t first, uint64_t second);
	/* Adds to the plug-in's counter with that index. */
	void (*count)(void *self, unsigned counter, uint64_t by);
};

/* hcasim hands this table to state_init(). It outlives the state. */
struct plugin_host {
	const struct plugin_services *services;
	void *self;
};

static inline uint64_t plugin_random(const struct plugin_host *host)
{
	return host->services->random(host->self);
}

static inline void plugin_trace(const struct plugin_host *host, unsigned point, uint64_t first,
				uint64_t second)
{
	host->services->trace(host->self, point, first, second);
}

static inline void plugin_count(const struct plugin_host *host, unsigned counter, uint64_t by)
{
	host->services->count(host->self, counter, by);
}

#ifdef __cplusplus
}
#endif

#endif
