/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel: the part of an operating system that RDMA programs talk to, for one simulated host: the uverbs and
 * rdma_cm devices, their sysfs entries, the objects behind them, and all validation and errno values.
 *
 *     program --open, ioctl, write, mmap--> session --struct kernel_call--> kernel --commands--> hca
 *        ^-- completion and async channels (pipes) --- session <--events-- kernel <--events-------'
 *
 * It runs inside the simulator and reads and writes the program's memory itself, through the process's struct
 * memory. It can be tested with no program: a test is a process whose memory is a buffer.
 *
 * ABI: the public UAPI headers <rdma/ib_user_verbs.h>, <rdma/ib_user_ioctl_cmds.h>, <rdma/mlx5-abi.h> ...
 */
#ifndef VERBS_SHIM_KERNEL_KERNEL_H
#define VERBS_SHIM_KERNEL_KERNEL_H

#include "hca/device/hca.h"

struct kernel;
struct kernel_file; /* an open file description on one of our devices, or a channel */
struct kernel_process;
struct kernel_params; /* kernel_params.h: the list */
struct endpoints;     /* fabric/endpoints.h: who has which LID, GID, MAC */

/* What the kernel asks of the session. */
struct kernel_host {
	/* Bytes for whoever reads the channel; they are visible to the program from now on. */
	void (*channel_write)(struct kernel_host *host, struct kernel_file *file, const void *bytes,
			      uint32_t length);
	/* Bytes written and not yet read by the program. */
	uint32_t (*channel_unread)(struct kernel_host *host, struct kernel_file *file);
	/* Takes back all unread bytes: events of an object that is being destroyed must not be read any more. The
	 * kernel writes those of other objects again. */
	void (*channel_discard)(struct kernel_host *host, struct kernel_file *file);
	/* Whose file is that descriptor of the process (dup and fork included)? NULL: none of ours. */
	struct kernel_file *(*file_of)(struct kernel_host *host, struct kernel_process *process,
				       int32_t number);
	/* Some number other than 0 that is the same for every descriptor of one file of any kind (its inode), for XRC
	 * domains that are shared through a file. 0: no such descriptor. NULL: such domains are refused. */
	uint64_t (*file_identity)(struct kernel_host *host, struct kernel_process *process,
				  int32_t number);
	/* A command or verb that is not modelled: named once in the log. */
	void (*not_modelled)(struct kernel_host *host, const char *what, int error);
	uint64_t realtime_ns; /* what its CLOCK_REALTIME says at virtual time 0 */
};

/* One attached process of that host; the session owns it and calls kernel_process_exit() when it is gone. */
struct kernel_process {
	struct memory *memory;
	int32_t pid;               /* virtual */
	struct kernel_file *files; /* private to the kernel */
};

enum kernel_fd_kind {
	KERNEL_FD_COMMAND, /* the device itself: mmap-able, holds the UAR pages */
	KERNEL_FD_CHANNEL, /* read end of a pipe: completion and async event channels */
	KERNEL_FD_MESSAGE, /* seqpacket socket: rdma_cm */
	KERNEL_FD_NETLINK, /* the same, which is to look like a socket of netlink */
};

/* One system call of a process on one of our files, and what is to be done about it. */
struct kernel_call {
	struct kernel_process *process; /* in */
	int64_t result;                 /* out: >= 0, or -errno */
	/* out: files that the program now has. The session places a descriptor for each in the process and, if
	 * number_at is not 0, stores its number there as a 32-bit integer before the call returns. */
	struct kernel_new_file {
		struct kernel_file *file;
		enum kernel_fd_kind kind;
		uint64_t number_at;
	} files[2];
	uint32_t file_count;
	/* out: rings and doorbell records of the driver that the HCA will touch often; the session may move
	 * these whole pages to memory shared with the simulator. The program polls completion queues, and writes
	 * the rest. */
	struct kernel_range {
		uint64_t address, length;
	} shared[4];
	bool shared_polled[4];
	uint32_t shared_count;
	/* out: memory of the program that the HCA may write from now on without its being shared (a new memory
	 * region); the session recognises loops that poll it. length 0: none. */
	struct kernel_range watched;
	/* out: a ring and the last doorbell record of a page that the HCA touches no more, and a region that it
	 * writes no more: the program may use the memory for anything. length 0: none. */
	struct kernel_range retired, retired_record, unwatched;
	uint8_t page
		[64]; /* out, of kernel_mmap(): what the program finds at the beginning of the page, */
	uint32_t page_bytes; /* and how much of it; 0: nothing, */
	bool registers;      /* as its stores and loads are the adapter's */
	sim_time latency;    /* out: virtual time the call takes (command interface and driver) */
};

/* endpoints and host outlive the kernel. endpoint: the number of the HCA's port in `endpoints`. As kernel and HCA
 * need each other: create the kernel with hca NULL, the HCA with its driver and address resolver, then kernel_attach(). The
 * HCA is destroyed after the last process has exited, and before the kernel. */
struct kernel *kernel_create(struct sim *sim, const char *name, struct hca *hca,
			     struct endpoints *endpoints, uint32_t endpoint,
			     struct kernel_host *host);
void kernel_destroy(struct kernel *kernel);
void kernel_attach(struct kernel *kernel, struct hca *hca);
/* What a processor of the host waits for what the HCA has just written, beyond a hit of the last level cache. */
sim_time kernel_dma_wait(const struct kernel *kernel);
struct hca_driver *kernel_driver(struct kernel *kernel); /* to be given to hca_create() */
struct address_resolver *kernel_address_resolver(struct kernel *kernel); /* likewise */
/* Defaults until somebody changes them, before the first process. */
struct kernel_params *kernel_params(struct kernel *kernel);

/* Does this path name one of our device nodes ("/dev/infiniband/uverbs0", "/dev/infiniband/rdma_cm"), or, "netlink:rdma", stand for
 * a socket of netlink; "refused:NAME", something that the program asked for in vain, with its error as flags: it is named in the
 * log once? */
#define KERNEL_REFUSED_MAD "refused:umad"
bool kernel_has_path(const struct kernel *kernel, const char *path);

/* Writes the sysfs and /dev entries that programs read (class/infiniband, class/infiniband_verbs, class/misc/rdma_cm,
 * the PCI device) as plain files under `directory`, which stands for /. 0, or -errno. */
int kernel_write_sysfs_files(const struct kernel *kernel, const char *directory);

/* Those among them that change: ports/1/counters and hw_counters. A program that reads one asks for it ("refresh:counters"). */
#define KERNEL_REFRESH_COUNTERS "refresh:counters"
int kernel_write_counters(const struct kernel *kernel, const char *directory);

/* Each fills call->result and the rest. open: flags as open(2). */
void kernel_open(struct kernel *kernel, struct kernel_call *call, const char *path, int flags);
void kernel_ioctl(struct kernel_file *file, struct kernel_call *call, uint64_t request,
		  uint64_t argument);
void kernel_write(struct kernel_file *file, struct kernel_call *call, uint64_t bytes,
		  uint64_t length);
/* May that range of the command file be mapped, and where in the command memfd is it? result: the file offset, which is
 * always `offset` itself, so that a program's own mmap of the memfd finds the same page. */
void kernel_mmap(struct kernel_file *file, struct kernel_call *call, uint64_t offset,
		 uint64_t length, int prot);
/* The last descriptor and the last mapping of it are gone; the file is the kernel's to free. */
void kernel_close(struct kernel_file *file, struct kernel_call *call);

/* A store to a UAR page that was mapped from `file`: file_offset is where in the command memfd. */
void kernel_uar_write(struct kernel_file *file, uint64_t file_offset, const void *bytes,
		      uint32_t length);
/* A program of the host ran until then, by its clock: it may have changed memory that the adapter looks at by itself. */
void kernel_host_ran(struct kernel *kernel, sim_time until);
/* A load from a page of registers: read->length and read->done are the caller's; the answer is in read->bytes at done(). */
void kernel_load(struct kernel_file *file, uint64_t file_offset, struct pcie_mmio_read *read);
/* At least so long after such a store nothing of it can be noticed on the host: no memory read, none written. */
/* Returns false if the processor has to wait with its store; *ask_at is when to ask again. */
bool kernel_uar_has_room(struct kernel_file *file, sim_time *ask_at);
sim_time kernel_uar_delay(const struct kernel *kernel);

/* The process ended, in whatever way: its objects go, as a kernel would release them. */
void kernel_process_exit(struct kernel *kernel, struct kernel_process *process);

#endif
