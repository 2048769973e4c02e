/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_fabric: measures the speed of fabric studies: endpoint HCAs with transport and congestion
 * control, one line per workload. Links are RoCE at 100 Gb/s with PFC. With DCQCN the switches mark
 * with RED between 100 and 400 KB.
 *
 *     flow         two hosts, one switch, one direction, MTU 4096; flow-1024: MTU 1024
 *     kN-perm      fat tree of N-port switches, each host sends to the one half the fabric away: no
 *                  two flows share a link, so with DCQCN nothing is ever marked
 *     k8-random    the same over a random permutation, whose paths collide: with DCQCN there are
 *                  CNPs
 *     incast64     64 hosts send to one, DCQCN
 *     k16-ecmp     1,024 hosts over a random permutation, paths by a hash of the flow, DCQCN with
 *                  the marks of its paper: queues stand at many ports, and pauses spread
 *     k16-spray    the same, balanced by packet
 *     k16-hpcc     the same with HPCC and telemetry
 *     k16-storm    the same while 16 hosts send a storm of pauses for 50 us
 *     k16-loss     the same with selective repeat, and 0.1 % of the packets of each host lost
 *     k16-web      flows of web search at random times, half of the load of each link, 200 us
 *     k32-ecmp     as k16-ecmp with 8,192 hosts
 *
 * The CPU seconds leave out the set-up. A packet-hop is one data packet over one link. Each workload
 * runs in its own process, so that its peak memory can be measured. `bench_fabric [workload ...]`;
 * without a name: all workloads.
 */
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hca/endpoint/endpoint_state.h"
#include "sim/random.h"
#include "tests/hca/support/study.h"
#include "traffic/workload/workload.h"

enum { SWITCH_PORTS = 64 };
enum shape { SHAPE_FLOW, SHAPE_SHIFT, SHAPE_RANDOM, SHAPE_INCAST, SHAPE_WEB };

/* What a load has besides its algorithm. PAPER: marks between 5 and 200 KB, as DCQCN's paper. */
enum extra { PAPER = 1, SPRAY = 2, STORM = 4, LOSS = 8, ECMP = 16, CROWD = PAPER | ECMP };

#define STORM_HOSTS 16
#define STORM_UNTIL (50 * US)
#define LOSS_RATE   0.001
#define WEB_LOAD    0.5
#define WEB_UNTIL   (200 * US) /* arrivals end, and so does the run */

struct study_load {
	const char *name;
	enum shape shape;
	const char *algorithm;
	unsigned arity; /* of the fat tree; 0: one switch */
	unsigned hosts;
	uint32_t mtu_bytes;
	uint64_t bytes; /* that each sender sends */
	unsigned runs;
	unsigned extra; /* enum extra */
};

/* clang-format off */
static const struct study_load loads[] = {
	{"flow",           SHAPE_FLOW,   "none",         0,    2, 4096, 1000000000, 3, 0},
	{"flow-1024",      SHAPE_FLOW,   "none",         0,    2, 1024,  250000000, 3, 0},
	{"k8-perm",        SHAPE_SHIFT,  "none",         8,  128, 4096,   10000000, 5, 0},
	{"k8-perm-dcqcn",  SHAPE_SHIFT,  "dcqcn-paper",  8,  128, 4096,   10000000, 5, 0},
	{"k8-random",      SHAPE_RANDOM, "none",         8,  128, 4096,   10000000, 3, 0},
	{"k8-random-dcqcn", SHAPE_RANDOM, "dcqcn-paper", 8,  128, 4096,   10000000, 3, 0},
	{"incast64",       SHAPE_INCAST, "dcqcn-paper",  0,   65, 4096,   20000000, 1, 0},
	{"k16-perm",       SHAPE_SHIFT,  "none",        16, 1024, 4096,    1000000, 5, 0},
	{"k32-perm",       SHAPE_SHIFT,  "none",        32, 8192, 4096,     100000, 1, 0},
	{"k16-ecmp",       SHAPE_RANDOM, "dcqcn-paper", 16, 1024, 4096,     300000, 1, CROWD},
	{"k16-spray",      SHAPE_RANDOM, "dcqcn-paper", 16, 1024, 4096,     300000, 1, PAPER | SPRAY},
	{"k16-hpcc",       SHAPE_RANDOM, "hpcc",        16, 1024, 4096,     300000, 1, ECMP},
	{"k16-storm",      SHAPE_RANDOM, "dcqcn-paper", 16, 1024, 4096,     300000, 1, CROWD | STORM},
	{"k16-loss",       SHAPE_RANDOM, "dcqcn-paper", 16, 1024, 4096,     300000, 1, CROWD | LOSS},
	{"k16-web",        SHAPE_WEB,    "dcqcn-paper", 16, 1024, 4096,          0, 1, CROWD},
	{"k32-ecmp",       SHAPE_RANDOM, "dcqcn-paper", 32, 8192, 4096,     200000, 1, CROWD},
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

static void set_extras(struct study *study, unsigned extra)
{
	if (extra & PAPER) {
		study->switch_params.ecn.kmin = 5000;
		study->switch_params.ecn.kmax = 200000;
		study->switch_params.ecn.pmax = 0.01;
	}
	if (extra & SPRAY) {
		study->switch_params.balance = BALANCE_SPRAY;
		study->params.nak = false; /* packets are late, not lost */
	}
	if (extra & ECMP)
		study->switch_params.balance = BALANCE_ECMP;
	if (extra & (SPRAY | LOSS))
		study->params.recovery = SELECTIVE_REPEAT;
}

static void build(struct study *study, const struct study_load *load)
{
	unsigned arity = load->arity;

	study_init(study, LINK_ETHERNET, load->algorithm, arity ? 5 * arity * arity / 4 : 2,
		   load->hosts);
	study->switch_params.port.mtu = load->mtu_bytes;
	if (strcmp(load->algorithm, "none")) {
		study->switch_params.ecn.mark = ECN_MARK_DEQUEUE;
		study->switch_params.ecn.kmin = 100000;
		study->switch_params.ecn.kmax = 400000;
		study->switch_params.ecn.pmax = 0.2;
		study->switch_params.port.input_buffer = 1 << 20;
	}
	study->switch_params.telemetry = !strcmp(load->algorithm, "hpcc");
	set_extras(study, load->extra);
	if (arity) {
		study_fat_tree(study, arity);
	} else if (load->hosts <= SWITCH_PORTS) {
		study_star(study, load->hosts);
	} else { /* the senders around one switch, the receiver behind another */
		unsigned sw = study_add_switch(study, SWITCH_PORTS);
		unsigned other = study_add_switch(study, SWITCH_PORTS);

		for (unsigned i = 0; i + 2 < load->hosts; i++)
			study_link(study, study_add_host(study), 0, sw, i);
		study_link(study, study_add_host(study), 0, other, 2);
		study_link(study, study_add_host(study), 0, other, 1);
		study_link(study, sw, SWITCH_PORTS - 1, other, 0);
		study_finish(study);
	}
}

/* A message, and when it is posted. */
struct arrival {
	sim_time at;
	unsigned from, to;
	uint64_t bytes;
	struct endpoint_qp *qp;
};

/* The messages of a load in the order of time, and the event that posts them. */
struct traffic {
	struct block block;
	struct event event;
	struct study *study;
	struct arrival *arrivals;
	struct transfer *transfers;
	struct fault **faults;
	unsigned count, posted, done;
};

/* Chooses a permutation without fixed points, or the last host for all hosts. */
static void choose_peers(const struct study_load *load, struct traffic *traffic)
{
	unsigned hosts = load->hosts;
	struct arrival *arrivals = calloc(hosts, sizeof(arrivals[0]));
	struct random random;

	assert(arrivals);
	random_init_named(&random, 1, "bench_fabric", "permutation");
	for (unsigned i = 0; i < hosts; i++) {
		arrivals[i] = (struct arrival){.from = i, .bytes = load->bytes};
		arrivals[i].to = load->shape == SHAPE_INCAST   ? hosts - 1
				 : load->shape == SHAPE_RANDOM ? i
							       : (i + hosts / 2) % hosts;
	}
	for (unsigned i = hosts - 1; load->shape == SHAPE_RANDOM && i > 0; i--) {
		unsigned other = (unsigned)random_below(&random, i), kept = arrivals[i].to;

		arrivals[i].to = arrivals[other].to; /* Sattolo: one cycle */
		arrivals[other].to = kept;
	}
	traffic->arrivals = arrivals;
	traffic->count = load->shape == SHAPE_FLOW     ? 1
			 : load->shape == SHAPE_INCAST ? hosts - 1
						       : hosts;
}

static int compare_arrivals(const void *one, const void *other)
{
	const struct arrival *a = one, *b = other;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

static void choose_web(const struct study_load *load, struct traffic *traffic)
{
	const struct port *port = endpoint_port(traffic->study->hosts[0]);
	struct workload_params params;
	struct workload *web;
	char error[256];

	params_default(workload_param_list, &params);
	params.pattern = PATTERN_poisson;
	params.sizes = DISTRIBUTION_web_search;
	params.offered_load = WEB_LOAD;
	params.arrivals_until = WEB_UNTIL;
	web = workload_create(&params, load->hosts, port_rate_bps(port), 1,
			      &(struct workload_files){0}, error, sizeof(error));
	assert(web);
	traffic->count = web->count;
	traffic->arrivals = calloc(web->count, sizeof(traffic->arrivals[0]));
	assert(traffic->arrivals);
	for (uint32_t i = 0; i < web->count; i++)
		traffic->arrivals[i] = (struct arrival){.at = web->flows[i].start,
							.from = web->flows[i].source,
							.to = web->flows[i].destination,
							.bytes = web->flows[i].bytes};
	workload_destroy(web);
	qsort(traffic->arrivals, traffic->count, sizeof(traffic->arrivals[0]), compare_arrivals);
}

static void post_due(struct event *event)
{
	struct traffic *traffic = container_of(event, struct traffic, event);
	const struct arrival *next = &traffic->arrivals[traffic->posted];
	sim_time now = sim_now(traffic->study->sim);

	for (; traffic->posted < traffic->count && next->at <= now; traffic->posted++, next++)
		transfer_post(&traffic->transfers[traffic->posted], next->qp, ENDPOINT_WRITE,
			      next->bytes, &traffic->done);
	if (traffic->posted < traffic->count)
		sim_schedule_at(event, next->at);
}

/* Makes the ports of hosts lose packets. */
static void add_faults(struct traffic *traffic)
{
	const struct fault_rule rule = {
		.kind = PACKET_DATA, .opcode = FAULT_ANY_OPCODE, .probability = LOSS_RATE};
	struct study *study = traffic->study;

	traffic->faults = calloc(study->host_count, sizeof(traffic->faults[0]));
	assert(traffic->faults);
	for (unsigned i = 0; i < study->host_count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "fault%u", i);
		traffic->faults[i] = fault_create(study->sim, name);
		fault_add(traffic->faults[i], &rule);
		port_set_transmit_fault(endpoint_port(study->hosts[i]), traffic->faults[i]);
	}
}

static void traffic_init(struct traffic *traffic, struct study *study,
			 const struct study_load *load)
{
	static const struct block_type type = {.name = "bench"};

	*traffic = (struct traffic){.study = study};
	block_init(&traffic->block, study->sim, &type, "bench", NULL, NULL);
	event_init(&traffic->event, &traffic->block, post_due);
	if (load->shape == SHAPE_WEB)
		choose_web(load, traffic);
	else
		choose_peers(load, traffic);
	traffic->transfers = calloc(traffic->count, sizeof(traffic->transfers[0]));
	assert(traffic->transfers);
	for (unsigned i = 0; i < traffic->count; i++) {
		struct arrival *arrival = &traffic->arrivals[i];

		arrival->qp = endpoint_create_pair(study->hosts[arrival->from],
						   study->hosts[arrival->to], 0, i);
	}
	if (load->extra & LOSS)
		add_faults(traffic);
	sim_schedule_at(&traffic->event, traffic->arrivals[0].at);
}

static void traffic_fini(struct traffic *traffic)
{
	for (unsigned i = 0; traffic->faults && i < traffic->study->host_count; i++) {
		port_set_transmit_fault(endpoint_port(traffic->study->hosts[i]), NULL);
		fault_destroy(traffic->faults[i]);
	}
	sim_cancel(&traffic->event);
	block_fini(&traffic->block);
	free(traffic->faults);
	free(traffic->arrivals);
	free(traffic->transfers);
}

static void storm(struct study *study, bool start)
{
	unsigned apart = study->host_count / STORM_HOSTS;

	for (unsigned i = 0; i < STORM_HOSTS; i++)
		port_storm(endpoint_port(study->hosts[i * apart]), 1, start);
}

static void simulate(struct study *study, const struct study_load *load)
{
	if (load->extra & STORM) {
		storm(study, true);
		sim_run(study->sim, STORM_UNTIL);
		storm(study, false);
	}
	sim_run(study->sim, load->shape == SHAPE_WEB ? WEB_UNTIL : SIM_NEVER);
}

static void check(struct study *study, const struct traffic *traffic)
{
	uint64_t sent = 0, received = 0;

	for (unsigned i = 0; i < study->host_count; i++) {
		sent += endpoint_counters(study->hosts[i])->data_packets_sent;
		received += endpoint_counters(study->hosts[i])->data_packets_received;
	}
	assert(traffic->done == traffic->count && packet_pool_in_use(study->pool) == 0);
	assert(traffic->faults || sent == received);
}

/* Returns the links from one host to the other. A search for each message would take longer than the
 * run. */
static unsigned distance(struct study *study, const struct study_load *load,
			 const struct arrival *arrival)
{
	unsigned edge = load->arity / 2, pod = edge * edge;

	if (!load->arity)
		return topology_distance(study->topology, arrival->from, arrival->to);
	if (arrival->from / edge == arrival->to / edge)
		return 2;
	return arrival->from / pod == arrival->to / pod ? 4 : 6;
}

static struct figures run(const struct study_load *load)
{
	double began = cpu_seconds(), start;
	struct study study;
	struct traffic traffic;
	struct figures figures = {0};

	build(&study, load);
	traffic_init(&traffic, &study, load);
	start = cpu_seconds();
	figures.set_up_seconds = start - began;
	simulate(&study, load);
	figures.seconds = cpu_seconds() - start;
	if (load->shape != SHAPE_WEB) /* ends with packets under way */
		check(&study, &traffic);
	figures.events = sim_events_fired(study.sim);
	figures.gbps = (double)load->bytes * 8e3 / (double)sim_now(study.sim);
	for (unsigned i = 0; i < study.host_count; i++) {
		figures.cnps += endpoint_counters(study.hosts[i])->cnp_sent;
		figures.packets += endpoint_counters(study.hosts[i])->data_packets_sent;
	}
	for (unsigned i = 0; i < traffic.count; i++)
		figures.hops += traffic.transfers[i].message.packets_sent *
				distance(&study, load, &traffic.arrivals[i]);
	traffic_fini(&traffic);
	study_fini(&study);
	return figures;
}

static void report(const struct study_load *load)
{
	struct figures best = run(load);

	for (unsigned j = 1; j < load->runs; j++) {
		struct figures again = run(load);

		if (again.seconds < best.seconds)
			best = again;
	}
	printf("%-16s %10lu %12lu %8.3f %12.0f %10.2f %10ld %8.2f %8.3f %8lu\n", load->name,
	       best.packets, best.hops, best.seconds, (double)best.hops / best.seconds,
	       (double)best.events / (double)best.hops, peak_kib(), best.gbps, best.set_up_seconds,
	       best.cnps);
	fflush(stdout);
}

static bool report_apart(const struct study_load *load)
{
	int status = 0;
	pid_t child = fork();

	if (child < 0) {
		perror("bench_fabric");
		return false;
	}
	if (child == 0) {
		report(load);
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
	for (unsigned i = 0; i < ARRAY_SIZE(loads); i++) {
		bool named = count == 1;

		for (int j = 1; j < count; j++)
			named |= !strcmp(arguments[j], loads[i].name);
		if (named)
			good &= report_apart(&loads[i]);
	}
	return good ? 0 : 1;
}
