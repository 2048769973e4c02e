/*
 * bench_fabric: how fast the fabric is, with sources that only count: one line a workload, of the best of some runs.
 *
 *     flow: two hosts, one switch, 100 Gb/s, one direction; MTU 4096 and 1024, both link layers
 *     pair: the same, both directions
 *
 * A packet-hop is one data packet over one link. `bench_fabric [packets] [runs]`
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
	unsigned directions;
};

struct figures {
	uint64_t packets, hops, events;
	double seconds;
};

static const struct workload workloads[] = {
	{"flow-ib-4096", LINK_INFINIBAND, 4096, 1}, {"flow-ib-1024", LINK_INFINIBAND, 1024, 1},
	{"flow-roce-4096", LINK_ETHERNET, 4096, 1}, {"flow-roce-1024", LINK_ETHERNET, 1024, 1},
	{"pair-ib-4096", LINK_INFINIBAND, 4096, 2}, {"pair-roce-4096", LINK_ETHERNET, 4096, 2},
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

static struct figures run(const struct workload *workload, uint64_t packets)
{
	const char *names[2] = {"host0.port", "host1.port"};
	const uint8_t ip[4] = {10, 0, 0, 1};
	struct sim *sim = sim_create(SIM_KERNEL_native, 1);
	struct packet_pool *pool = packet_pool_create();
	struct endpoints *endpoints = endpoints_create();
	struct switch_params params;
	struct station hosts[2];
	struct figures figures = {0};

	params_default(switch_param_list, &params);
	params_default(port_param_list, &params.port);
	struct fabric_switch *box =
		switch_create(sim, "switch", &params, 36, workload->link_layer, pool);

	for (unsigned i = 0; i < 2; i++) {
		endpoints_add(endpoints, names[i], workload->link_layer, ip);
		station_init(&hosts[i], sim, names[i], &params.port, workload->link_layer, pool);
		port_connect(hosts[i].port, switch_port(box, i));
		switch_route(box, endpoints, i, i);
	}
	double start = cpu_seconds();

	for (unsigned i = 0; i < workload->directions; i++)
		station_send(&hosts[i], station_path(endpoints, i, 1 - i), packets,
			     workload->payload_bytes);
	sim_run(sim, SIM_NEVER);
	figures.seconds = cpu_seconds() - start;
	figures.events = sim_events_fired(sim);
	figures.packets = hosts[0].received + hosts[1].received;
	assert(figures.packets == packets * workload->directions);
	for (unsigned i = 0; i < 2; i++) {
		figures.hops += port_counters(hosts[i].port)->packets_sent +
				port_counters(switch_port(box, i))->packets_sent;
		port_destroy(hosts[i].port);
	}
	switch_destroy(box);
	endpoints_destroy(endpoints);
	packet_pool_destroy(pool);
	sim_destroy(sim);
	return figures;
}

int main(int count, char **arguments)
{
	uint64_t packets = count > 1 ? strtoull(arguments[1], NULL, 0) : 1000000;
	unsigned runs = count > 2 ? (unsigned)strtoul(arguments[2], NULL, 0) : 3;

	printf("%-16s %10s %12s %8s %12s %10s %10s\n", "workload", "packets", "packet-hops",
	       "CPU s", "hops/s", "events/hop", "peak KiB");
	for (unsigned i = 0; i < ARRAY_SIZE(workloads); i++) {
		struct figures best = run(&workloads[i], packets);

		for (unsigned j = 1; j < runs; j++) {
			struct figures again = run(&workloads[i], packets);

			if (again.seconds < best.seconds)
				best = again;
		}
		printf("%-16s %10lu %12lu %8.3f %12.0f %10.2f %10ld\n", workloads[i].name,
		       best.packets, best.hops, best.seconds, (double)best.hops / best.seconds,
		       (double)best.events / (double)best.hops, peak_kib());
	}
	return 0;
}
