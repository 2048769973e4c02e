/* SPDX-License-Identifier: Apache-2.0 */
/*
 * streams: says at the end of a run what of it sockets have falsified: bytes that no link could have carried in that time, and streams
 * whose buffers were full, as the machine's TCP says when there is room again.
 */
#include "verbs-shim/session/state.h"

/* What a sender may have under way at once: Linux's tcp_wmem allows 4 MiB in a buffer. */
#define BUFFERED_BYTES (UINT64_C(4) << 20)

static void report(const char *host, const struct shim_traffic *traffic)
{
	double lasted = (double)(traffic->at - traffic->first) / (double)US;
	double needed = (double)traffic->bytes * 8e6 / (double)traffic->link_bps;

	if (traffic->link_bps && traffic->behind_most > BUFFERED_BYTES)
		fprintf(stderr,
			"hcasim: warning: %s sent %.1f MB by sockets in %.1f us, for which its "
			"link "
			"takes %.1f us, and was up to %.1f MB ahead of it: sockets take no link "
			"time, so rates and latencies over them mean nothing\n",
			host, (double)traffic->bytes / 1e6, lasted, needed,
			(double)traffic->behind_most / 1e6);
	if (traffic->full)
		fprintf(stderr,
			"hcasim: warning: %s found buffers of sockets to other hosts full %lu "
			"times; when they have room again is the machine's affair, so such a run "
			"may not repeat\n",
			host, traffic->full);
}

void streams_report(const struct session *session)
{
	for (uint32_t i = 0; i < session->host_count; i++)
		report(session->hosts[i].name, &session->shared->traffic[i]);
}

void session_set_link(struct session *session, uint32_t host, uint64_t rate_bps)
{
	session->shared->traffic[host].link_bps = rate_bps;
}
