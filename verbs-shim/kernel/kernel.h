/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel: emulation of the operating system interface of RDMA programs, for one simulated host. It
 * has the uverbs and rdma_cm devices, their sysfs entries, the objects behind them, all validation,
 * and errno values.
 *
 *     program --open, ioctl, write, mmap--> session --kernel_call--> kernel --commands--> hca
 *        ^-- completion and async channels --- session <--events--- kernel <--events-------'
 *
 * It runs inside the simulator. It accesses the memory of the program through the process's struct
 * memory. It can be tested without a program: a test provides a process whose memory is a buffer.
 *
 * ABI: the public UAPI headers <rdma/ib_user_verbs.h>, <rdma/ib_user_ioctl_cmds.h>,
 * <rdma/mlx5-abi.h> ...
 */
#ifndef VERBS_SHIM_KERNEL_KERNEL_H
#define VERBS_SHIM_KERNEL_KERNEL_H

#include "hca/device/hca.h"

struct kernel;
struct kernel_file; /* open file description of an emulated device, or a channel */
struct kernel_process;
struct kernel_params; /* kernel_params.h: the list */
struct endpoints;     /* fabric/endpoints.h: LID, GID and MAC of each host */

/* Services that the kernel needs from the session. */
struct kernel_host {
	/* Writes bytes for the reader of a channel. The program can see them from now on. */
	void (*channel_write)(struct kernel_host *host, struct kernel_file *file, const void *bytes,
			      uint32_t length);
	/* Returns the number of bytes that were written and not yet read by the program. */
	uint32_t (*channel_unread)(struct kernel_host *host, struct kernel_file *file);
	/* Removes all unread bytes, because events of a destroyed object must not be read any more.
	 * The kernel then writes the events of other objects again. */
	void (*channel_discard)(struct kernel_host *host, struct kernel_file *file);
	/* Returns the file of a descriptor of the process (dup and fork included), or NULL if it is
	 * not an emulated file. */
	struct kernel_file *(*file_of)(struct kernel_host *host, struct kernel_process *process,
				       int32_t number);
	/* Returns a nonzero number that identifies a file of any kind (its inode), for XRC domains
	 * that are shared through a file. Returns 0 if there is no such descriptor. NULL: such
	 * domains are refused. */
	uint64_t (*file_identity)(struct kernel_host *host, struct kernel_process *process,
				  int32_t number);
	/* Reports a command or verb that is not modelled. The log names it once. */
	void (*not_modelled)(struct kernel_host *host, const char *what, int error);
	uint64_t realtime_ns; /* value of CLOCK_REALTIME at virtual time 0 */
};

/* One attached process of the host. The session owns it, and calls kernel_process_exit() when it
 * ends. */
struct kernel_process {
	struct memory *memory;
	int32_t pid;               /* virtual */
	struct kernel_file *files; /* private to the kernel */
};

enum kernel_fd_kind {
	KERNEL_FD_COMMAND, /* the device itself: mmap-able, holds the UAR pages */
	KERNEL_FD_CHANNEL, /* read end of a pipe: completion and async event channels */
	KERNEL_FD_MESSAGE, /* seqpacket socket of rdma_cm */
	KERNEL_FD_NETLINK, /* seqpacket socket that looks like a netlink socket */
};

/* One system call of a process on an emulated file, and its results. */
struct kernel_call {
	struct kernel_process *process; /* in */
	int64_t result;                 /* out: >= 0, or -errno */
	/* out: new files of the program. The session places a descriptor for each in the process.
	 * If number_at is not 0, it stores the descriptor number there as a 32-bit integer before
	 * the call returns. */
	struct kernel_new_file {
		struct kernel_file *file;
		enum kernel_fd_kind kind;
		uint64_t number_at;
	} files[2];
	uint32_t file_count;
	/* out: rings and doorbell records of the driver, which the HCA accesses often. The session
	 * may move these whole pages to memory shared with the simulator. The program polls
	 * completion queues and writes the others. */
	struct kernel_range {
		uint64_t address, length;
	} shared[4];
	bool shared_polled[4];
	uint32_t shared_count;
	/* out: memory of a new memory region, which the HCA may write from now on and which is not
	 * shared. The session recognises loops that poll it. length 0: none. */
	struct kernel_range watched;
	/* out: memory that the program may reuse. retired, retired_record: a ring, and the last
	 * doorbell record of a page, that the HCA no longer accesses. unwatched: a region that the
	 * HCA no longer writes. length 0: none. */
	struct kernel_range retired, retired_record, unwatched;
	uint8_t page[64];      /* out of kernel_mmap(): initial contents of the page */
	uint32_t page_bytes;   /* bytes of `page`; 0: none */
	bool ring;             /* the page is memory for a ring: see kernel_map_ring() */
	bool registers;        /* the adapter receives stores to the page, and loads from it */
	bool registers_memory; /* the call registers or deregisters a memory region */
	sim_time latency;      /* out: virtual time of the call (command interface and driver) */
};

/* Creates a kernel. `endpoints` and `host` must outlive it. `endpoint` is the number of the HCA's
 * port in `endpoints`. Kernel and HCA need each other: create the kernel with hca NULL, then the
 * HCA with kernel_driver() and kernel_address_resolver(), then call kernel_attach(). Destroy the
 * HCA after the last process has exited, and before the kernel. */
struct kernel *kernel_create(struct sim *sim, const char *name, struct hca *hca,
			     struct endpoints *endpoints, uint32_t endpoint,
			     struct kernel_host *host);
void kernel_destroy(struct kernel *kernel);
void kernel_attach(struct kernel *kernel, struct hca *hca);
struct hca *kernel_hca(const struct kernel *kernel);

/* Sets the MTU that the network interface shows, before kernel files are written. */
void kernel_set_interface_mtu(struct kernel *kernel, uint32_t bytes);
/* Returns the additional time of a processor load of data that the HCA has just written, compared
 * with a hit in the last-level cache. */
sim_time kernel_dma_wait(const struct kernel *kernel);
struct hca_driver *kernel_driver(struct kernel *kernel); /* argument of hca_create() */
/* argument of hca_create() */
struct address_resolver *kernel_address_resolver(struct kernel *kernel);
/* Returns the parameters, which hold the defaults at first. The caller may change them before the
 * first process. */
struct kernel_params *kernel_params(struct kernel *kernel);

/* Returns true if the emulated kernel serves this path: a device node ("/dev/infiniband/uverbs0",
 * "/dev/infiniband/rdma_cm"), or a pseudo path. "netlink:rdma" opens a netlink socket.
 * "refused:NAME" reports a request that was refused, with its error as flags; the log names it
 * once. */
#define KERNEL_REFUSED_MAD "refused:umad"
bool kernel_has_path(const struct kernel *kernel, const char *path);

/* Writes the sysfs and /dev entries that programs read (class/infiniband, class/infiniband_verbs,
 * class/misc/rdma_cm, the PCI device) as plain files below `directory`, which represents /. Returns
 * 0 or -errno. */
int kernel_write_sysfs_files(const struct kernel *kernel, const char *directory);

/* Updates the files that change during a run: ports/1/counters and hw_counters. A program that
 * reads one of them requests this with "refresh:counters". */
#define KERNEL_REFRESH_COUNTERS "refresh:counters"
int kernel_write_counters(const struct kernel *kernel, const char *directory);

/* Carry out a call. Each fills in call->result and the other outputs. `flags` is as for open(2). */
void kernel_open(struct kernel *kernel, struct kernel_call *call, const char *path, int flags);
void kernel_ioctl(struct kernel_file *file, struct kernel_call *call, uint64_t request,
		  uint64_t argument);
void kernel_write(struct kernel_file *file, struct kernel_call *call, uint64_t bytes,
		  uint64_t length);
/* Checks that a range of the command file may be mapped. The result is the file offset in the
 * command memfd. It always equals `offset`, so that a program's own mmap of the memfd finds the
 * same page. */
void kernel_mmap(struct kernel_file *file, struct kernel_call *call, uint64_t offset,
		 uint64_t length, int prot);
/* Reports the place of the memory that a program has mapped after kernel_mmap() set `ring`. */
void kernel_map_ring(struct kernel_file *file, struct kernel_call *call, uint64_t offset,
		     uint64_t address);
/* Releases a file after its last descriptor and its last mapping are gone. The kernel frees it. */
void kernel_close(struct kernel_file *file, struct kernel_call *call);

/* Carries out a store to a UAR page that was mapped from `file`. file_offset is the place in the
 * command memfd. */
void kernel_uar_write(struct kernel_file *file, uint64_t file_offset, const void *bytes,
		      uint32_t length);
/* Reports that a program of the host ran until `until`, by its clock. It may have changed memory
 * that the adapter polls. */
void kernel_host_ran(struct kernel *kernel, sim_time until);
/* Starts a load from a page of registers. The caller sets read->length and read->done. done() is
 * called with the reply in read->bytes. */
void kernel_load(struct kernel_file *file, uint64_t file_offset, struct pcie_mmio_read *read);
/* Returns the minimum time after a doorbell store at which it can have an effect on the host: a
 * memory read or write. */
/* Returns false if the processor must wait before its store. *ask_at is then the time of the next
 * attempt. */
bool kernel_uar_has_room(struct kernel_file *file, sim_time *ask_at);
sim_time kernel_uar_delay(const struct kernel *kernel);

/* Releases the objects of a process that ended in any way. */
void kernel_process_exit(struct kernel *kernel, struct kernel_process *process);

#endif
