/* SPDX-License-Identifier: Apache-2.0 */
/*
 * streams: reports effects that may have falsified the results of sockets: more bytes than the link
 * could have carried, and full buffers. The machine's TCP decides when a buffer has room again.
 */
#include "verbs-shim/session/state.h"

/* Largest amount of data that a sender can have in flight: tcp_wmem of Linux allows a buffer of 4
 * MiB. */
#define BUFFERED_BYTES (UINT64_C(4) << 20)

static void report(const char *host, const struct shim_traffic *traffic)
{
	double lasted = (double)(traffic->at - traffic->first) / (double)US;
	double needed = (double)traffic->bytes * 8e6 / (double)traffic->link_bps;

	if (traffic->link_bps && traffic->behind_most > BUFFERED_BYTES)
		fprintf(stderr,
			"hcasim: warning: %s sent %.1f MB by sockets in %.1f us, for which its "
			"link needs %.1f us, and was up to %.1f MB ahead of the link; sockets take "
			"no link time, so rates and latencies over them are not meaningful\n",
			host, (double)traffic->bytes / 1e6, lasted, needed,
			(double)traffic->behind_most / 1e6);
	if (traffic->full)
		fprintf(stderr,
			"hcasim: warning: %s found full buffers of sockets to other hosts %lu "
			"times; this machine decides when they have room again, so results may "
			"differ between runs\n",
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
