/* SPDX-License-Identifier: Apache-2.0 */
/* plugins: see plugins.h. */
#include "switch/plugins.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/foreign.h"
#include "sim/plugin_block.h"
#include "switch/switch_state.h"

#define NAME_BYTES 256

/* clang-format off */
static const struct kind {
	const char *key, *symbol, *meaning;
} kinds[PLUGIN_KIND_COUNT] = {
#define KIND(kind, key, meaning) [PLUGIN_##kind] = {#key, #key "_plugin", meaning},
	PLUGIN_KINDS(KIND)
#undef KIND
};
/* clang-format on */

/* A plug-in at work, and the state of the switch, or of one port. */
struct use {
	struct plugin_block block;
	struct switch_identity identity;
	struct fabric_switch *sw;
	const struct plugin_object *object;
	void *state;
};

struct switch_plugins {
	struct plugin_object objects[PLUGIN_KIND_COUNT];
	struct use uses[PLUGIN_KIND_COUNT]; /* without the schedule */
	struct use *schedules;              /* [port] */
	struct port_scheduler *schedulers;  /* [port] */
	struct buffer_policy policy;
};

const char *plugins_key(enum plugin_kind kind)
{
	return kinds[kind].key;
}

/* ---- objects ---- */

static bool has_functions(enum plugin_kind kind, const struct switch_plugin *plugin,
			  const char **expected)
{
	const void *table = plugin;
	const struct marking_ops *marking = table;

	*expected = "choose()";
	if (kind == PLUGIN_BALANCE)
		return ((const struct balance_ops *)table)->choose;
	if (kind == PLUGIN_SCHEDULE)
		return ((const struct schedule_ops *)table)->choose;
	*expected = kind == PLUGIN_BUFFER ? "limit()" : "on_arrival() or on_departure()";
	return kind == PLUGIN_BUFFER ? !!((const struct buffer_ops *)table)->limit
				     : marking->on_arrival || marking->on_departure;
}

static bool fits(struct plugin_object *object, enum plugin_kind kind, char *error,
		 size_t error_bytes)
{
	const struct switch_plugin *plugin = object->plugin;
	const char *expected;

	if (plugin->version != SWITCH_PLUGIN_VERSION)
		snprintf(error, error_bytes,
			 "%s: was built for version %u of the interface; expected %u: build it "
			 "again",
			 object->name, plugin->version, SWITCH_PLUGIN_VERSION);
	else if (!plugin->name)
		snprintf(error, error_bytes, "%s: has no name", object->name);
	else if (!has_functions(kind, plugin, &expected))
		snprintf(error, error_bytes, "%s: has no function %s", object->name, expected);
	else
		return true;
	return false;
}

static bool set_values(struct plugin_object *object, const char *values, char *error,
		       size_t error_bytes)
{
	const struct switch_plugin *plugin = object->plugin;
	char reason[NAME_BYTES];
	bool good;

	object->params = calloc(1, plugin->params_bytes + 1);
	assert(object->params);
	if (plugin->params)
		params_default(plugin->params, object->params);
	if (!plugin_block_values(plugin->params, object->params, values, reason, sizeof(reason))) {
		snprintf(error, error_bytes, "%s: %s", object->name, reason);
		return false;
	}
	if (!plugin->check)
		return true;
	foreign_enter(object->name, "check()");
	good = plugin->check(object->params, reason, sizeof(reason));
	foreign_leave();
	if (!good)
		snprintf(error, error_bytes, "%s: %s", object->name, reason);
	return good;
}

bool plugins_open(struct plugin_object *object, enum plugin_kind kind, const char *path,
		  const char *values, char *error, size_t error_bytes)
{
	bool good = false;

	*object = (struct plugin_object){.library = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
	snprintf(object->name, sizeof(object->name), "%s %s", kinds[kind].meaning, path);
	foreign_watch();
	if (!object->library) {
		snprintf(error, error_bytes, "%s", dlerror());
		return false;
	}
	object->plugin = dlsym(object->library, kinds[kind].symbol);
	if (!object->plugin)
		snprintf(error, error_bytes, "%s: exports no symbol %s", object->name,
			 kinds[kind].symbol);
	else
		good = fits(object, kind, error, error_bytes) &&
		       set_values(object, values, error, error_bytes);
	if (!good)
		plugins_close(object);
	return good;
}

void plugins_close(struct plugin_object *object)
{
	free(object->params);
	if (object->library)
		dlclose(object->library);
	*object = (struct plugin_object){0};
}

/* ---- states ---- */

static void begin_use(struct use *use, struct fabric_switch *sw, const struct plugin_object *object,
		      const char *name, unsigned port)
{
	const struct switch_plugin *plugin = object->plugin;

	plugin_block_init(&use->block, sw->block.sim, name, plugin->name, object->name,
			  plugin->counters, plugin->trace_points);
	use->identity = (struct switch_identity){
		.host = use->block.host,
		.name = sw->block.name,
		.ports = sw->port_count,
		.port = port,
	};
	use->sw = sw;
	use->object = object;
	use->state = calloc(1, plugin->state_bytes + 1);
	assert(use->state);
	if (!plugin->state_init)
		return;
	foreign_enter(object->name, "state_init()");
	plugin->state_init(use->state, object->params, &use->identity);
	foreign_leave();
}

static void end_use(struct use *use)
{
	if (!use->object)
		return;
	plugin_block_fini(&use->block);
	free(use->state);
}

/* ---- load balancing ---- */

static void describe(const struct fabric_switch *sw, const struct packet *packet, unsigned port,
		     struct balance_port *description)
{
	const struct port *output = sw->ports[port].port;

	*description = (struct balance_port){
		.port = port,
		.rate_bps = port_rate_bps(output),
		.queued_bytes = port_queued_bytes(output, packet->vl),
		.leaving_bytes = port_leaving_bytes(output),
		.up = port_is_up(output),
	};
}

unsigned plugins_choose(struct fabric_switch *sw, const struct port_group *group,
			const struct packet *packet)
{
	const struct use *use = &sw->plugins->uses[PLUGIN_BALANCE];
	const void *table = use->object->plugin;
	const struct balance_ops *ops = table;
	const struct balance_packet facts = {
		.flow_hash = balance_hash(sw, packet->path),
		.source = packet->path->source,
		.destination = packet->path->destination,
		.wire_bytes = packet->wire_bytes,
		.vl = packet->vl,
		.data = packet->payload_bytes != 0,
	};
	struct balance_port ports[PORT_SET_PORTS];
	uint32_t chosen;

	if (group->count == 1)
		return group->ports[0];
	for (unsigned i = 0; i < group->count; i++)
		describe(sw, packet, group->ports[i], &ports[i]);
	foreign_enter(use->object->name, "choose()");
	chosen = ops->choose(use->state, use->object->params, sim_now(sw->block.sim), &facts, ports,
			     group->count);
	foreign_leave();
	if (chosen >= group->count)
		foreign_fail(use->object->name, "choose()",
			     "returned %" PRIu32 " in %s; expected an index below %u", chosen,
			     sw->block.name, group->count);
	return group->ports[chosen];
}

/* ---- marking ---- */

static struct marking_packet marking_facts(const struct switch_port *output,
					   const struct packet *packet)
{
	return (struct marking_packet){
		.port = port_index(output),
		.vl = packet->vl,
		.wire_bytes = packet->wire_bytes,
		.rate_bps = port_rate_bps(output->port),
		.queued_bytes = port_queued_bytes(output->port, packet->vl),
	};
}

bool plugins_mark_on_arrival(const struct fabric_switch *sw)
{
	const void *table = sw->plugins->objects[PLUGIN_MARKING].plugin;

	return ((const struct marking_ops *)table)->on_arrival;
}

bool plugins_mark_arrival(const struct switch_port *output, const struct packet *packet)
{
	const struct use *use = &output->sw->plugins->uses[PLUGIN_MARKING];
	const void *table = use->object->plugin;
	const struct marking_ops *ops = table;
	const struct marking_packet facts = marking_facts(output, packet);
	bool marks;

	foreign_enter(use->object->name, "on_arrival()");
	marks = ops->on_arrival(use->state, use->object->params, sim_now(output->sw->block.sim),
				&facts);
	foreign_leave();
	return marks;
}

bool plugins_mark_departure(const struct switch_port *output, const struct packet *packet,
			    sim_time starts_at)
{
	const struct use *use = &output->sw->plugins->uses[PLUGIN_MARKING];
	const void *table = use->object->plugin;
	const struct marking_ops *ops = table;
	struct marking_packet facts = marking_facts(output, packet);
	bool marks;

	if (!ops->on_departure)
		return false;
	facts.waited = starts_at - packet->head_at;
	foreign_enter(use->object->name, "on_departure()");
	marks = ops->on_departure(use->state, use->object->params, starts_at, &facts);
	foreign_leave();
	return marks;
}

/* ---- buffer management ---- */

static uint64_t buffer_limit(void *context, const struct buffer_queue *queue)
{
	const struct use *use = context;
	const void *table = use->object->plugin;
	const struct buffer_ops *ops = table;
	uint64_t bytes;

	foreign_enter(use->object->name, "limit()");
	bytes = ops->limit(use->state, use->object->params, sim_now(use->sw->block.sim), queue);
	foreign_leave();
	return bytes;
}

static void buffer_admit(void *context, unsigned output, unsigned vl, uint32_t bytes)
{
	const struct use *use = context;
	const void *table = use->object->plugin;
	const struct buffer_ops *ops = table;

	if (!ops->on_admit)
		return;
	foreign_enter(use->object->name, "on_admit()");
	ops->on_admit(use->state, use->object->params, sim_now(use->sw->block.sim), output, vl,
		      bytes);
	foreign_leave();
}

static void buffer_release(void *context, unsigned output, unsigned vl, uint32_t bytes)
{
	const struct use *use = context;
	const void *table = use->object->plugin;
	const struct buffer_ops *ops = table;

	if (!ops->on_release)
		return;
	foreign_enter(use->object->name, "on_release()");
	ops->on_release(use->state, use->object->params, sim_now(use->sw->block.sim), output, vl,
			bytes);
	foreign_leave();
}

/* ---- scheduling ---- */

static unsigned schedule_choose(void *context, const struct port *port, uint32_t vls)
{
	const struct use *use = context;
	const void *table = use->object->plugin;
	const struct schedule_ops *ops = table;
	struct schedule_queue queues[PORT_VLS];
	uint32_t count = 0, chosen;

	for (; vls; vls &= vls - 1) {
		unsigned vl = (unsigned)__builtin_ctz(vls);

		queues[count++] = (struct schedule_queue){vl, port_queued_bytes(port, vl),
							  port_queued(port, vl)};
	}
	foreign_enter(use->object->name, "choose()");
	chosen = ops->choose(use->state, use->object->params, sim_now(use->sw->block.sim), queues,
			     count);
	foreign_leave();
	if (chosen >= count)
		foreign_fail(use->object->name, "choose()",
			     "returned %" PRIu32 " at %s; expected an index below %" PRIu32, chosen,
			     port_name(port), count);
	return queues[chosen].vl;
}

static void schedule_departed(void *context, const struct port *port, unsigned vl,
			      uint32_t wire_bytes, bool emptied)
{
	const struct use *use = context;
	const void *table = use->object->plugin;
	const struct schedule_ops *ops = table;

	(void)port;
	if (!ops->on_departure)
		return;
	foreign_enter(use->object->name, "on_departure()");
	ops->on_departure(use->state, use->object->params, sim_now(use->sw->block.sim), vl,
			  wire_bytes, emptied);
	foreign_leave();
}

/* ---- creation and destruction ---- */

static void begin_schedules(struct fabric_switch *sw, const struct plugin_object *object)
{
	struct switch_plugins *plugins = sw->plugins;
	char name[NAME_BYTES];

	plugins->schedules = calloc(sw->port_count, sizeof(plugins->schedules[0]));
	plugins->schedulers = calloc(sw->port_count, sizeof(plugins->schedulers[0]));
	assert(plugins->schedules && plugins->schedulers);
	for (unsigned i = 0; i < sw->port_count; i++) {
		snprintf(name, sizeof(name), "%s.schedule", port_name(sw->ports[i].port));
		begin_use(&plugins->schedules[i], sw, object, name, i);
		plugins->schedulers[i] = (struct port_scheduler){schedule_choose, schedule_departed,
								 &plugins->schedules[i]};
	}
}

void plugins_init(struct fabric_switch *sw)
{
	const struct switch_plugin_params *params = &sw->params.plugins;
	const char *paths[PLUGIN_KIND_COUNT] = {
#define PATH(kind, key, meaning) [PLUGIN_##kind] = params->key.text,
		PLUGIN_KINDS(PATH)
#undef PATH
	};
	const char *values[PLUGIN_KIND_COUNT] = {
#define VALUES(kind, key, meaning) [PLUGIN_##kind] = params->key##_values.text,
		PLUGIN_KINDS(VALUES)
#undef VALUES
	};
	char name[NAME_BYTES], error[NAME_BYTES * 2];

	for (unsigned kind = 0; kind < PLUGIN_KIND_COUNT; kind++) {
		struct plugin_object *object;

		if (!*paths[kind] || (kind == PLUGIN_BUFFER && !sw->buffer))
			continue;
		if (!sw->plugins)
			sw->plugins = calloc(1, sizeof(*sw->plugins));
		assert(sw->plugins);
		object = &sw->plugins->objects[kind];
		if (!plugins_open(object, kind, paths[kind], values[kind], error, sizeof(error))) {
			foreign_fail(paths[kind], "opening", "%s", error);
			return;
		}
		if (kind == PLUGIN_SCHEDULE) {
			begin_schedules(sw, object);
			continue;
		}
		snprintf(name, sizeof(name), "%s.%s", sw->block.name, kinds[kind].key);
		begin_use(&sw->plugins->uses[kind], sw, object, name, 0);
	}
}

bool plugins_have(const struct fabric_switch *sw, enum plugin_kind kind)
{
	return sw->plugins && sw->plugins->objects[kind].library;
}

void plugins_start(struct fabric_switch *sw)
{
	struct switch_plugins *plugins = sw->plugins;

	if (!plugins)
		return;
	for (unsigned i = 0; plugins->schedulers && i < sw->port_count; i++)
		port_set_scheduler(sw->ports[i].port, &plugins->schedulers[i]);
	if (!plugins_have(sw, PLUGIN_BUFFER))
		return;
	plugins->policy = (struct buffer_policy){buffer_limit, buffer_admit, buffer_release,
						 &plugins->uses[PLUGIN_BUFFER]};
	shared_buffer_set_policy(sw->buffer, &plugins->policy);
}

void plugins_fini(struct fabric_switch *sw)
{
	struct switch_plugins *plugins = sw->plugins;

	if (!plugins)
		return;
	for (unsigned i = 0; plugins->schedules && i < sw->port_count; i++)
		end_use(&plugins->schedules[i]);
	for (unsigned kind = 0; kind < PLUGIN_KIND_COUNT; kind++) {
		end_use(&plugins->uses[kind]);
		plugins_close(&plugins->objects[kind]);
	}
	free(plugins->schedules);
	free(plugins->schedulers);
	free(plugins);
}
