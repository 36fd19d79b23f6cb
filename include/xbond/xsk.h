/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * AF_XDP sockets on a bond (libxbond-xsk): frames leave by the slave that the bond would choose for
 * them, and follow the bond when slaves are added, removed, drained or cut, with bondd or without.
 * docs/developers/xsk.md says how to use it and what it promises.
 *
 * A handle belongs to one thread, and has queues of every slave and one area of frames. What
 * several threads share is the bond: each opens a handle with queues of its own. Those that receive
 * say the same about what they receive. After a fork, as by daemon(3), one of both processes may go
 * on with the handle; the other one does not close it.
 */
#ifndef XBOND_XSK_H
#define XBOND_XSK_H

#include <linux/types.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XBOND_XSK_WHY_SIZE 256
#define XBOND_XSK_FRAME_SIZE 2048 /* bytes of each frame in the area */
#define XBOND_XSK_NO_SLOT 0xffff
#define XBOND_XSK_PORTS 16
#define XBOND_XSK_QUEUES 16

struct xbond_xsk;

/*
 * Zeroes stand for what is said behind them. Later versions may append members, also to the counts;
 * a program that was compiled before that goes on working.
 */
struct xbond_xsk_options {
	__u32 size;   /* sizeof(struct xbond_xsk_options); must be there */
	__u32 frames; /* in the area: 4096. Each socket may hold twice `ring` of them */
	__u32 ring;   /* entries of each ring, a power of two: 1024 */
	__u32 queue;  /* the first one that is used of every slave; frames leave by it: 0 */
	__u32 queues; /* how many receive: 1; at most XBOND_XSK_QUEUES, and what a slave has */
	/*
	 * XDP_COPY (the default), or XDP_ZEROCOPY: the slaves' drivers must have this mode. Each
	 * slave gets an XDP program then, `frames` must be `ring` for each socket, and a quarter of
	 * `ring` can wait to be received. What a slave that is cut still has leaves by others at
	 * the next call, a millisecond later or more.
	 */
	__u32 bind;
	/*
	 * What follows says what is received; the bond does not get it. All zero: nothing, and no
	 * program is attached to slaves.
	 */
	__u16 ports[XBOND_XSK_PORTS]; /* UDP and TCP packets to these, in host byte order */
	__u16 ether_type; /* frames of this type, in host byte order; no type that the bond needs */
	__u16 family;	  /* AF_INET or AF_INET6: no packets but those to `address` */
	__u8 address[16]; /* as in in_addr or in6_addr; without ports all packets to it */
	/*
	 * For programs that open sockets of their own, as DPDK's: a directory below a bpffs, which
	 * no other process uses for this. The handle opens no sockets. It pins a map for each slave
	 * there, by the slave's name, until the handle is closed. What is to be received goes to
	 * the socket that somebody puts there, by the number of its queue. If the directory has the
	 * setgid bit, its group may do so, unless others than root and the caller may write the
	 * directory. NULL: no pins
	 */
	const char *pins;
	/*
	 * Instead of ports, an address and a type: the path of a BPF object file with
	 *
	 *   int xbond_wants(struct xdp_md *ctx)
	 *
	 * which returns whether the frame is to be received. What the bond lives by goes to the
	 * bond without asking (xsk.md). The file is read when the handle is opened; of handles of
	 * one process the first. Each slave has maps of its own, but for those with
	 * LIBBPF_PIN_BY_NAME. NULL: no function
	 */
	const char *function;
	/*
	 * Another process receives for this one: the directory that it has as options.pins. What it
	 * asks for comes to the sockets of this handle, which needs the right to write these maps
	 * and no XDP program of its own. Until there is a map for a slave, the slave is not used.
	 * If another map takes its place, that is noticed within a second. NULL: no
	 */
	const char *sockets;
};

struct xbond_xsk_frame {
	void *data; /* in the area; a frame that was taken has XBOND_XSK_FRAME_SIZE bytes there */
	/*
	 * Bytes, with the Ethernet header and without the FCS. What was received begins behind some
	 * headroom, and may become longer by what is left of XBOND_XSK_FRAME_SIZE.
	 */
	__u32 length;
	__u16 slot; /* by which it left or came, or XBOND_XSK_NO_SLOT; written by the library */
	__u16 pad0;
};

/* Frames since the handle was opened. */
struct xbond_xsk_counts {
	__u64 sent;	  /* copies for every slave (broadcast) count once */
	__u64 sent_bytes; /* of their length */
	__u64 no_slave;	  /* dropped: no slave may transmit, or there is no bond */
	__u64 full;	  /* dropped: the slave's ring was full */
	__u64 sent_again; /* refused by the kernel, since the slave was cut; counted in sent, too */
	/*
	 * Dropped: refused by another slave, too (broadcast: by every one); or no frame, because it
	 * is shorter than an Ethernet header, or longer than its memory.
	 */
	__u64 lost;
	__u64 opened; /* sockets */
	__u64 received;
	__u64 not_collected; /* dropped: they came by a slave that the bond does not receive by */
	__u64 missed;	     /* dropped by the kernel: nobody had received what came before them */
};

/*
 * Opens a bond, by its name, or by the directory of its pins if bondd was started with another
 * --bpf-dir. The caller must be in the namespace that the slaves are in; xsk.md says which
 * privileges it needs. Returns 0, or -errno with the reason in `why`, which has XBOND_XSK_WHY_SIZE
 * bytes: -ENOENT: no such bond; -EACCES: its maps are for root and the group xbond-xsk, or the
 * kernel refuses the function; -EPROTO: its bondd has another XBOND_SELECT_ABI; -EAGAIN: its bondd
 * has not adopted it yet, or is older; -EOPNOTSUPP: it has a policy of the user, which the bond's
 * own programs ask; -EINVAL: options, or a slave does not have the queue; -ENOMEM: no memory, or
 * RLIMIT_MEMLOCK is less than the area for each socket; -ENOBUFS: too few frames for zero copy;
 * -EBUSY, after a second: somebody has the queue of a slave, or an XDP program there; -ENXIO: no
 * map in options.sockets; -EADDRINUSE: another handle of this process receives something else by a
 * slave; -ENOTDIR: there is no place for the pin; others, as -EPERM: of a slave's socket or filter.
 */
int xbond_xsk_open(struct xbond_xsk **ret, const char *bond,
		   const struct xbond_xsk_options *options, char *why);

/* Closes the sockets, and frees the area. Frames that the kernel has not sent yet are lost. */
void xbond_xsk_close(struct xbond_xsk *xsk);

/*
 * Takes up to `most` free frames of the area for the caller to fill. Returns how many there were:
 * fewer than `most` if the kernel still has the others.
 */
int xbond_xsk_take(struct xbond_xsk *xsk, struct xbond_xsk_frame *frames, int most);

/* Gives frames back that were taken and are not to be sent. */
void xbond_xsk_release(struct xbond_xsk *xsk, const struct xbond_xsk_frame *frames, int count);

/*
 * Sends each frame by the slave that the bond chooses for it. All frames belong to the library
 * afterwards. In balance-tlb and balance-alb it writes source addresses. Returns how many went to a
 * slave; the counts say what became of the others. Frames that the kernel refuses because their
 * slave was cut go out by another slave before this returns. What a slave has no room for yet
 * leaves when this, xbond_xsk_receive() or xbond_xsk_update() is called again.
 */
int xbond_xsk_send(struct xbond_xsk *xsk, struct xbond_xsk_frame *frames, int count);

/*
 * Receives up to `most` frames, without waiting. They belong to the caller, who sends or releases
 * each. Returns how many there are. Checksums that a sender on this machine leaves to its NIC are
 * not finished.
 */
int xbond_xsk_receive(struct xbond_xsk *xsk, struct xbond_xsk_frame *frames, int most);

/*
 * Waits until there may be something to receive, for timeout_ms at most (-1: as long as it takes).
 * Returns 1 if so, 0 if not, -errno, as -EINTR. It ends early when it is time to follow the bond.
 */
int xbond_xsk_wait(struct xbond_xsk *xsk, int timeout_ms);

/*
 * Follows the bond: opens sockets of new slaves, closes those of slaves that have left, looks
 * whether cut slaves have carrier again, and finds the bond again if it was made anew.
 * xbond_xsk_send() and xbond_xsk_receive() call it, too; without a change it costs some nanoseconds
 * and no system call, but four for those who may only read, and some once a second for those who
 * receive or have zero copy (xsk.md). Returns 0; -ENOENT: there is no bond of this name now, and
 * frames are dropped until there is.
 */
int xbond_xsk_update(struct xbond_xsk *xsk);

/* size: sizeof(*ret) */
void xbond_xsk_counts(const struct xbond_xsk *xsk, struct xbond_xsk_counts *ret, size_t size);

#ifdef __cplusplus
}
#endif

#endif
