/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain_timeline: implements hcasim explain RUN --perfetto FILE: the stages of work requests as a
 * timeline for ui.perfetto.dev. Each block of the adapter has a track. A stage is a slice on the
 * track of the block in which the time was spent.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hcasim/command/explain.h"
#include "hcasim/command/verb.h"
#include "sim/json.h"

/* clang-format off */
/* Blocks in the order in which a work request passes them, which is the order of the tracks. */
#define TRACKS(X) \
	X(doorbell) X(wqe_fetch) X(scheduler) X(context) X(transport) X(translation) \
	X(dma) X(transmit) X(port) X(peer) X(receive) X(receive_queue) X(pcie) X(completion)
#define TRACK_ENUM(name) TRACK_##name,
#define TRACK_NAME(name) #name,
enum track { TRACKS(TRACK_ENUM) TRACK_COUNT };
static const char *const track_names[] = {TRACKS(TRACK_NAME)};

static const uint8_t send_tracks[STAGE_COUNT] = {
	[STAGE_DOORBELL] = TRACK_doorbell,
	[STAGE_WQE_FETCH] = TRACK_wqe_fetch,
	[STAGE_SCHEDULING] = TRACK_scheduler,
	[STAGE_QPC_MISS] = TRACK_context,
	[STAGE_GRANT] = TRACK_scheduler,
	[STAGE_RETRY] = TRACK_transport,
	[STAGE_PAGE_FAULT] = TRACK_transport,
	[STAGE_PACING] = TRACK_transport,
	[STAGE_MESSAGE] = TRACK_scheduler,
	[STAGE_TRANSLATION] = TRACK_translation,
	[STAGE_DMA] = TRACK_dma,
	[STAGE_TRANSMIT] = TRACK_transmit,
	[STAGE_CREDITS] = TRACK_port,
	[STAGE_WIRE] = TRACK_port,
	[STAGE_REMOTE] = TRACK_peer,
	[STAGE_ACK] = TRACK_receive,
	[STAGE_DATA] = TRACK_dma,
	[STAGE_ORDER] = TRACK_transport,
	[STAGE_CQE] = TRACK_completion,
};

static const uint8_t receive_tracks[RECEIVE_STAGE_COUNT] = {
	[RECEIVE_ARRIVAL] = TRACK_port,
	[RECEIVE_PIPELINE] = TRACK_receive,
	[RECEIVE_CONTEXT] = TRACK_context,
	[RECEIVE_WQE] = TRACK_receive_queue,
	[RECEIVE_QUEUE] = TRACK_transport,
	[RECEIVE_TRANSLATED] = TRACK_translation,
	[RECEIVE_WRITTEN] = TRACK_pcie,
	[RECEIVE_ORDERED] = TRACK_transport,
	[RECEIVE_CQE] = TRACK_completion,
};
/* clang-format on */

static uint32_t track_of(const struct breakdown_side *side, const struct breakdown *shown,
			 unsigned stage)
{
	const uint8_t *tracks = side->first ? receive_tracks : send_tracks;

	return shown->source * TRACK_COUNT + tracks[stage] + 1;
}

/* "host0.hca" and "dma": the adapter is the latency block's name without its last part. */
static void print_track(FILE *out, uint32_t number, const char *latency_block, const char *track)
{
	size_t adapter = strlen(latency_block) - strlen(strrchr(latency_block, '.'));

	fprintf(out,
		",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%" PRIu32
		",\"name\":\"thread_name\",\"args\":{\"name\":\"%.*s.%s\"}},\n"
		"{\"ph\":\"M\",\"pid\":1,\"tid\":%" PRIu32
		",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%" PRIu32 "}}",
		number, (int)adapter, latency_block, track, number, number);
}

/* Prints the time in microseconds, to the picosecond. */
static void print_time(FILE *out, const char *key, sim_time time)
{
	fprintf(out, ",\"%s\":%" PRIu64 ".%06" PRIu64, key, time / US, time % US);
}

static void print_slices(FILE *out, const struct breakdown_side *side,
			 const struct breakdown *shown)
{
	sim_time start = shown->closed_at - shown->latency;

	for (unsigned stage = 0; stage < side->count; stage++) {
		if (!shown->stages[stage])
			continue;
		fprintf(out, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%" PRIu32 ",\"name\":\"%s\"",
			track_of(side, shown, stage), side->names[stage]);
		print_time(out, "ts", start);
		print_time(out, "dur", shown->stages[stage]);
		fprintf(out, ",\"args\":{\"tag\":%" PRIu64 ",\"qpn\":%" PRIu64 "}}", shown->tag,
			shown->qpn);
		start += shown->stages[stage];
	}
}

bool explain_timeline(const char *path, const struct breakdown_side *side,
		      const struct breakdown_sources *sources, const struct breakdown *shown,
		      size_t count)
{
	FILE *out = fopen(path, "w");
	bool good;

	if (!out) {
		say("%s: %s", path, strerror(errno));
		return false;
	}
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":1,\"name\":"
	      "\"process_name\",\"args\":{\"name\":\"hcasim\"}}",
	      out);
	for (uint32_t source = 0; source < sources->count; source++)
		for (uint32_t track = 0; track < TRACK_COUNT; track++)
			print_track(out, source * TRACK_COUNT + track + 1, sources->names[source],
				    track_names[track]);
	for (size_t i = 0; i < count; i++)
		print_slices(out, side, &shown[i]);
	fputs("\n]}\n", out);
	good = !ferror(out);
	good = fclose(out) == 0 && good;
	if (!good) {
		say("%s: could not be written", path);
		remove(path);
	}
	return good;
}
