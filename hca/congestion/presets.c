/* SPDX-License-Identifier: Apache-2.0 */
/*
 * presets: published sets of parameters. Each has its own name, because publications use different
 * parameters for the same algorithm, for example DCQCN.
 */
#include <string.h>

#include "hca/congestion/congestion.h"

/* clang-format off */
#define VALUES(...) (const struct congestion_value[]){ __VA_ARGS__ { 0 } }

static const struct congestion_preset presets[] = {
	{"dcqcn-paper", "dcqcn",
	 "row C-17: ECN or Delay, CoNEXT'16; switch: Kmin 5 KB, Kmax 200 KB, "
	 "Pmax 1 %, CNP 50 us",
	 VALUES({"gain", "0.00390625"}, {"alpha_interval", "55us"}, {"timer", "55us"},
		{"byte_counter", "10MB"}, {"stages", "5"}, {"increase", "40Mbps"},
		{"hyper_increase", "40Mbps"},)},
	{"dcqcn-ns3", "dcqcn",
	 "row C-18: the authors' ns-3 sample; switch: Kmin 40 KB, Kmax 1000 KB, "
	 "Pmax 1, CNP 50 us",
	 VALUES({"gain", "0.00390625"}, {"alpha_interval", "55us"}, {"timer", "60us"},
		{"byte_counter", "300MB"}, {"stages", "5"}, {"increase", "40Mbps"},
		{"hyper_increase", "200Mbps"}, {"clamp_target", "true"},)},
	{"dcqcn-vendor", "dcqcn",
	 "row C-19: NVIDIA defaults; byte_reset in units of 64 B, ai and hai in "
	 "Mb/s: recalled",
	 VALUES({"gain", "0.0048828125"}, {"alpha_initial", "0.9990234375"},
		{"alpha_interval", "1us"}, {"alpha_rise", "timer"}, {"decrease_interval", "4us"},
		{"decrease_max", "0.5"}, {"clamp_target", "false"}, {"timer", "300us"},
		{"byte_counter", "2097088B"}, {"stages", "1"}, {"increase", "5Mbps"},
		{"hyper_increase", "50Mbps"}, {"rate_min", "1Mbps"},)},
	{"dcqcn-hpcc-25g", "dcqcn",
	 "row C-20: the HPCC simulator's, for 25 Gb/s; switch: Kmin 100 KB, "
	 "Kmax 400 KB, Pmax 0.2; CNPs with the ACKs (notify: ack), or alpha fades "
	 "between them",
	 VALUES({"gain", "0.00390625"}, {"alpha_interval", "1us"}, {"alpha_rise", "timer"},
		{"decrease_interval", "4us"}, {"cut_at", "tick"}, {"timer", "300us"},
		{"byte_counter", "10GB"}, {"stages", "1"}, {"hyper_by", "timer"},
		{"increase", "5Mbps"}, {"hyper_increase", "50Mbps"}, {"clamp_target", "false"},
		{"rate_min", "1Gbps"},)},
	{"dcqcn-hpcc-100g", "dcqcn",
	 "HPCC's simulator (row C-20), scaled to 100 Gb/s as it says; switch: Kmin 400 KB, Kmax "
	 "1600 KB, Pmax 0.2; CNPs with the ACKs (notify: ack), or alpha fades between "
	 "them",
	 VALUES({"gain", "0.00390625"}, {"alpha_interval", "1us"}, {"alpha_rise", "timer"},
		{"decrease_interval", "4us"}, {"cut_at", "tick"}, {"timer", "300us"},
		{"byte_counter", "10GB"}, {"stages", "1"}, {"hyper_by", "timer"},
		{"increase", "20Mbps"}, {"hyper_increase", "200Mbps"}, {"clamp_target", "false"},
		{"rate_min", "1Gbps"},)},
	{"timely-paper", "timely",
	 "row C-22: ECN or Delay, CoNEXT'16",
	 VALUES({"patched", "false"}, {"beta", "0.8"},)},
	{"timely-patched", "timely",
	 "row C-22: ECN or Delay, CoNEXT'16, algorithm 2",
	 VALUES({"patched", "true"}, {"beta", "0.008"},)},
	{"timely-hpcc-100g", "timely",
	 "HPCC's simulator (row D-10): C-22's numbers, delta 10 Mb/s for each 10 "
	 "Gb/s of the line, one update a round trip",
	 VALUES({"patched", "false"}, {"beta", "0.8"}, {"increase", "100Mbps"},
		{"update", "rtt"}, {"rate_min", "1Gbps"}, {"hyper_low", "true"},
		{"hyper_after", "6"}, {"gradient_max", "1000"},)},
	{"dctcp-hpcc-100g", "dctcp",
	 "HPCC's simulator (row D-10): a rate, one packet more in a round trip of "
	 "13 us; switch: Kmin = Kmax = 30 KB for each 10 Gb/s",
	 VALUES({"form", "rate"}, {"alpha_initial", "1"}, {"gain", "0.0625"},
		{"rate_increase", "615Mbps"}, {"rate_min", "1Gbps"},)},
	{"hpcc-hpcc-100g", "hpcc",
	 "HPCC's simulator (row D-10): 10 Mb/s more for each 25 Gb/s of the line, no stages; "
	 "switch: telemetry_gaps: true",
	 VALUES({"target_utilisation", "0.95"}, {"stages", "0"}, {"increase_rate", "40Mbps"},
		{"rate_min", "1Gbps"},)},
	{"hpcc-paper", "hpcc",
	 "row C-23: HPCC, SIGCOMM'19",
	 VALUES({"target_utilisation", "0.95"}, {"stages", "5"}, {"increase", "80B"},)},
	{ 0 },
};
/* clang-format on */

const struct congestion_preset *congestion_presets(void)
{
	return presets;
}

const struct congestion_preset *congestion_preset(const char *name)
{
	for (const struct congestion_preset *preset = presets; preset->name; preset++)
		if (!strcmp(preset->name, name))
			return preset;
	return NULL;
}
