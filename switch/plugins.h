/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugins: the shared objects that take decisions of a switch (include/hcasim/switch_plugins.h).
 * This file opens them, makes their states, and supervises their calls (sim/foreign.h).
 *
 *     balance.c --plugins_choose()-----> balance_plugin
 *     marking.c --plugins_mark_...()---> marking_plugin
 *     shared_buffer.c --buffer_policy--> buffer_plugin
 *     port --port_scheduler------------> schedule_plugin
 */
#ifndef SWITCH_PLUGINS_H
#define SWITCH_PLUGINS_H

#include "hcasim/switch_plugins.h"

/* clang-format off */
/* X(KIND, key, meaning): the table is called KEY_plugin */
#define PLUGIN_KINDS(X)                         \
	X(BALANCE,  balance,  "load balancer")     \
	X(SCHEDULE, schedule, "switch scheduler")  \
	X(MARKING,  marking,  "packet marking")    \
	X(BUFFER,   buffer,   "buffer management")

#define PLUGIN_KIND_ENUM(kind, key, meaning) PLUGIN_##kind,
enum plugin_kind { PLUGIN_KINDS(PLUGIN_KIND_ENUM) PLUGIN_KIND_COUNT };
/* clang-format on */

const char *plugins_key(enum plugin_kind kind); /* "balance" */

/* A shared object with its parameters. */
struct plugin_object {
	void *library;
	const struct switch_plugin *plugin; /* the table begins with it */
	void *params;
	char name[320]; /* "load balancer ./mine.so" */
};

/* Opens the object and sets its parameters. Returns false on failure and writes the reason to
 * `error`; nothing is open then. */
bool plugins_open(struct plugin_object *object, enum plugin_kind kind, const char *path,
		  const char *values, char *error, size_t error_bytes);
void plugins_close(struct plugin_object *object);

struct fabric_switch;
struct switch_plugins;
struct switch_port;
struct packet;
struct port_group;

/* Opens the objects of the switch's parameters. sw->plugins is NULL without any. */
void plugins_init(struct fabric_switch *sw);
void plugins_start(struct fabric_switch *sw); /* when the ports are connected */
void plugins_fini(struct fabric_switch *sw);
bool plugins_have(const struct fabric_switch *sw, enum plugin_kind kind);

/* Returns the port of the group that the load balancer chooses. */
unsigned plugins_choose(struct fabric_switch *sw, const struct port_group *group,
			const struct packet *packet);

/* Return whether the packet is to be marked. */
bool plugins_mark_arrival(const struct switch_port *output, const struct packet *packet);
bool plugins_mark_departure(const struct switch_port *output, const struct packet *packet,
			    sim_time starts_at);
bool plugins_mark_on_arrival(const struct fabric_switch *sw); /* the function exists */

#endif
