/*
 * bench_fabric: how fast the fabric is, with sources that only count: one line a workload, of the best of some runs.
 *
 *     flow:      two hosts, one switch, 100 Gb/s, one direction; MTU 4096 and 1024, both link layers
 *     pair:      the same, both directions
 *     kN-perm:   fat tree of N-port switches, each host sends to the one half the fabric away
 *     incast64:  64 hosts to one, one switch
 *     -full:     RoCE with a shared buffer, PFC, ECN at dequeue; -ecmp, -spray, -adaptive: balanced so, besides
 *
 * A packet-hop is one data packet over one link. `bench_fabric [packets of a flow] [runs] [workload]`
 */
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "tests/switch/support/mesh.h"

enum { PLAIN, FULL };

struct workload {
	const char *name;
	enum link_layer link_layer;
	uint32_t payload_bytes;
	unsigned arity; /* of the fat tree; 0: one switch */
	unsigned senders;
	uint64_t packets_share; /* of the flow's packets that each sender sends: one in so many */
	unsigned features;      /* PLAIN, FULL */
	enum balance balance;
	bool on_request; /* only when named */
};

struct figures {
	uint64_t packets, hops, events;
	double seconds;
	double gbps; /* of payload, that each sender got through on average */
};

/* clang-format off */
static const struct workload workloads[] = {
	{"flow-ib-4096",     LINK_INFINIBAND, 4096, 0,   1,   1, PLAIN, BALANCE_DESTINATION, false},
	{"flow-ib-1024",     LINK_INFINIBAND, 1024, 0,   1,   1, PLAIN, BALANCE_DESTINATION, false},
	{"flow-roce-4096",   LINK_ETHERNET,   4096, 0,   1,   1, PLAIN, BALANCE_DESTINATION, false},
	{"flow-roce-1024",   LINK_ETHERNET,   1024, 0,   1,   1, PLAIN, BALANCE_DESTINATION, false},
	{"flow-roce-full",   LINK_ETHERNET,   4096, 0,   1,   1, FULL,  BALANCE_DESTINATION, false},
	{"pair-ib-4096",     LINK_INFINIBAND, 4096, 0,   2,   1, PLAIN, BALANCE_DESTINATION, false},
	{"pair-roce-4096",   LINK_ETHERNET,   4096, 0,   2,   1, PLAIN, BALANCE_DESTINATION, false},
	{"k8-perm-ib",       LINK_INFINIBAND, 4096, 8, 128, 400, PLAIN, BALANCE_DESTINATION, false},
	{"k8-perm-roce",     LINK_ETHERNET,   4096, 8, 128, 400, PLAIN, BALANCE_DESTINATION, false},
	{"k8-perm-full",     LINK_ETHERNET,   4096, 8, 128, 400, FULL,  BALANCE_DESTINATION, false},
	{"k8-perm-ecmp",     LINK_ETHERNET,   4096, 8, 128, 400, FULL,  BALANCE_ECMP,        false},
	{"k8-perm-spray",    LINK_ETHERNET,   4096, 8, 128, 400, FULL,  BALANCE_SPRAY,       false},
	{"k8-perm-adaptive", LINK_ETHERNET,   4096, 8, 128, 400, FULL,  BALANCE_ADAPTIVE,    false},
	{"incast64-full",    LINK_ETHERNET,   4096, 0,  63, 200, FULL,  BALANCE_DESTINATION, false},
	{"k16-perm-full",    LINK_ETHERNET,   4096, 16, 1024, 4000, FULL, BALANCE_DESTINATION, false},
	{"k32-perm-full",    LINK_ETHERNET,   4096, 32, 8192, 40000, FULL, BALANCE_DESTINATION, true},
};
/* clang-format on */

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

static void build(struct mesh *mesh, const struct workload *workload)
{
	struct fat_tree_shape tree = fat_tree_of(workload->arity);
	struct star_shape star = {workload->senders > 2 ? workload->senders + 1 : 36};
	bool good;

	mesh_defaults(mesh);
	mesh->params.balance = workload->balance;
	if (workload->features == FULL) {
		mesh->params.buffer.size = 32000000;
		mesh->params.ecn.mark = ECN_MARK_DEQUEUE;
	}
	good = workload->arity
		       ? topology_fat_tree(&mesh->layout, &tree, mesh->why, sizeof(mesh->why))
		       : topology_star(&mesh->layout, &star, mesh->why, sizeof(mesh->why));
	if (!good || !mesh_begin(mesh, SIM_KERNEL_native, workload->link_layer)) {
		fprintf(stderr, "%s\n", mesh->why);
		exit(1);
	}
}

static struct figures run(const struct workload *workload, uint64_t packets)
{
	static struct mesh mesh;
	struct figures figures = {0};
	uint64_t share = packets / workload->packets_share;

	build(&mesh, workload);
	double start = cpu_seconds();

	for (unsigned i = 0; i < workload->senders; i++) {
		unsigned to = (i + mesh.host_count / 2) % mesh.host_count;

		if (!workload->arity)
			to = workload->senders > 2 ? mesh.host_count - 1 : 1 - i;
		mesh.hosts[i].ecn = ECN_ECT0;
		mesh_send(&mesh, i, to, share, workload->payload_bytes);
	}
	sim_run(mesh.sim, SIM_NEVER);
	figures.seconds = cpu_seconds() - start;
	figures.events = sim_events_fired(mesh.sim);
	figures.gbps = (double)share * workload->payload_bytes * 8e3 / (double)sim_now(mesh.sim);
	for (unsigned i = 0; i < mesh.host_count; i++) {
		figures.packets += mesh.hosts[i].received;
		figures.hops += port_counters(mesh.hosts[i].port)->packets_sent;
	}
	for (unsigned i = 0; i < mesh.layout.node_count; i++)
		if (mesh.boxes[i])
			figures.hops += switch_counters(mesh.boxes[i])->packets_forwarded;
	assert(figures.packets == share * workload->senders);
	mesh_end(&mesh);
	return figures;
}

static void report(const struct workload *workload, uint64_t packets, unsigned runs)
{
	struct figures best = run(workload, packets);

	for (unsigned i = 1; i < runs; i++) {
		struct figures again = run(workload, packets);

		if (again.seconds < best.seconds)
			best = again;
	}
	printf("%-16s %10lu %12lu %8.3f %12.0f %10.2f %10ld %8.2f\n", workload->name, best.packets,
	       best.hops, best.seconds, (double)best.hops / best.seconds,
	       (double)best.events / (double)best.hops, peak_kib(), best.gbps);
}

int main(int count, char **arguments)
{
	uint64_t packets = count > 1 ? strtoull(arguments[1], NULL, 0) : 1000000;
	unsigned runs = count > 2 ? (unsigned)strtoul(arguments[2], NULL, 0) : 3;
	const char *name = count > 3 ? arguments[3] : NULL;

	printf("%-16s %10s %12s %8s %12s %10s %10s %8s\n", "workload", "packets", "packet-hops",
	       "CPU s", "hops/s", "events/hop", "peak KiB", "Gb/s");
	for (unsigned i = 0; i < ARRAY_SIZE(workloads); i++)
		if (name ? strcmp(name, workloads[i].name) == 0 : !workloads[i].on_request)
			report(&workloads[i], packets, runs);
	return 0;
}
