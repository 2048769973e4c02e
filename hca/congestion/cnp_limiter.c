/* SPDX-License-Identifier: Apache-2.0 */
/* cnp_limiter: see cnp_limiter.h. */
#include "hca/congestion/cnp_limiter.h"

#include <assert.h>
#include <stdlib.h>

#include "fabric/wire/path.h"

#define PEERS_AT_FIRST 16

static uint32_t slot_of(const struct cnp_limiter *limiter, uint32_t source)
{
	uint32_t mask = limiter->capacity - 1;
	uint32_t slot = source * UINT32_C(2654435769) & mask;

	while (limiter->peers[slot].source != NO_ENDPOINT && limiter->peers[slot].source != source)
		slot = (slot + 1) & mask;
	return slot;
}

static void grow(struct cnp_limiter *limiter)
{
	struct cnp_peer *old = limiter->peers;
	uint32_t count = limiter->capacity;

	limiter->capacity = count ? count * 2 : PEERS_AT_FIRST;
	limiter->peers = malloc(limiter->capacity * sizeof(limiter->peers[0]));
	assert(limiter->peers);
	for (uint32_t i = 0; i < limiter->capacity; i++)
		limiter->peers[i] = (struct cnp_peer){.source = NO_ENDPOINT};
	for (uint32_t i = 0; i < count; i++)
		if (old[i].source != NO_ENDPOINT)
			limiter->peers[slot_of(limiter, old[i].source)] = old[i];
	free(old);
}

static sim_time *of_peer(struct cnp_limiter *limiter, uint32_t source)
{
	uint32_t slot;

	if (limiter->count * 2 >= limiter->capacity)
		grow(limiter);
	slot = slot_of(limiter, source);
	if (limiter->peers[slot].source == NO_ENDPOINT) {
		limiter->peers[slot] = (struct cnp_peer){.source = source};
		limiter->count++;
	}
	return &limiter->peers[slot].cnp_at;
}

bool cnp_limiter_pass(struct cnp_limiter *limiter, enum cnp_limit limit, sim_time interval,
		      uint32_t source, sim_time *qp_at, sim_time now)
{
	sim_time *next_at = limit == CNP_PER_QP     ? qp_at
			    : limit == CNP_PER_PORT ? &limiter->port_at
						    : of_peer(limiter, source);

	if (now < *next_at)
		return false;
	*next_at = now + interval;
	return true;
}

void cnp_limiter_fini(struct cnp_limiter *limiter)
{
	free(limiter->peers);
	*limiter = (struct cnp_limiter){0};
}
