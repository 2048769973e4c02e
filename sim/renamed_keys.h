/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renamed_keys: the table of renamed names in user input. The program refuses an old name with
 * a message that gives the new one:
 *
 *     file.yaml:3:9: unknown key "sharers"; it is now "cores_per_thread"
 *
 * Keys of files, of --set and of sweeps share the table with options, metrics, counters,
 * presets and choices.
 */
#ifndef SIM_RENAMED_KEYS_H
#define SIM_RENAMED_KEYS_H

#include <stddef.h>

/* clang-format off */
/* X(section, old, new). For a key, `section` is the end of the path of its map, as "load" or
 * "load.cpu". "*" matches any key, and | separates several sections ("set" is the section of
 * published rows). Other sections are "option", "metric", "block", "counter", "preset", "command",
 * "list" of `hcasim params`, and "value.KEY" for the choices of a key. */
#define RENAMED_KEYS(X) \
	X("block", "why", "latency") \
	X("block", "place", "numa") \
	X("hca|host", "place", "numa") \
	X("numa", "jitter_median", "median of jitter") \
	X("numa", "jitter_sigma", "sigma of jitter") \
	X("load", "joined", "topology") \
	X("value.engine", "reference", "systemc-reference") \
	X("value.engine", "hosted", "systemc") \
	X("option", "kernel", "engine") \
	X("metric", "held_max", "reorder_packets_max") \
	X("metric", "held_packets", "reorder_packets") \
	X("counter", "held_bytes_max", "reorder_bytes_max") \
	X("counter", "held_max", "reorder_packets_max") \
	X("counter", "held_released", "reorder_released") \
	X("counter", "held", "reorder_packets") \
	X("counter", "answers_taken", "control_packets_received") \
	X("counter", "answers_made", "control_packets_sent") \
	X("counter", "lifetime_drops", "hoq_life_drops") \
	X("", "stall_count", "vl_stall_count") \
	X("", "head_lifetime", "hoq_life") \
	X("counter", "unwanted_drops", "multicast_no_port_drops") \
	X("counter", "astray_drops", "wrong_mac_drops") \
	X("counter", "storms", "pfc_watchdog_triggers") \
	X("counter", "storm_drops", "pfc_watchdog_drops") \
	X("", "crossing_latency", "forwarding_latency") \
	X("counter", "ways_busy", "paths_busy") \
	X("counter", "lane_drops", "vl_drops") \
	X("counter", "lane_stalls", "vl_stalls") \
	X("value.loss", "as_lane", "as_vl") \
	X("", "control_lane", "control_vl") \
	X("service_levels", "lanes", "vls") \
	X("mark", "lanes", "vls") \
	X("reorder", "lanes", "vls") \
	X("delay", "lanes", "vls") \
	X("corrupt_vcrc", "lanes", "vls") \
	X("corrupt_icrc", "lanes", "vls") \
	X("drop", "lanes", "vls") \
	X("link_rules", "lanes", "vls") \
	X("links", "lanes", "vls") \
	X("link", "lanes", "vls") \
	X("port", "lanes", "vls") \
	X("load|set", "sharers", "cores_per_thread") \
	X("expect", "figure", "metric") \
	X("set", "figure", "metric") \
	X("option", "figure", "metric") \
	X("counter", "figures", "metrics") \
	X("counter", "flow_figures", "flow_metrics") \
	X("counter", "port_figures", "port_metrics") \
	X("counter", "load_figures", "load_metrics") \
	X("posting", "notice", "notification_latency") \
	X("workload", "play", "posting") \
	X("posting", "post_list", "outstanding_messages") \
	X("posting", "stop", "start_deadline") \
	X("workload", "stop", "arrivals_until") \
	X("workload", "load", "offered_load") \
	X("load.server|load|set|set.server", "list", "post_list") \
	X("load|set|workload.host|mpi.host", "window", "tx_depth") \
	X("load.server|load|set|set.server", "signal", "cq_mod") \
	X("load|set|workload.host|mpi.host", "reads", "max_rd_atomic") \
	X("load|set|workload.host|mpi.host", "receives", "rx_depth") \
	X("load|set|load.server|load.rival|load.background", "inlined", "inline_data") \
	X("load|set", "to_cqe", "scatter_to_cqe") \
	X("load|set", "compress", "cqe_compression") \
	X("load|set", "rival", "background") \
	X("metric", "rival_mops", "background_mops") \
	X("load|set", "places", "addresses_per_region") \
	X("load|set", "stride", "address_stride") \
	X("cpu", "hand_over", "lock_handoff") \
	X("cpu", "lock_turn", "lock_handoff") \
	X("transport", "unit_bytes", "segment_bytes") \
	X("transport", "scatter_units", "scatter_buffers") \
	X("transport", "response_units", "response_buffers") \
	X("scheduler", "segment", "response_segment") \
	X("scheduler", "units", "processing_units") \
	X("counter", "flows", "cc_states") \
	X("metric", "packets_resent", "packets_retransmitted") \
	X("counter", "packets_resent", "packets_retransmitted") \
	X("hca", "nak_again", "repeat_nak") \
	X("hca", "ack_each", "cumulative_ack") \
	X("pcie", "payload_max", "mps") \
	X("pcie", "request_max", "mrrs") \
	X("pcie", "read_boundary", "rcb") \
	X("pcie", "write_credits", "posted_data_credits") \
	X("contexts", "reads_apart", "separate_rdmarc") \
	X("hca", "reads_cache", "rdmarc_cache") \
	X("load", "registers", "bfregs") \
	X("load", "registers_own", "low_latency_bfregs") \
	X("counter", "turns", "grants") \
	X("value.looked_up", "turn", "grant") \
	X("value.order", "turn", "round_robin") \
	X("value.schedule", "turns", "round_robin") \
	X("hca", "reads_max", "max_rd_atomic") \
	X("", "turn_order", "grant_order") \
	X("counter", "turn", "grant") \
	X("congestion", "window_factor", "cwnd_factor") \
	X("congestion", "window_scaled", "cwnd_scaled") \
	X("congestion", "window_max", "cwnd_max") \
	X("congestion", "window_min", "cwnd_min") \
	X("congestion", "window_small", "cwnd_small") \
	X("congestion", "window_large", "cwnd_large") \
	X("congestion", "window", "cwnd") \
	X("", "window_fill", "cwnd_fill") \
	X("mpt", "misses", "mshrs") \
	X("mtt", "misses", "mshrs") \
	X("requester_cache", "misses", "mshrs") \
	X("responder_cache", "misses", "mshrs") \
	X("cq_cache", "misses", "mshrs") \
	X("srq_cache", "misses", "mshrs") \
	X("rdmarc_cache", "misses", "mshrs") \
	X("contexts", "misses", "mshrs")
/* clang-format on */

struct renamed_key {
	const char *section, *old, *now;
};

extern const struct renamed_key renamed_keys[]; /* ends with a NULL section */

struct yaml_node;

/* Returns the new name, or NULL if `old` was not renamed in that section. */
const char *renamed_key(const char *section, const char *old);

/* Returns the new name of a key of that map, or NULL if it was not renamed. */
const char *renamed_key_in(const struct yaml_node *map, const char *old);

/* Returns the new name of the first renamed part of a block's name, or of a pattern for names
 * of blocks. Returns NULL if no part was renamed. */
const char *renamed_key_of_block(const char *name);

/* Returns the new name of a counter that is given as block.counter, or the new name of its
 * block. Returns NULL if neither was renamed. */
const char *renamed_key_of_counter(const char *name);

/* Returns the new last part of a column of a sweep's tables, which is a metric or the path of a
 * key, as "load.tx_depth". Returns NULL if it was not renamed. */
const char *renamed_key_of_column(const char *name);

/* Writes the end of a message about an unknown name. With `now` (from renamed_key() or
 * renamed_key_in()) it is `; it is now "..."`. Otherwise it is `; did you mean "..."?` with the
 * nearest candidate, or nothing if no candidate is near. `count` may be 0. */
void renamed_key_hint(const char *now, const char *name, const char *const *candidates,
		      size_t count, char *hint, size_t hint_bytes);

#endif
