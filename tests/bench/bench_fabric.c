/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_fabric: how fast studies of fabrics are: endpoint HCAs with transport and congestion control, one line a
 * workload. RoCE at 100 Gb/s with PFC; with DCQCN the switches mark by RED between 100 and 400 KB.
 *
 *     flow         two hosts, one switch, one direction, MTU 4096; flow-1024: MTU 1024
 *     kN-perm      fat tree of N-port switches, each host sends to the one half the fabric away: no two flows share a
 *                  link, so with DCQCN nothing is ever marked
 *     k8-random    the same over a random permutation, whose paths collide: with DCQCN there are CNPs
 *     incast64     64 hosts send to one, DCQCN
 *
 * A packet-hop is one data packet over one link. Each workload is run in a process of its own, so that its peak
 * memory is its own. `bench_fabric [workload ...]`; with no name all.
 */
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/random.h"
#include "tests/hca/support/study.h"

enum { SWITCH_PORTS = 64 };
enum pattern { PATTERN_FLOW, PATTERN_SHIFT, PATTERN_RANDOM, PATTERN_INCAST };

struct workload {
	const char *name;
	enum pattern pattern;
	const char *algorithm;
	unsigned arity; /* of the fat tree; 0: one switch */
	unsigned hosts;
	uint32_t mtu_bytes;
	uint64_t bytes; /* that each sender sends */
	unsigned runs;
};

/* clang-format off */
static const struct workload workloads[] = {
	{"flow",           PATTERN_FLOW,   "none",         0,    2, 4096, 1000000000, 3},
	{"flow-1024",      PATTERN_FLOW,   "none",         0,    2, 1024,  250000000, 3},
	{"k8-perm",        PATTERN_SHIFT,  "none",         8,  128, 4096,   10000000, 5},
	{"k8-perm-dcqcn",  PATTERN_SHIFT,  "dcqcn-paper",  8,  128, 4096,   10000000, 5},
	{"k8-random",      PATTERN_RANDOM, "none",         8,  128, 4096,   10000000, 3},
	{"k8-random-dcqcn", PATTERN_RANDOM, "dcqcn-paper", 8,  128, 4096,   10000000, 3},
	{"incast64",       PATTERN_INCAST, "dcqcn-paper",  0,   65, 4096,   20000000, 1},
	{"k16-perm",       PATTERN_SHIFT,  "none",        16, 1024, 4096,    1000000, 5},
	{"k32-perm",       PATTERN_SHIFT,  "none",        32, 8192, 4096,     100000, 1},
};
/* clang-format on */

struct figures {
	uint64_t packets, hops, events, cnps;
	double seconds, set_up_seconds;
	double gbps; /* of payload, that each sender got through on average */
};

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static long peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static void build(struct study *study, const struct workload *workload)
{
	unsigned arity = workload->arity;

	study_init(study, LINK_ETHERNET, workload->algorithm, arity ? 5 * arity * arity / 4 : 2,
		   workload->hosts);
	study->switch_params.port.mtu = workload->mtu_bytes;
	if (strcmp(workload->algorithm, "none")) {
		study->switch_params.ecn.mark = ECN_MARK_DEQUEUE;
		study->switch_params.ecn.kmin = 100000;
		study->switch_params.ecn.kmax = 400000;
		study->switch_params.ecn.pmax = 0.2;
		study->switch_params.port.input_buffer = 1 << 20;
	}
	if (arity) {
		study_fat_tree(study, arity);
	} else if (workload->hosts <= SWITCH_PORTS) {
		study_star(study, workload->hosts);
	} else { /* the senders around one switch, the receiver behind another */
		unsigned sw = study_add_switch(study, SWITCH_PORTS);
		unsigned other = study_add_switch(study, SWITCH_PORTS);

		for (unsigned i = 0; i + 2 < workload->hosts; i++)
			study_link(study, study_add_host(study), 0, sw, i);
		study_link(study, study_add_host(study), 0, other, 2);
		study_link(study, study_add_host(study), 0, other, 1);
		study_link(study, sw, SWITCH_PORTS - 1, other, 0);
		study_finish(study);
	}
}

/* Who sends to whom: a permutation without fixed points, or the last host for all. */
static void choose_peers(const struct workload *workload, unsigned *peers)
{
	unsigned hosts = workload->hosts;
	struct random random;

	for (unsigned i = 0; i < hosts; i++)
		peers[i] =
			workload->pattern == PATTERN_INCAST ? hosts - 1 : (i + hosts / 2) % hosts;
	if (workload->pattern != PATTERN_RANDOM)
		return;
	random_init_named(&random, 1, "bench_fabric", "permutation");
	for (unsigned i = 0; i < hosts; i++)
		peers[i] = i;
	for (unsigned i = hosts - 1; i > 0; i--) { /* Sattolo: one cycle */
		unsigned other = (unsigned)random_below(&random, i), kept = peers[i];

		peers[i] = peers[other];
		peers[other] = kept;
	}
}

static void check(struct study *study, unsigned senders, unsigned done)
{
	uint64_t sent = 0, received = 0;

	for (unsigned i = 0; i < study->host_count; i++) {
		sent += endpoint_counters(study->hosts[i])->data_packets_sent;
		received += endpoint_counters(study->hosts[i])->data_packets_received;
	}
	assert(done == senders && sent == received && packet_pool_in_use(study->pool) == 0);
}

static struct figures run(const struct workload *workload)
{
	double began = cpu_seconds(), start;
	struct study study;
	struct figures figures = {0};
	unsigned senders = workload->pattern == PATTERN_FLOW     ? 1
			   : workload->pattern == PATTERN_INCAST ? workload->hosts - 1
								 : workload->hosts;
	struct transfer *transfers = calloc(senders, sizeof(transfers[0]));
	unsigned *peers = calloc(workload->hosts, sizeof(peers[0]));
	unsigned done = 0;

	assert(transfers && peers);
	build(&study, workload);
	choose_peers(workload, peers);
	start = cpu_seconds();
	figures.set_up_seconds = start - began;
	for (unsigned i = 0; i < senders; i++)
		transfer_post(&transfers[i],
			      endpoint_create_pair(study.hosts[i], study.hosts[peers[i]], 0, 0),
			      ENDPOINT_WRITE, workload->bytes, &done);
	sim_run(study.sim, SIM_NEVER);
	figures.seconds = cpu_seconds() - start;
	check(&study, senders, done);
	figures.events = sim_events_fired(study.sim);
	figures.gbps = (double)workload->bytes * 8e3 / (double)sim_now(study.sim);
	for (unsigned i = 0; i < study.host_count; i++)
		figures.cnps += endpoint_counters(study.hosts[i])->cnp_sent;
	for (unsigned i = 0; i < senders; i++) {
		uint64_t packets = transfers[i].message.packets_sent;

		figures.packets += packets;
		figures.hops += packets * topology_distance(study.topology, i, peers[i]);
	}
	study_fini(&study);
	free(transfers);
	free(peers);
	return figures;
}

static void report(const struct workload *workload)
{
	struct figures best = run(workload);

	for (unsigned j = 1; j < workload->runs; j++) {
		struct figures again = run(workload);

		if (again.seconds < best.seconds)
			best = again;
	}
	printf("%-16s %10lu %12lu %8.3f %12.0f %10.2f %10ld %8.2f %8.3f %8lu\n", workload->name,
	       best.packets, best.hops, best.seconds, (double)best.hops / best.seconds,
	       (double)best.events / (double)best.hops, peak_kib(), best.gbps, best.set_up_seconds,
	       best.cnps);
	fflush(stdout);
}

static bool report_apart(const struct workload *workload)
{
	int status = 0;
	pid_t child = fork();

	if (child < 0) {
		perror("bench_fabric");
		return false;
	}
	if (child == 0) {
		report(workload);
		_exit(0);
	}
	return waitpid(child, &status, 0) == child && status == 0;
}

int main(int count, char **arguments)
{
	bool good = true;

	printf("%-16s %10s %12s %8s %12s %10s %10s %8s %8s %8s\n", "workload", "packets",
	       "packet-hops", "CPU s", "hops/s", "events/hop", "peak KiB", "Gb/s", "set up s",
	       "CNPs");
	fflush(stdout);
	for (unsigned i = 0; i < ARRAY_SIZE(workloads); i++) {
		bool named = count == 1;

		for (int j = 1; j < count; j++)
			named |= !strcmp(arguments[j], workloads[i].name);
		if (named)
			good &= report_apart(&workloads[i]);
	}
	return good ? 0 : 1;
}
