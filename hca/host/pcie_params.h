/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcie_params: parameters of the PCIe link between HCA and host, and of the root complex. Defaults:
 * ConnectX-4 in a Xeon E5 v4, PCIe 3.0 x16. Rows B1 to B3, N1 and N2 are published measurements
 * that docs/explanation/adapter-host.md names. pcie_param_list lists the parameters.
 */
#ifndef HCA_HOST_PCIE_PARAMS_H
#define HCA_HOST_PCIE_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define PCIE_PARAMS(X) \
	X(generation, CHOICE, "3", "1|2|3|4|5|6", \
	  "PCI Express generation, which sets the rate and encoding of a lane.", \
	  "ConnectX-4 product brief: PCIe 3.0") \
	X(lanes, COUNT, "16", "1..32", \
	  "Number of lanes in use.", \
	  "ConnectX-4 product brief: x16") \
	X(mps, BYTES, "256B", "128B..4096B", \
	  "Maximum payload size (MPS) of a memory write, a power of two.", \
	  "pciebench: Xeon E5 hosts") \
	X(mrrs, BYTES, "512B", "128B..4096B", \
	  "Maximum read request size (MRRS), a power of two.", \
	  "PCIe base spec 7.5.3.4: default") \
	X(completion_max, BYTES, "128B", "64B..4096B", \
	  "Largest payload of a completion of the host, a power of two.", \
	  "ATC16: Xeon E5 joins two blocks of 64 B") \
	X(rcb, BYTES, "64B", "64B..128B", \
	  "Read completion boundary (RCB), at which the host may split completions.", \
	  "ATC16: 64 B") \
	X(tags, COUNT, "256", "1..1024", \
	  "Maximum number of read requests in flight.", \
	  "PCIe base spec 2.2.6.2: 8-bit tags") \
	X(write_overhead, BYTES, "24B", "12B..64B", \
	  "Header and framing bytes of a memory-write TLP.", \
	  "pciebench model: MWr64 with framing (ATC16 counts 26)") \
	X(request_overhead, BYTES, "24B", "12B..64B", \
	  "Header and framing bytes of a read-request TLP.", \
	  "pciebench model: MRd64 with framing (ATC16 counts 26)") \
	X(completion_overhead, BYTES, "20B", "12B..64B", \
	  "Header and framing bytes of a completion TLP.", \
	  "pciebench model: CplD with framing (ATC16 counts 22)") \
	X(dllp_share, RATIO, "3%", "0%..50%", \
	  "Share of the link that ACKs, flow control and SKIP take, in steps of 0.01 %.", \
	  "fitted: ConnectX-5 and NFP read 55.0 to 55.6 Gb/s on gen3 x8; the pciebench model " \
	  "takes 8 %") \
	X(link_latency, TIME, "60ns", "0ps..1ms", \
	  "One-way latency of the link, with both ports and the wire.", \
	  "assumed") \
	X(read_latency, TIME, "346ns", "1ps..1ms", \
	  "Latency of root complex and memory from the read request to the first completion.", \
	  "calibrated: pciebench command read of 64 B (520 ns, Haswell) less 40 ns (Broadwell " \
	  "against Haswell) less 134 ns of link") \
	X(write_latency, TIME, "100ns", "1ps..1ms", \
	  "Latency of the root complex until a write is visible to CPUs and reads.", \
	  "assumed: half of the 200 ns that write-then-read of 64 B takes longer than read " \
	  "(pciebench); the rest is that device's") \
	X(posted_data_credits, BYTES, "16KiB", "128B..16MiB", \
	  "Posted data credits (PD): bytes of writes that are not visible yet, in units of 16 B. " \
	  "Further writes wait.", \
	  "assumed: never the limit of an undisturbed host") \
	X(mmio_latency, TIME, "100ns", "0ps..1ms", \
	  "Time from a CPU's store to its TLP, including the write-combining buffer.", \
	  "assumed: as the root complex takes for a write") \
	X(mmio_read_latency, TIME, "600ns", "0ps..1ms", \
	  "Latency of the HCA from a CPU's load until its completion is on the link.", \
	  "calibrated: B3-09, 0.8 to 1 us in all") \
	X(switch_latency, TIME, "0ps", "0ps..1ms", \
	  "One-way latency of a PCIe switch between HCA and host. `0`: no switch.", \
	  "choice: none") \
	X(dllp, CHOICE, "share", "share|guide|counted", \
	  "Model of the link share of ACKs, credit updates and SKIP. `share`: dllp_share. " \
	  "`guide`: the specification's guide tables. `counted`: each DLLP is counted.", \
	  "choice") \
	X(ack_every, COUNT, "1", "1..64", \
	  "dllp `counted`: TLPs that one ACK acknowledges.", \
	  "PCIe base spec 3.6.3.1: ACKs may be joined; assumed: they are not") \
	X(credit_update_every, COUNT, "1", "1..64", \
	  "dllp `counted`: requests and writes per credit update.", \
	  "PCIe base spec 2.6.1.2; assumed: one each") \
	X(posted_headers, COUNT, "256", "1..4096", \
	  "Posted header credits (PH): write TLPs that the root complex can hold.", \
	  "assumed: one for each 64 B of posted_data_credits") \
	X(nonposted_headers, COUNT, "256", "1..4096", \
	  "Non-posted header credits (NPH): read requests that the root complex can hold until " \
	  "it has their addresses.", \
	  "assumed: as many as tags") \
	X(credit_latency, TIME, "60ns", "0ps..1ms", \
	  "Time from a TLP's departure from the buffer of the root complex until the HCA can use " \
	  "its credits.", \
	  "assumed: link_latency, for the update") \
	X(store_credits, COUNT, "256", "1..65536", \
	  "CPU stores in flight that the adapter has not accepted. A core waits with a further " \
	  "store.", \
	  "assumed: as posted_headers, never the limit of an undisturbed adapter") \
	X(relaxed_ordering, FLAG, "false", "", \
	  "Set relaxed ordering on writes and reads that may pass earlier writes. `false`: " \
	  "strict ordering.", \
	  "PCIe base spec 2.4.1; choice") \
	X(reads_pass, FLAG, "false", "", \
	  "Reads of data to be sent leave ahead of writes that wait in the adapter for credits. " \
	  "`false`: they wait behind these writes.", \
	  "PCIe base spec 2.4.1 orders packets in the transaction layer, not packets that wait " \
	  "in the device; choice")
/* clang-format on */

struct pcie_params {
	PCIE_PARAMS(PARAM_FIELD)
};

extern const struct param pcie_param_list[];

#endif
