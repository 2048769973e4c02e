/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reports: see state.h. A host reports to switches and routers that it joins or leaves a group, by
 * IGMP or MLD (fabric/wire/igmp.h). The first report leaves at once. Repetitions follow, because a
 * frame may be lost: RFC 3376 8.1 and 8.11, RFC 2236 8.10.
 */
#include "fabric/groups.h"
#include "fabric/wire/ethernet.h"
#include "fabric/wire/igmp.h"
#include "verbs-shim/sockets/state.h"

#define FRAME_MIN       60 /* without FCS */
#define FCS_BYTES       4
#define FRAME_BYTES     (18 + IGMP_PACKET_MAX)
#define NETWORK_CONTROL 0xc0

/* A report that the host will repeat. */
struct report {
	struct report *next;
	struct igmp_report report;
	uint64_t left;
	sim_time at;
};

static const struct path *path_of(const struct socket_host *host, const struct igmp_report *report,
				  enum igmp_version version)
{
	const struct sockets *sockets = host->sockets;
	const struct endpoint *own = endpoints_get(sockets->endpoints, host->number);
	bool six = report->group[0] == 0xff;
	struct path path = endpoints_path(sockets->endpoints, host->number, host->number,
					  (unsigned)sockets->params->priority, 1, 0);

	path.roce_version = six ? ROCE_V2_IPV6 : ROCE_V2_IPV4;
	path.traffic_class = six ? 0 : NETWORK_CONTROL;
	igmp_destination(report, version, path.dgid);
	group_mac(path.dgid, path.dmac);
	if (six)
		memcpy(path.sgid, own->gids[0].bytes, sizeof(path.sgid)); /* link-local */
	path.destination = groups_by_gid(endpoints_groups(sockets->endpoints), path.dgid);
	return path_intern(endpoints_paths(sockets->endpoints), &path);
}

static void send(struct socket_host *host, const struct igmp_report *report)
{
	struct packet_pool *pool = netdev_packets(host->netdev);
	enum igmp_version version = (enum igmp_version)host->sockets->params->igmp;
	struct packet *packet = packet_new(pool);
	const struct path *path = path_of(host, report, version);
	uint8_t frame[FRAME_BYTES] = {0};
	size_t length = ethernet_build(
		path, report->group[0] == 0xff ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4, frame);

	length += igmp_build(report, version, path->sgid, frame + length);
	if (length < FRAME_MIN)
		length = FRAME_MIN;
	packet->path = path;
	packet->kind = PACKET_RAW;
	packet->hop_limit = path->hop_limit;
	packet->payload_bytes = (uint32_t)length;
	packet->payload = packet_payload_of(pool, frame, (uint32_t)length);
	packet->wire_bytes = (uint32_t)length + FCS_BYTES;
	taps_see(host, packet, true);
	netdev_send(host->netdev, packet);
}

static void schedule(struct socket_host *host)
{
	sim_time first = SIM_NEVER;

	for (const struct report *report = host->reports; report; report = report->next)
		if (report->at < first)
			first = report->at;
	sim_cancel(&host->report);
	if (first < SIM_NEVER)
		sim_schedule_at(&host->report, first);
}

static sim_time next_time(struct socket_host *host)
{
	struct sockets *sockets = host->sockets;

	return sim_now(sockets->sim) + 1 +
	       random_below(&sockets->chance, sockets->params->igmp_interval);
}

static void repeat(struct event *event)
{
	struct socket_host *host = container_of(event, struct socket_host, report);
	struct report **place = &host->reports;

	while (*place) {
		struct report *report = *place;

		if (report->at > sim_now(host->sockets->sim)) {
			place = &report->next;
			continue;
		}
		send(host, &report->report);
		if (--report->left) {
			report->at = next_time(host);
			place = &report->next;
			continue;
		}
		*place = report->next;
		free(report);
	}
	schedule(host);
}

/* Returns the entry of the group, which it makes if there is none. */
static struct report *entry_of(struct socket_host *host, const uint8_t group[16])
{
	struct report *report = host->reports;

	while (report && memcmp(report->report.group, group, 16) != 0)
		report = report->next;
	if (report)
		return report;
	report = calloc(1, sizeof(*report));
	assert(report);
	memcpy(report->report.group, group, 16);
	report->next = host->reports;
	host->reports = report;
	return report;
}

void reports_send(struct socket_host *host, const uint8_t group[16], bool leaves)
{
	struct report *report;

	if (!host->netdev || host->sockets->ends)
		return;
	report = entry_of(host, group);
	report->report.leaves = leaves;
	report->left = host->sockets->params->igmp_reports;
	report->at = sim_now(host->sockets->sim);
	repeat(&host->report);
}

void reports_init_host(struct socket_host *host)
{
	event_init(&host->report, &host->sockets->block, repeat);
}

void reports_fini_host(struct socket_host *host)
{
	sim_cancel(&host->report);
	while (host->reports) {
		struct report *report = host->reports;

		host->reports = report->next;
		free(report);
	}
}
