/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_buffer: see shared_buffer.h.
 */
#include "switch/shared_buffer.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/carry.h"
#include "sim/fold.h"

#define RELEASES_FIRST 64u
#define ALPHA_SHIFT    16u

struct ingress {
	uint64_t used;     /* bytes of the reserve and the shared part */
	uint64_t headroom; /* bytes of headroom */
	uint64_t headroom_size;
	uint64_t headroom_max;
	uint64_t alpha; /* << ALPHA_SHIFT */
	bool lossless;
	bool paused;
};

struct release {
	sim_time at;
	uint32_t bytes;
	uint16_t ingress, egress;
};

struct shared_buffer {
	uint64_t shared_size, shared_used;
	uint64_t reserved;
	uint64_t alpha_lossy; /* << ALPHA_SHIFT */
	uint64_t used, used_max;
	uint64_t headroom_used, headroom_pool;
	struct release *releases; /* a ring ordered by `at`, which doubles when it is full */
	uint32_t first, count, room;
	uint32_t paused_classes;
	bool started;
	const struct buffer_policy *policy; /* NULL: dynamic threshold */
	uint64_t *egress;                   /* bytes in use, by class */
	struct ingress *ingress;
	struct event watch; /* next release of a paused class */
	struct block *owner;
	buffer_pause_function *set_pause;
	void *context;
	uint64_t reserved_sum, headroom_sum;
	unsigned ports;
	/* multicast: replaces the egress class of a packet, and the ingress class of a copy */
	uint16_t no_class;
	struct shared_buffer_params params;
};

static struct release *release_at(const struct shared_buffer *buffer, uint32_t index)
{
	return &buffer->releases[(buffer->first + index) & (buffer->room - 1)];
}

static uint64_t above(uint64_t value, uint64_t floor)
{
	return value > floor ? value - floor : 0;
}

static uint64_t shared_of(const struct shared_buffer *buffer, const struct ingress *in)
{
	return above(in->used, buffer->reserved);
}

static uint64_t threshold(const struct shared_buffer *buffer, uint64_t alpha)
{
	return above(buffer->shared_size, buffer->shared_used) * alpha >> ALPHA_SHIFT;
}

static uint64_t policy_limit(const struct shared_buffer *buffer, uint16_t class, bool ingress,
			     uint64_t used)
{
	const struct buffer_queue queue = {
		.port = class / BUFFER_VLS,
		.priority = class % BUFFER_VLS,
		.ingress = ingress,
		.used_bytes = used,
		.shared_size = buffer->shared_size,
		.shared_used = buffer->shared_used,
	};

	return buffer->policy->limit(buffer->policy->context, &queue);
}

static uint64_t ingress_limit(const struct shared_buffer *buffer, uint16_t class)
{
	const struct ingress *in = &buffer->ingress[class];

	if (__builtin_expect(buffer->policy != NULL, 0))
		return policy_limit(buffer, class, true, shared_of(buffer, in));
	return threshold(buffer, in->alpha);
}

static uint64_t egress_limit(const struct shared_buffer *buffer, uint16_t class)
{
	if (__builtin_expect(buffer->policy != NULL, 0))
		return policy_limit(buffer, class, false, buffer->egress[class]);
	return threshold(buffer, buffer->alpha_lossy);
}

static void stop(struct shared_buffer *buffer, uint16_t class)
{
	struct ingress *in = &buffer->ingress[class];

	if (in->paused)
		return;
	in->paused = true;
	buffer->paused_classes++;
	for (uint32_t i = 0; i < buffer->count; i++) {
		const struct release *release = release_at(buffer, i);

		if (release->ingress != class)
			continue;
		if (event_pending(&buffer->watch) && event_time(&buffer->watch) <= release->at)
			break;
		sim_cancel(&buffer->watch);
		sim_schedule_at(&buffer->watch, release->at);
		break;
	}
	buffer->set_pause(buffer->context, class / BUFFER_VLS, class % BUFFER_VLS, true);
}

static void consider_go(struct shared_buffer *buffer, uint16_t class)
{
	struct ingress *in = &buffer->ingress[class];
	uint64_t shared = shared_of(buffer, in);

	if (in->headroom)
		return;
	if (shared && shared + buffer->params.xon_below > ingress_limit(buffer, class))
		return;
	in->paused = false;
	buffer->paused_classes--;
	buffer->set_pause(buffer->context, class / BUFFER_VLS, class % BUFFER_VLS, false);
}

/* Releases memory, headroom first, because the pause ends when it is free. */
static void give_back(struct shared_buffer *buffer, const struct release *release)
{
	struct ingress *in = &buffer->ingress[release->ingress];

	assert(release->bytes <= buffer->egress[release->egress]);
	buffer->egress[release->egress] -= release->bytes;
	if (__builtin_expect(buffer->policy != NULL, 0) && release->egress != buffer->no_class)
		buffer->policy->release(buffer->policy->context, release->egress / BUFFER_VLS,
					release->egress % BUFFER_VLS, release->bytes);
	if (__builtin_expect(release->ingress == buffer->no_class, 0))
		return;
	uint64_t headroom = release->bytes < in->headroom ? release->bytes : in->headroom;
	uint64_t rest = release->bytes - headroom;
	uint64_t shared_before = shared_of(buffer, in);

	assert(rest <= in->used);
	in->headroom -= headroom;
	buffer->headroom_used -= headroom;
	in->used -= rest;
	buffer->shared_used -= shared_before - shared_of(buffer, in);
	buffer->used -= release->bytes;
	if (in->paused)
		consider_go(buffer, release->ingress);
}

/* Processes the releases that are due. */
static inline void settle(struct shared_buffer *buffer)
{
	sim_time now = sim_now(buffer->owner->sim);

	while (buffer->count && release_at(buffer, 0)->at <= now) {
		const struct release due = *release_at(buffer, 0);

		buffer->first = (buffer->first + 1) & (buffer->room - 1);
		buffer->count--;
		give_back(buffer, &due);
	}
}

static enum buffer_verdict admit_lossless(struct shared_buffer *buffer, uint16_t class,
					  uint32_t bytes)
{
	struct ingress *in = &buffer->ingress[class];
	uint64_t before = shared_of(buffer, in);
	uint64_t after = above(in->used + bytes, buffer->reserved);
	bool below = after <= ingress_limit(buffer, class);
	bool fits = below;
	enum buffer_verdict verdict = BUFFER_ADMITTED;

	if (buffer->params.headroom_from == BUFFER_HEADROOM_FROM_FULL)
		fits = buffer->shared_used + (after - before) <= buffer->shared_size;
	if (fits && !in->headroom) {
		in->used += bytes;
		buffer->shared_used += after - before;
	} else if (in->headroom + bytes <= in->headroom_size &&
		   buffer->headroom_used + bytes <= buffer->headroom_pool) {
		in->headroom += bytes;
		buffer->headroom_used += bytes;
		if (in->headroom > in->headroom_max)
			in->headroom_max = in->headroom;
	} else {
		verdict = BUFFER_NO_HEADROOM;
	}
	if (verdict != BUFFER_ADMITTED || in->headroom || !below)
		stop(buffer, class);
	return verdict;
}

static enum buffer_verdict admit_lossy(struct shared_buffer *buffer, uint16_t ingress,
				       uint16_t egress, uint32_t bytes)
{
	struct ingress *in = &buffer->ingress[ingress];
	uint64_t grows = above(in->used + bytes, buffer->reserved) - shared_of(buffer, in);

	if (grows && egress != buffer->no_class &&
	    buffer->egress[egress] + bytes > egress_limit(buffer, egress))
		return BUFFER_EGRESS_FULL;
	if (buffer->shared_used + grows > buffer->shared_size)
		return BUFFER_POOL_FULL;
	in->used += bytes;
	buffer->shared_used += grows;
	return BUFFER_ADMITTED;
}

static void report_admitted(const struct shared_buffer *buffer, uint16_t egress, uint32_t bytes)
{
	if (__builtin_expect(buffer->policy != NULL, 0) && egress != buffer->no_class)
		buffer->policy->admit(buffer->policy->context, egress / BUFFER_VLS,
				      egress % BUFFER_VLS, bytes);
}

enum buffer_verdict shared_buffer_admit(struct shared_buffer *buffer, uint16_t ingress,
					uint16_t egress, uint32_t bytes)
{
	enum buffer_verdict verdict;

	assert(buffer->started);
	settle(buffer);
	verdict = buffer->ingress[ingress].lossless ? admit_lossless(buffer, ingress, bytes)
						    : admit_lossy(buffer, ingress, egress, bytes);
	if (verdict != BUFFER_ADMITTED)
		return verdict;
	report_admitted(buffer, egress, bytes);
	buffer->egress[egress] += bytes;
	buffer->used += bytes;
	if (buffer->used > buffer->used_max)
		buffer->used_max = buffer->used;
	return verdict;
}

enum buffer_verdict shared_buffer_admit_packet(struct shared_buffer *buffer, uint16_t ingress,
					       uint32_t bytes)
{
	return shared_buffer_admit(buffer, ingress, buffer->no_class, bytes);
}

enum buffer_verdict shared_buffer_admit_copy(struct shared_buffer *buffer, uint16_t ingress,
					     uint16_t egress, uint32_t bytes)
{
	settle(buffer);
	if (!buffer->ingress[ingress].lossless &&
	    buffer->egress[egress] + bytes > egress_limit(buffer, egress))
		return BUFFER_EGRESS_FULL;
	report_admitted(buffer, egress, bytes);
	buffer->egress[egress] += bytes;
	return BUFFER_ADMITTED;
}

/* Doubles the ring, when more releases are pending than ever before. */
static void grow(struct shared_buffer *buffer)
{
	uint32_t room = buffer->room * 2;
	struct release *ring = malloc(room * sizeof(*ring));

	assert(ring);
	for (uint32_t i = 0; i < buffer->count; i++)
		ring[i] = *release_at(buffer, i);
	free(buffer->releases);
	buffer->releases = ring;
	buffer->first = 0;
	buffer->room = room;
}

void shared_buffer_release_at(struct shared_buffer *buffer, uint16_t ingress, uint16_t egress,
			      uint32_t bytes, sim_time at)
{
	uint32_t place;

	settle(buffer);
	if (buffer->count == buffer->room)
		grow(buffer);
	for (place = buffer->count; place && release_at(buffer, place - 1)->at > at; place--)
		*release_at(buffer, place) = *release_at(buffer, place - 1);
	*release_at(buffer, place) = (struct release){at, bytes, ingress, egress};
	buffer->count++;
	if (!buffer->ingress[ingress].paused)
		return;
	if (event_pending(&buffer->watch)) {
		if (event_time(&buffer->watch) <= at)
			return;
		sim_cancel(&buffer->watch);
	}
	sim_schedule_at(&buffer->watch, at);
}

void shared_buffer_release_packet_at(struct shared_buffer *buffer, uint16_t ingress, uint32_t bytes,
				     sim_time at)
{
	shared_buffer_release_at(buffer, ingress, buffer->no_class, bytes, at);
}

void shared_buffer_release_copy_at(struct shared_buffer *buffer, uint16_t egress, uint32_t bytes,
				   sim_time at)
{
	shared_buffer_release_at(buffer, buffer->no_class, egress, bytes, at);
}

static void watch_fire(struct event *event)
{
	struct shared_buffer *buffer = container_of(event, struct shared_buffer, watch);

	settle(buffer);
	if (!buffer->paused_classes || event_pending(&buffer->watch))
		return;
	for (uint32_t i = 0; i < buffer->count; i++) {
		const struct release *release = release_at(buffer, i);

		if (buffer->ingress[release->ingress].paused) {
			sim_schedule_at(&buffer->watch, release->at);
			return;
		}
	}
}

uint64_t shared_buffer_used(struct shared_buffer *buffer)
{
	settle(buffer);
	return buffer->used;
}

uint64_t shared_buffer_shared_size(const struct shared_buffer *buffer)
{
	return buffer->shared_size;
}

uint64_t shared_buffer_shared_used(struct shared_buffer *buffer)
{
	settle(buffer);
	return buffer->shared_used;
}

uint64_t shared_buffer_ingress_used(struct shared_buffer *buffer, uint16_t ingress)
{
	settle(buffer);
	return buffer->ingress[ingress].used + buffer->ingress[ingress].headroom;
}

uint64_t shared_buffer_headroom_used(struct shared_buffer *buffer, uint16_t ingress)
{
	settle(buffer);
	return buffer->ingress[ingress].headroom;
}

uint64_t shared_buffer_headroom_used_max(const struct shared_buffer *buffer, uint16_t ingress)
{
	return buffer->ingress[ingress].headroom_max;
}

uint64_t shared_buffer_egress_used(struct shared_buffer *buffer, uint16_t egress)
{
	settle(buffer);
	return buffer->egress[egress];
}

uint64_t shared_buffer_used_max(const struct shared_buffer *buffer)
{
	return buffer->used_max;
}

static uint64_t fixed_point(double alpha)
{
	return (uint64_t)llround(alpha * (double)(1u << ALPHA_SHIFT));
}

static double alpha_of(const struct shared_buffer_params *params, uint64_t rate_bps)
{
	double alpha = params->alpha * (double)rate_bps / (double)params->alpha_per_rate;

	return !params->alpha_per_rate ? params->alpha : alpha < 1 ? alpha : 1;
}

void shared_buffer_add_port(struct shared_buffer *buffer, unsigned port, unsigned vls,
			    uint64_t rate_bps, uint64_t headroom_bytes)
{
	assert(!buffer->started && port < buffer->ports && vls <= BUFFER_VLS);
	for (unsigned vl = 0; vl < vls; vl++) {
		struct ingress *in = &buffer->ingress[buffer_class(port, vl)];

		buffer->reserved_sum += buffer->reserved;
		in->alpha = fixed_point(alpha_of(&buffer->params, rate_bps));
		if (!(buffer->params.lossless & 1u << vl))
			continue;
		in->lossless = true;
		in->headroom_size =
			buffer->params.headroom ? buffer->params.headroom : headroom_bytes;
		buffer->headroom_sum += in->headroom_size;
	}
}

bool shared_buffer_start(struct shared_buffer *buffer, char *error, size_t error_bytes)
{
	uint64_t taken;

	assert(!buffer->started);
	buffer->headroom_pool =
		buffer->params.headroom_pool ? buffer->params.headroom_pool : buffer->headroom_sum;
	taken = buffer->reserved_sum + buffer->headroom_pool;
	if (taken >= buffer->params.size) {
		snprintf(error, error_bytes,
			 "%s: buffer size is %llu B, but reserved (%llu B) and headroom (%llu B) "
			 "leave nothing to share",
			 buffer->owner->name, (unsigned long long)buffer->params.size,
			 (unsigned long long)buffer->reserved_sum,
			 (unsigned long long)buffer->headroom_pool);
		return false;
	}
	buffer->shared_size = buffer->params.size - taken;
	buffer->started = true;
	return true;
}

void shared_buffer_set_policy(struct shared_buffer *buffer, const struct buffer_policy *policy)
{
	buffer->policy = policy;
}

bool shared_buffer_started(const struct shared_buffer *buffer)
{
	return buffer->started;
}

static void fold_ingress(const struct ingress *in, struct fold *fold)
{
	static const struct fold_field fields[] = {
		FOLD_FIELD(struct ingress, headroom_max, FOLD_SKIP),
	};

	fold_struct(fold, in, sizeof(*in), fields, ARRAY_SIZE(fields));
}

void shared_buffer_carry(struct shared_buffer *buffer, struct carry *carry)
{
	if (!carry->reads)
		settle(buffer);
	for (uint32_t i = 0; i < buffer->no_class; i++) {
		CARRY(carry, buffer->ingress[i].used);
		CARRY(carry, buffer->ingress[i].headroom);
	}
}

void shared_buffer_fold(struct shared_buffer *buffer, struct fold *fold)
{
	static const struct fold_field fields[] = {
		FOLD_FIELD(struct shared_buffer, used_max, FOLD_SKIP),
		FOLD_FIELD(struct shared_buffer, releases, FOLD_SKIP),
		FOLD_FIELD(struct shared_buffer, first, FOLD_SKIP),
		FOLD_FIELD(struct shared_buffer, room, FOLD_SKIP),
		FOLD_FIELD(struct shared_buffer, watch, FOLD_SKIP),
	};
	uint32_t classes = buffer->no_class + 1u;

	if (buffer->policy)
		fold_refuse(fold, "%s: a plug-in manages its buffer", buffer->owner->name);
	settle(buffer);
	fold_struct(fold, buffer, sizeof(*buffer), fields, ARRAY_SIZE(fields));
	for (uint32_t i = 0; i < buffer->count; i++) {
		const struct release *release = release_at(buffer, i);

		fold_since(fold, release->at);
		fold_number(fold, release->bytes);
		fold_number(fold, (uint64_t)release->ingress << 16 | release->egress);
	}
	for (uint32_t i = 0; i < classes; i++)
		fold_ingress(&buffer->ingress[i], fold);
	fold_raw(fold, buffer->egress, classes * sizeof(buffer->egress[0]));
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct shared_buffer_params, __VA_ARGS__)
const struct param shared_buffer_param_list[] = { SHARED_BUFFER_PARAMS(ROW) { 0 } };
/* clang-format on */

struct shared_buffer *shared_buffer_create(struct block *owner,
					   const struct shared_buffer_params *params,
					   unsigned ports, buffer_pause_function *set_pause,
					   void *context)
{
	struct shared_buffer *buffer = calloc(1, sizeof(*buffer));
	size_t classes = (size_t)ports * BUFFER_VLS + 1;

	assert(buffer && params->size);
	buffer->no_class = (uint16_t)(classes - 1);
	buffer->params = *params;
	buffer->owner = owner;
	buffer->ports = ports;
	buffer->set_pause = set_pause;
	buffer->context = context;
	buffer->reserved = params->reserved;
	buffer->alpha_lossy = fixed_point(params->alpha_lossy);
	buffer->room = RELEASES_FIRST;
	buffer->releases = malloc(buffer->room * sizeof(buffer->releases[0]));
	buffer->ingress = calloc(classes, sizeof(buffer->ingress[0]));
	buffer->egress = calloc(classes, sizeof(buffer->egress[0]));
	assert(buffer->releases && buffer->ingress && buffer->egress);
	event_init(&buffer->watch, owner, watch_fire);
	return buffer;
}

void shared_buffer_destroy(struct shared_buffer *buffer)
{
	sim_cancel(&buffer->watch);
	free(buffer->releases);
	free(buffer->ingress);
	free(buffer->egress);
	free(buffer);
}
