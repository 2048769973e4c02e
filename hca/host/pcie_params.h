/*
 * pcie_params: the link between HCA and host, and the host's side of it. Defaults: ConnectX-4 in a
 * Xeon E5 v4, PCIe 3.0 x16. Rows B1..B3, N1, N2 are those of the published measurements that
 * docs/hca-host.md names.
 */
#ifndef HCA_HOST_PCIE_PARAMS_H
#define HCA_HOST_PCIE_PARAMS_H

#include "sim/block.h"

/* clang-format off */
#define PCIE_PARAMS(X)                                                                                                          \
	X(generation,        CHOICE, "3",     "1|2|3|4|5|6",   "PCI Express generation: rate and encoding of a lane", "ConnectX-4 product brief") \
	X(lanes,             COUNT,  "16",    "1..32",         "lanes in use",                                        "ConnectX-4 product brief") \
	X(payload_max,       BYTES,  "256B",  "128B..4096B",   "MPS: largest payload of a write",                     "pciebench: Xeon E5 hosts")  \
	X(request_max,       BYTES,  "512B",  "128B..4096B",   "MRRS: largest read request",                          "PCIe base spec 7.5.3.4: default") \
	X(completion_max,    BYTES,  "128B",  "64B..4096B",    "largest completion the host answers a read with",     "ATC'16: Xeon E5 combine two 64 B RCBs") \
	X(read_boundary,     BYTES,  "64B",   "64B..128B",     "RCB: where completions may be cut",                   "ATC'16: 64 B")              \
	X(tags,              COUNT,  "256",   "1..1024",       "read requests in flight",                             "PCIe base spec 2.2.6.2: extended tags") \
	X(write_overhead,    BYTES,  "24B",   "12B..64B",      "of a memory write besides its payload",               "pciebench model: MWr64, with framing; ATC'16 counts 26") \
	X(request_overhead,  BYTES,  "24B",   "12B..64B",      "of a read request",                                   "pciebench model: MRd64, with framing; ATC'16 counts 26") \
	X(completion_overhead, BYTES, "20B",  "12B..64B",      "of a completion besides its data",                    "pciebench model: CplD, with framing; ATC'16 counts 22") \
	X(dllp_share,        RATIO,  "3%",    "0%..50%",       "of the raw rate that ACK, flow control and SKIP take", "fitted to ConnectX-5 and NFP at 55.0..55.6 Gb/s; the pciebench model's 8 % is pessimistic") \
	X(link_latency,      TIME,   "60ns",  "0ps..1ms",      "one way: both physical layers, transaction layers and the wire", "assumed: a third of what is left of the round trip") \
	X(read_latency,      TIME,   "375ns", "0ps..1ms",      "of the root complex and memory, from a request's last byte to its first completion", "calibrated: pciebench command read of 64 B, 520 ns on a Xeon E5 v3 x8") \
	X(write_latency,     TIME,   "100ns", "0ps..1ms",      "of the root complex, from a write's last byte until CPUs and reads see it", "calibrated: pciebench, write then read less read: 200 ns, of which the link") \
	X(mmio_latency,      TIME,   "150ns", "0ps..1ms",      "from the CPU's store to the first byte on the link, incl. the write-combining buffer", "assumed: of the order of the root complex's share of a read") \
	X(read_queue,        COUNT,  "64",    "1..65536",      "reads that may wait for tags before the queue counts as full", "assumed")           \
	X(write_backlog,     BYTES,  "4KiB",  "256B..1MiB",    "written but not yet on the link, beyond which a write is counted as stalled", "assumed: posted credits of a root port")
/* clang-format on */

struct pcie_params {
	PCIE_PARAMS(PARAM_FIELD)
};

extern const struct param pcie_param_list[];

#endif
