/* SPDX-License-Identifier: Apache-2.0 */
/*
 * systemc_vcd: a waveform of a run, IEEE 1364-2005 clause 18, by SystemC's sc_trace(): the counters of all blocks, how
 * full their queues are (the levels of gauges, "host0.hca.dma.gathers_level"), and the signals of SystemC modules in the places of blocks. Which of them, patterns say.
 *
 *     module --systemc_vcd_offer()--> run --systemc_vcd_open()--> sc_trace_file --> FILE
 *
 * SystemC samples at each instant at which something happens, so the run is in lockstep (systemc.h).
 */
#ifndef SIM_SYSTEMC_VCD_H
#define SIM_SYSTEMC_VCD_H

#include "sim/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

struct systemc_vcd;

/* What a module names its signals to: sc_trace(static_cast<sc_trace_file *>(tracer->file), signal, name) for each whose
 * name is selected. Names begin with the block's: "host0.hca.translation.mpt.hit". */
struct systemc_tracer {
	void *file;        /* sc_trace_file */
	const char *block; /* whose signals are asked for */
	struct systemc_vcd *vcd;
	bool (*selected)(const struct systemc_tracer *tracer, const char *name);
};

typedef void systemc_trace_function(void *module, const struct systemc_tracer *tracer);

/* A module has signals; no more. */
void systemc_vcd_offer(struct sim *sim, const char *block, systemc_trace_function *trace,
		       void *module);
void systemc_vcd_withdraw(struct sim *sim, const void *module);

/* Comma-separated glob patterns; '*' matches dots too. Before the first sim_run(). NULL: *error. The run is not native. */
struct systemc_vcd *systemc_vcd_open(struct sim *sim, const char *path, const char *patterns,
				     char *error, size_t error_bytes);

/* How many signals match. */
size_t systemc_vcd_signals(const struct systemc_vcd *vcd);

/* Nothing is written. */
void systemc_vcd_abandon(struct systemc_vcd *vcd);

/* Before any block or module ends. false: it could not be written; *error. */
bool systemc_vcd_close(struct systemc_vcd *vcd, char *error, size_t error_bytes);

#ifdef __cplusplus
}
#endif
#endif
