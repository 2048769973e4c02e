/*
 * bench_fabric: how fast the fabric is, with sources that only count: one line a workload, of the best of some runs.
 *
 *     flow:    two hosts, one switch, 100 Gb/s, one direction; MTU 4096 and 1024, both link layers
 *     pair:    the same, both directions
 *     k8-perm: fat tree of 8-port switches, 128 hosts, each sends to the one half the fabric away
 *
 * A packet-hop is one data packet over one link. `bench_fabric [packets of a flow] [runs]`
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "switch/switch.h"
#include "tests/fabric/support/station.h"

struct workload {
	const char *name;
	enum link_layer link_layer;
	uint32_t payload_bytes;
	unsigned arity; /* of the fat tree; 0: one switch, two hosts */
	unsigned senders;
	uint64_t packets_share; /* of the flow's packets that each sender sends: one in so many */
};

struct figures {
	uint64_t packets, hops, events;
	double seconds;
	double gbps; /* of payload, that each sender got through on average */
};

/* clang-format off */
static const struct workload workloads[] = {
	{"flow-ib-4096",   LINK_INFINIBAND, 4096, 0,   1,   1},
	{"flow-ib-1024",   LINK_INFINIBAND, 1024, 0,   1,   1},
	{"flow-roce-4096", LINK_ETHERNET,   4096, 0,   1,   1},
	{"flow-roce-1024", LINK_ETHERNET,   1024, 0,   1,   1},
	{"pair-ib-4096",   LINK_INFINIBAND, 4096, 0,   2,   1},
	{"pair-roce-4096", LINK_ETHERNET,   4096, 0,   2,   1},
	{"k8-perm-ib",     LINK_INFINIBAND, 4096, 8, 128, 400},
	{"k8-perm-roce",   LINK_ETHERNET,   4096, 8, 128, 400},
};
/* clang-format on */

struct fabric {
	struct sim *sim;
	struct packet_pool *pool;
	struct endpoints *endpoints;
	struct topology *topology;
	struct switch_params params;
	struct fabric_switch **boxes;
	struct station *hosts;
	unsigned box_count, host_count;
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

static void add_switch(struct fabric *fabric, unsigned ports, enum link_layer link_layer)
{
	char name[32];
	struct topology_switch ops;

	snprintf(name, sizeof(name), "switch%u", fabric->box_count);
	fabric->boxes[fabric->box_count] =
		switch_create(fabric->sim, name, &fabric->params, ports, link_layer, fabric->pool);
	ops = switch_topology(fabric->boxes[fabric->box_count++]);
	topology_add_switch(fabric->topology, &ops);
}

static void join(struct fabric *fabric, unsigned one, unsigned one_port, unsigned other,
		 unsigned other_port)
{
	char why[256];

	if (!topology_link(fabric->topology, one, one_port, other, other_port, LENGTH_OF_PARAMS,
			   RATE_OF_PARAMS, why, sizeof(why))) {
		fprintf(stderr, "%s\n", why);
		exit(1);
	}
}

static void add_host(struct fabric *fabric, unsigned box, unsigned port, enum link_layer link_layer)
{
	const uint8_t ip[4] = {10, 0, 0, 1};
	struct station *host = &fabric->hosts[fabric->host_count];
	char name[32];

	snprintf(name, sizeof(name), "host%u.port", fabric->host_count++);
	station_init(host, fabric->sim, name, &fabric->params.port, link_layer, fabric->pool);
	join(fabric,
	     topology_add_host(fabric->topology, host->port,
			       endpoints_add(fabric->endpoints, name, link_layer, ip)),
	     0, box, port);
}

/* Switches in the order edge, aggregation (a pod after the other), core; half of the ports go up. */
static void build_fat_tree(struct fabric *fabric, unsigned arity, enum link_layer link_layer)
{
	unsigned half = arity / 2, edges = arity * half;

	for (unsigned i = 0; i < 2 * edges + half * half; i++)
		add_switch(fabric, arity, link_layer);
	for (unsigned edge = 0; edge < edges; edge++) {
		unsigned pod = edge / half;

		for (unsigned i = 0; i < half; i++) {
			add_host(fabric, edge, i, link_layer);
			join(fabric, edge, half + i, edges + pod * half + i, edge % half);
			/* the aggregation switch of the same rank, and its share of the cores */
			join(fabric, edges + edge, half + i, 2 * edges + edge % half * half + i,
			     pod);
		}
	}
}

static void build(struct fabric *fabric, const struct workload *workload)
{
	unsigned arity = workload->arity;
	unsigned hosts = arity ? arity * arity * arity / 4 : 2;
	char why[256];

	fabric->sim = sim_create(SIM_KERNEL_native, 1);
	fabric->pool = packet_pool_create();
	fabric->endpoints = endpoints_create();
	fabric->topology = topology_create(fabric->endpoints);
	fabric->boxes = calloc(arity ? 5 * arity * arity / 4 : 1, sizeof(fabric->boxes[0]));
	fabric->hosts = calloc(hosts, sizeof(fabric->hosts[0]));
	assert(fabric->boxes && fabric->hosts);
	params_default(switch_param_list, &fabric->params);
	params_default(port_param_list, &fabric->params.port);
	if (arity) {
		build_fat_tree(fabric, arity, workload->link_layer);
	} else {
		add_switch(fabric, 36, workload->link_layer);
		add_host(fabric, 0, 0, workload->link_layer);
		add_host(fabric, 0, 1, workload->link_layer);
	}
	if (!topology_finish(fabric->topology, why, sizeof(why))) {
		fprintf(stderr, "%s\n", why);
		exit(1);
	}
}

static void destroy(struct fabric *fabric)
{
	for (unsigned i = 0; i < fabric->host_count; i++)
		port_destroy(fabric->hosts[i].port);
	for (unsigned i = 0; i < fabric->box_count; i++)
		switch_destroy(fabric->boxes[i]);
	free(fabric->hosts);
	free(fabric->boxes);
	topology_destroy(fabric->topology);
	endpoints_destroy(fabric->endpoints);
	packet_pool_destroy(fabric->pool);
	sim_destroy(fabric->sim);
}

static struct figures run(const struct workload *workload, uint64_t packets)
{
	struct fabric fabric = {0};
	struct figures figures = {0};

	build(&fabric, workload);
	double start = cpu_seconds();

	for (unsigned i = 0; i < workload->senders; i++) {
		unsigned to = (i + fabric.host_count / 2) % fabric.host_count;

		station_send(&fabric.hosts[i], station_path(fabric.endpoints, i, to),
			     packets / workload->packets_share, workload->payload_bytes);
	}
	sim_run(fabric.sim, SIM_NEVER);
	figures.seconds = cpu_seconds() - start;
	figures.events = sim_events_fired(fabric.sim);
	figures.gbps = (double)(packets / workload->packets_share) * workload->payload_bytes * 8e3 /
		       (double)sim_now(fabric.sim);
	for (unsigned i = 0; i < fabric.host_count; i++) {
		figures.packets += fabric.hosts[i].received;
		figures.hops += port_counters(fabric.hosts[i].port)->packets_sent;
	}
	for (unsigned i = 0; i < fabric.box_count; i++)
		figures.hops += switch_counters(fabric.boxes[i])->packets_forwarded;
	assert(figures.packets == packets / workload->packets_share * workload->senders);
	destroy(&fabric);
	return figures;
}

int main(int count, char **arguments)
{
	uint64_t packets = count > 1 ? strtoull(arguments[1], NULL, 0) : 1000000;
	unsigned runs = count > 2 ? (unsigned)strtoul(arguments[2], NULL, 0) : 3;

	printf("%-16s %10s %12s %8s %12s %10s %10s %8s\n", "workload", "packets", "packet-hops",
	       "CPU s", "hops/s", "events/hop", "peak KiB", "Gb/s");
	for (unsigned i = 0; i < ARRAY_SIZE(workloads); i++) {
		struct figures best = run(&workloads[i], packets);

		for (unsigned j = 1; j < runs; j++) {
			struct figures again = run(&workloads[i], packets);

			if (again.seconds < best.seconds)
				best = again;
		}
		printf("%-16s %10lu %12lu %8.3f %12.0f %10.2f %10ld %8.2f\n", workloads[i].name,
		       best.packets, best.hops, best.seconds, (double)best.hops / best.seconds,
		       (double)best.events / (double)best.hops, peak_kib(), best.gbps);
	}
	return 0;
}
