/* SPDX-License-Identifier: Apache-2.0 */
/* sequence: see sequence.h. Finds the passages of each packet, and the packets of a pair. */
#include "hcasim/report/sequence.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/aeth.h"
#include "fabric/wire/opcode.h"

#define PEERS_MAX 64 /* queue pairs of a host that one queue pair may belong to */

struct reading {
	const struct passages *all;
	struct sequence *sequence;
	struct passage **list; /* passages of the pair, sorted by packet, then by time */
	size_t count;
	size_t last_ports[2]; /* by which packets come to each host */
};

struct sequence_event *sequence_add(struct sequence *sequence, enum sequence_kind kind,
				    unsigned side, sim_time at)
{
	if (sequence->count == sequence->room) {
		sequence->room = sequence->room ? 2 * sequence->room : 256;
		sequence->list = realloc(sequence->list, sequence->room * sizeof(*sequence->list));
		if (!sequence->list)
			abort();
	}
	struct sequence_event *event = &sequence->list[sequence->count++];
	*event = (struct sequence_event){.at = at, .until = at, .kind = kind, .side = side};
	return event;
}

void sequence_free(struct sequence *sequence)
{
	free(sequence->hosts[0]);
	free(sequence->hosts[1]);
	free(sequence->qps_seen[0]);
	free(sequence->qps_seen[1]);
	free(sequence->list);
}

/* ---- which packets ---- */

/* Returns the side that sends the packet, or 2 for a packet of other hosts or of another queue
 * pair. */
static unsigned side_of(const struct passages *all, const struct sequence *sequence,
			const struct passage *passage)
{
	for (unsigned side = 0; side < 2; side++) {
		uint32_t qp = sequence->qps[1 - side];
		if (!passage->pause && passage->source == all->addresses[sequence->ports[side]] &&
		    passage->destination == all->addresses[sequence->ports[1 - side]] &&
		    (qp == SEQUENCE_QP_ANY || qp == passage->dest_qp))
			return side;
	}
	return 2;
}

static int compare(uint64_t one, uint64_t other)
{
	return one < other ? -1 : one > other;
}

static int by_packet(const void *one, const void *other)
{
	const struct passage *a = *(struct passage *const *)one;
	const struct passage *b = *(struct passage *const *)other;
	int order = compare(a->source, b->source);
	order = order ? order : compare(a->dest_qp, b->dest_qp);
	order = order ? order : compare(a->opcode, b->opcode);
	order = order ? order : compare(a->psn, b->psn);
	order = order ? order : compare(a->msn, b->msn);
	order = order ? order : compare(a->syndrome, b->syndrome);
	order = order ? order : compare(a->at_ns, b->at_ns);
	return order ? order : compare((uintptr_t)a, (uintptr_t)b); /* the file's order */
}

static bool is_same_packet(const struct passage *a, const struct passage *b)
{
	return a->source == b->source && a->dest_qp == b->dest_qp && a->opcode == b->opcode &&
	       a->psn == b->psn && a->msn == b->msn && a->syndrome == b->syndrome;
}

static void collect(struct reading *reading)
{
	const struct passages *all = reading->all;
	reading->list = calloc(all->count + 1, sizeof(struct passage *));
	if (!reading->list)
		abort();
	for (size_t i = 0; i < all->count; i++) {
		if (side_of(all, reading->sequence, &all->list[i]) < 2)
			reading->list[reading->count++] = &all->list[i];
	}
	qsort(reading->list, reading->count, sizeof(struct passage *), by_packet);
}

/* Finds the port by which packets reach the host. No packet passes another port after it. Several
 * ports qualify if they lost all their packets. The port with the most packets is then chosen. */
static void find_last_port(struct reading *reading, unsigned sender)
{
	const struct sequence *sequence = reading->sequence;
	size_t ports = reading->all->port_count, best = sequence->ports[sender];
	size_t *passed = calloc(ports, sizeof(*passed));
	bool *followed = calloc(ports, sizeof(*followed));
	if (!passed || !followed)
		abort();
	for (size_t i = 0; i < reading->count; i++) {
		const struct passage *now = reading->list[i];
		const struct passage *last = i > 0 ? reading->list[i - 1] : NULL;
		if (now->source != reading->all->addresses[sequence->ports[sender]])
			continue;
		passed[now->port]++;
		if (last && is_same_packet(now, last) && now->port != sequence->ports[sender])
			followed[last->port] = true;
	}
	for (size_t port = 0; port < ports; port++) {
		if (!followed[port] && (followed[best] || passed[port] > passed[best]))
			best = port;
	}
	reading->last_ports[1 - sender] = best;
	free(passed);
	free(followed);
}

/* ---- packets ---- */

static enum sequence_kind kind_of(const struct passage *passage)
{
	if (passage->opcode == CNP_NOTIFY)
		return SEQUENCE_CNP;
	if (opcode_is_request(passage->opcode))
		return SEQUENCE_REQUEST;
	if (opcode_has(passage->opcode, HDR_AETH) && aeth_type(passage->syndrome) != SYNDROME_ACK)
		return SEQUENCE_NAK;
	return SEQUENCE_RESPONSE;
}

/* Writes for example "WRITE_MIDDLE psn 3, 4096 B", "ACK psn 5 msn 2" or "NAK PSN sequence error psn
 * 4". */
static void print_packet(const struct passage *passage, bool of_pair, char *text, size_t bytes)
{
	char syndrome[64] = "", qp[24] = "";
	const char *name = opcode_name(passage->opcode);
	const char *operation = strchr(name, '_') ? strchr(name, '_') + 1 : name;
	if (of_pair)
		snprintf(qp, sizeof(qp), " qp %" PRIu32, passage->dest_qp);
	if (passage->opcode == CNP_NOTIFY)
		snprintf(text, bytes, "CNP%s", qp);
	else if (kind_of(passage) == SEQUENCE_NAK) {
		aeth_print(passage->syndrome, syndrome, sizeof(syndrome));
		snprintf(text, bytes, "%s%s psn %" PRIu32 " msn %" PRIu32, syndrome, qp,
			 passage->psn, passage->msn);
	} else if (opcode_has(passage->opcode, HDR_AETH) && !opcode_has_payload(passage->opcode))
		snprintf(text, bytes, "%s%s psn %" PRIu32 " msn %" PRIu32, operation, qp,
			 passage->psn, passage->msn);
	else if (opcode_has_payload(passage->opcode))
		snprintf(text, bytes, "%s%s psn %" PRIu32 " %" PRIu32 " B", operation, qp,
			 passage->psn, passage->payload_bytes);
	else
		snprintf(text, bytes, "%s%s psn %" PRIu32, operation, qp, passage->psn);
	if (passage->becn && strlen(text) + 6 < bytes)
		strncat(text, " BECN", bytes - strlen(text) - 1);
}

static sim_time picoseconds(uint64_t at_ns)
{
	return at_ns * NS;
}

/* A mark may have been set on the way. */
static void mark(struct sequence_event *event)
{
	if (!strstr(event->text, " CE") && strlen(event->text) + 4 < sizeof(event->text))
		strncat(event->text, " CE", sizeof(event->text) - strlen(event->text) - 1);
}

/* Adds the passages of equal packets: a packet and its retransmissions. A passage at the last port
 * belongs to the last departure before it that has no such passage yet. */
static void add_packets(struct reading *reading, size_t first, size_t end)
{
	struct sequence *sequence = reading->sequence;
	unsigned side = side_of(reading->all, sequence, reading->list[first]);
	bool of_pair = sequence->qps[0] == SEQUENCE_QP_ANY, again = false;
	size_t begin = sequence->count, last_port = reading->last_ports[1 - side];
	for (size_t i = first; i < end; i++) {
		const struct passage *passage = reading->list[i];
		if (passage->port == sequence->ports[side]) {
			struct sequence_event *event = sequence_add(
				sequence, kind_of(passage), side, picoseconds(passage->at_ns));
			event->until = SIM_NEVER;
			event->again = again && event->kind == SEQUENCE_REQUEST;
			print_packet(passage, of_pair, event->text, sizeof(event->text));
			again = true;
		}
		if (passage->port != last_port)
			continue;
		size_t at = sequence->count;
		while (at > begin && sequence->list[at - 1].last_hop_ns != 0)
			at--;
		if (at == begin)
			continue;
		sequence->list[at - 1].last_hop_ns = passage->at_ns;
		sequence->list[at - 1].until = picoseconds(passage->at_ns);
		if (passage->marked)
			mark(&sequence->list[at - 1]);
	}
}

/* Adds the pauses. PFC packets from the last port pause the host. PFC packets from the host's port
 * pause the link. */
static void add_pauses(struct reading *reading)
{
	for (size_t i = 0; i < reading->all->count; i++) {
		const struct passage *passage = &reading->all->list[i];
		for (unsigned side = 0; passage->pause && side < 2; side++) {
			bool taken = passage->port == reading->last_ports[side];
			if (!taken && passage->port != reading->sequence->ports[side])
				continue;
			struct sequence_event *event =
				sequence_add(reading->sequence, SEQUENCE_PAUSE, side,
					     picoseconds(passage->at_ns));
			snprintf(event->text, sizeof(event->text),
				 passage->pause_enable ? "%s, priorities 0x%02x" : "%s",
				 passage->pause_enable ? taken ? "is paused" : "pauses the link"
				 : taken               ? "may continue"
						       : "resumes the link",
				 passage->pause_enable);
			break; /* without a switch, a pause concerns both hosts */
		}
	}
}

static void see_qp(struct sequence *sequence, unsigned side, uint32_t qpn)
{
	size_t count = sequence->qp_counts[side];
	if (sequence_has_qp(sequence, side, qpn))
		return;
	sequence->qps_seen[side] =
		realloc(sequence->qps_seen[side], (count + 1) * sizeof(*sequence->qps_seen[side]));
	if (!sequence->qps_seen[side])
		abort();
	sequence->qps_seen[side][sequence->qp_counts[side]++] = qpn;
}

static void make(struct sequence *sequence, const struct passages *all)
{
	struct reading reading = {.all = all, .sequence = sequence};
	collect(&reading);
	find_last_port(&reading, 0);
	find_last_port(&reading, 1);
	for (size_t first = 0, end; first < reading.count; first = end) {
		for (end = first + 1;
		     end < reading.count && is_same_packet(reading.list[first], reading.list[end]);)
			end++;
		add_packets(&reading, first, end);
		see_qp(sequence, 1 - side_of(all, sequence, reading.list[first]),
		       reading.list[first]->dest_qp);
	}
	add_pauses(&reading);
	free(reading.list);
}

/* ---- which hosts ---- */

static bool find_host(const struct passages *all, const char *host, size_t *port, char *error,
		      size_t error_bytes)
{
	*port = passages_host_port(all, host);
	if (*port < all->port_count && all->addresses[*port] != 0)
		return true;
	snprintf(error, error_bytes,
		 "no packet of a host \"%s\" was recorded; expected the name of a host that sent "
		 "RDMA packets",
		 host);
	return false;
}

static void set_hosts(struct sequence *sequence, const struct passages *all, size_t one,
		      size_t other)
{
	const size_t ports[2] = {one, other};
	for (unsigned side = 0; side < 2; side++) {
		const char *name = all->ports[ports[side]];
		sequence->ports[side] = ports[side];
		sequence->hosts[side] = strndup(name, strlen(name) - strlen(".hca.port"));
		if (!sequence->hosts[side])
			abort();
	}
}

bool sequence_of_pair(struct sequence *sequence, const struct passages *all, const char *one,
		      const char *other, char *error, size_t error_bytes)
{
	size_t ports[2];
	*sequence = (struct sequence){.qps = {SEQUENCE_QP_ANY, SEQUENCE_QP_ANY}};
	if (!find_host(all, one, &ports[0], error, error_bytes) ||
	    !find_host(all, other, &ports[1], error, error_bytes))
		return false;
	set_hosts(sequence, all, ports[0], ports[1]);
	make(sequence, all);
	if (sequence->count > 0)
		return true;
	snprintf(error, error_bytes, "%s and %s sent no packets to each other", one, other);
	return false;
}

struct peer {
	uint32_t qpn;
	uint32_t first, last; /* PSNs of requests to it so far */
	bool asked;           /* there were some */
	bool refuted;         /* a response cannot be of this queue pair */
};

static struct peer *peer_of(struct peer *peers, size_t *count, uint32_t qpn)
{
	size_t i = 0;
	while (i < *count && peers[i].qpn != qpn)
		i++;
	if (i == *count && *count < PEERS_MAX)
		peers[(*count)++] = (struct peer){.qpn = qpn};
	return i < PEERS_MAX ? &peers[i] : NULL;
}

/* Returns true if the PSN is not before the other one. PSNs have 24 bits, IBTA vol. 1, 9.7.2. */
static bool is_reached(uint32_t psn, uint32_t other)
{
	return ((other - psn) & 0xffffff) < 0x800000;
}

static void ask(struct peer *peer, uint32_t psn)
{
	if (!peer->asked || is_reached(peer->last, psn))
		peer->last = psn;
	if (!peer->asked)
		peer->first = psn;
	peer->asked = true;
}

/* A response has a requested PSN. */
static bool fits(const struct peer *peer, uint32_t psn)
{
	return peer->asked && is_reached(peer->first, psn) && is_reached(psn, peer->last);
}

/* An RC packet names its destination queue pair, and not its source. A response has the PSN of an
 * earlier request of the other end. Each response without such a request excludes a queue pair of
 * the other host. Returns false if several queue pairs remain, or none. */
static bool find_peer(const struct passages *all, size_t port, size_t other, uint32_t qpn,
		      uint32_t *peer)
{
	struct peer peers[PEERS_MAX], own = {.qpn = qpn};
	size_t count = 0, left = 0;
	for (size_t i = 0; i < all->count; i++) {
		const struct passage *now = &all->list[i];
		bool request = !now->pause && opcode_is_request(now->opcode);
		if (now->pause || now->opcode == CNP_NOTIFY)
			continue;
		if (now->port == port && now->destination == all->addresses[other]) {
			struct peer *to = peer_of(peers, &count, now->dest_qp);
			if (!to)
				return false;
			if (request)
				ask(to, now->psn);
			else
				to->refuted |= !fits(&own, now->psn);
		} else if (now->port == other && now->destination == all->addresses[port] &&
			   now->dest_qp == qpn) {
			for (size_t j = 0; j < count && !request; j++)
				peers[j].refuted |= !fits(&peers[j], now->psn);
			if (request)
				ask(&own, now->psn);
		}
	}
	for (size_t i = 0; i < count; i++) {
		left += !peers[i].refuted;
		*peer = peers[i].refuted ? *peer : peers[i].qpn;
	}
	return left == 1;
}

bool sequence_of_qp(struct sequence *sequence, const struct passages *all, const char *host,
		    uint32_t qpn, const char *trace, char *error, size_t error_bytes)
{
	size_t port, other = all->port_count;
	uint32_t peer = SEQUENCE_QP_ANY;
	*sequence = (struct sequence){0};
	if (!find_host(all, host, &port, error, error_bytes))
		return false;
	for (size_t i = 0; i < all->count; i++) {
		const struct passage *now = &all->list[i];
		if (now->pause || now->dest_qp != qpn || now->opcode == CNP_NOTIFY ||
		    now->destination != all->addresses[port])
			continue;
		size_t sender = passages_find_address(all, now->source);
		if (other < all->port_count && sender != other) {
			snprintf(error, error_bytes,
				 "several hosts send to queue pair %" PRIu32 " of %s; expected "
				 "--pair A:B for one of them",
				 qpn, host);
			return false;
		}
		other = sender;
	}
	if (other >= all->port_count) {
		snprintf(error, error_bytes,
			 "no packet to queue pair %" PRIu32 " of %s was recorded; hcasim decode "
			 "prints the queue pairs of all packets",
			 qpn, host);
		return false;
	}
	set_hosts(sequence, all, port, other);
	if (!(trace && sequence_find_peer(sequence->hosts, qpn, trace, &peer)) &&
	    !find_peer(all, port, other, qpn, &peer)) {
		snprintf(error, error_bytes,
			 "the packets do not identify the peer of queue pair %" PRIu32
			 " of %s; expected a run with record: {trace: [\"*.transport\"]}, or "
			 "--pair %s:%s",
			 qpn, host, host, sequence->hosts[1]);
		return false;
	}
	sequence->qps[0] = qpn;
	sequence->qps[1] = peer;
	make(sequence, all);
	return true;
}

bool sequence_has_qp(const struct sequence *sequence, unsigned side, uint64_t qpn)
{
	for (size_t i = 0; i < sequence->qp_counts[side]; i++) {
		if (sequence->qps_seen[side][i] == qpn)
			return true;
	}
	return false;
}

/* ---- order ---- */

static int by_time(const void *one, const void *other)
{
	const struct sequence_event *a = one, *b = other;
	int order = compare(a->at, b->at);
	order = order ? order : compare(a->kind < SEQUENCE_DOORBELL, b->kind < SEQUENCE_DOORBELL);
	order = order ? order : compare(a->side, b->side);
	order = order ? order : compare(a->last_hop_ns, b->last_hop_ns);
	return order ? order : strcmp(a->text, b->text);
}

void sequence_cut(struct sequence *sequence, sim_time from, size_t most)
{
	size_t first = 0;
	qsort(sequence->list, sequence->count, sizeof(*sequence->list), by_time);
	while (first < sequence->count && sequence->list[first].at < from)
		first++;
	size_t count = sequence->count - first;
	sequence->before = first;
	sequence->behind = count > most ? count - most : 0;
	count = count > most ? most : count;
	memmove(sequence->list, sequence->list + first, count * sizeof(*sequence->list));
	sequence->count = count;
}
