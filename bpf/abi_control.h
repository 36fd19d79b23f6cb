/* SPDX-License-Identifier: GPL-2.0-or-later OR LGPL-2.1-or-later */
/*
 * What the link monitors and LACP keep in maps, for bondd and for the time without it, and how
 * failovers went. A part of abi.h, which includes it behind all that it needs.
 */
#ifndef XBOND_ABI_CONTROL_H
#define XBOND_ABI_CONTROL_H

/* LACP: what the programs need to hold a port, and what they hand to bondd. */

#define XBOND_PDU_SIZE 124 /* LACPDU and marker PDU with Ethernet header (802.1AX-2020 6.4.2.3) */
/* How many PDUs of one slave bondd gets in a second. Each class of PDUs has a budget of its own. */
/* LACPDUs of the partner, and of others; LACP itself sends at most 3. */
#define XBOND_PDUS_PER_SECOND 10
#define XBOND_MARKERS_PER_SECOND 5	  /* as many as the core answers */
#define XBOND_OTHERS_PER_SECOND 5	  /* other slow protocols; bondd only counts them */
#define XBOND_LACP_AWAY_NS 500000000LL	  /* heartbeat older: the programs hold the ports */
#define XBOND_HOLD_GAP_NS 900000000ULL	  /* at most one answer in this time */
#define XBOND_HOLD_AFTER_NS 1000000000ULL /* after bondd's last, which may be its third */
_Static_assert(XBOND_HOLD_GAP_NS == LACP_HOLD_GAP, "the core counts by it");

/* Who asks for the short timeout. A partner that does not know of it may send every 30 s. */
#define XBOND_HOLD_KNOWS 0x1 /* the partner's last LACPDU says that we do */
#define XBOND_HOLD_ASKS 0x2  /* our last answer did, because the partner does */

enum xbond_hold_end {
	XBOND_HOLD_GOES_ON = 0,
	/* No LACPDU in the time in force; goes on when the partner is heard in sync. */
	XBOND_HOLD_SILENT = 1,
	XBOND_HOLD_OUT_OF_STEP = 2,	/* the partner is not in sync; goes on when it is */
	XBOND_HOLD_PARTNER_CHANGED = 3, /* another partner */
};

/* Classes of PDUs. One class cannot use up the budget of another. */
enum xbond_pdu_class {
	XBOND_PDU_PARTNER = 0,	/* LACPDUs of the system and port that are our partner */
	XBOND_PDU_STRANGER = 1, /* other LACPDUs */
	XBOND_PDU_MARKER = 2,
	/* other slow protocols: never dropped; bondd does not see the excess */
	XBOND_PDU_OTHER = 3,
	XBOND_PDU_CLASSES = 4,
};

/* Writer: BPF. */
struct xbond_pdu_budget {
	__u64 window_ns; /* when this second began */
	__u32 count;	 /* PDUs in it */
	__u32 flooded;	 /* PDUs dropped beyond the budget, ever */
};
_Static_assert(sizeof(struct xbond_pdu_budget) == 16, "PDU budget ABI");

/*
 * What the programs need to hold a port. Writer: bondd's LACP thread, after each run of the
 * machines.
 */
struct xbond_hold_words {
	__u64 silence_ns; /* 3 s or 90 s: the timeout that pdu asks for */
	__u64 heard_ns;	  /* the last LACPDU of the partner */
	__u64 sent_ns;	  /* when pdu was sent; 0: never */
	__u32 holding;	  /* current, lacp_hold on, and pdu is valid: the programs answer */
	/* The Receive machine is CURRENT: what the partner says, or its silence, decides. */
	__u32 current;
	/* LACP_COLLECTING and LACP_DISTRIBUTING: what the core lets the port do. */
	__u32 told;
	__u32 independent; /* independent control: distributes only while the partner collects */
	/* The partner's 15 bytes of an information TLV. Of its state only AGG is used. */
	__u8 partner[16];
	__u8 pdu[XBOND_PDU_SIZE];      /* the last LACPDU sent, with Ethernet header */
	__u8 believed[XBOND_MAC_SIZE]; /* the only system accepted as a partner; zero: any */
	__u8 pad0[6];
};
_Static_assert(sizeof(struct xbond_hold_words) == 192, "hold words ABI");

/* One per slot: how the programs keep a port of an 802.3ad bond while bondd is away. */
struct xbond_hold {
	/*
	 * Writer: bondd. It writes a change completely into the idle copy; one store then puts that
	 * copy in force.
	 */
	__u32 enabled;	/* the slot is a port */
	__u32 in_force; /* which copy of words: 0 or 1 */
	struct xbond_hold_words words[2];
	/* Writer: BPF, while bondd is away; bondd resets all but the answers when it takes over. */
	__u64 heard_ns; /* the last LACPDU of the partner */
	__u64 answered_ns;
	__u32 ended; /* enum xbond_hold_end */
	/* LACP_COLLECTING and LACP_DISTRIBUTING: what the port may not do at present. */
	__u32 withheld;
	__u32 hurried; /* XBOND_HOLD_KNOWS, also while bondd is there, and XBOND_HOLD_ASKS */
	__u32 answers;
	/* Writer: BPF. */
	__u64 missed_ns; /* the last LACPDU that came while bondd was away and that nobody kept */
	struct xbond_pdu_budget budget[XBOND_PDU_CLASSES];
};
_Static_assert(sizeof(struct xbond_hold) == 8 + 2 * 192 + 16 + 16 + 8 + 64, "hold ABI");

/* Writer: BPF, into the ring buffer. */
struct xbond_pdu {
	__u64 received_ns;
	__u32 slot;
	__u32 ifindex;
	__u32 length;
	__u32 pad0;
	__u8 frame[128]; /* length bytes of it */
};
_Static_assert(sizeof(struct xbond_pdu) == 152, "pdu ABI");

/*
 * The monitors, which tell whether a slave's link works. Each has files in daemon/monitor/ and a
 * row in common/mode.c.
 */
enum xbond_monitor {
	XBOND_MONITOR_CARRIER = 0,
	XBOND_MONITOR_ARP = 1, /* answers to ARP requests and IPv6 neighbour solicitations */
	XBOND_MONITOR_BFD = 2,
	/* These and all that follow only count while the link of another slave works. */
	XBOND_MONITOR_FLAPS = 3,
	XBOND_MONITOR_SILENCE = 4,
	XBOND_MONITOR_ERRORS = 5,
	XBOND_MONITORS = 6,
};
#define XBOND_MONITORS_HARD ((1u << XBOND_MONITOR_FLAPS) - 1)
#define XBOND_MONITORS_ROOM 8

/* Writer: bondd. One entry per slot: what the monitors say of the slave's link. */
struct xbond_verdict {
	__u32 spoken; /* one bit for each monitor that has a verdict */
	__u32 works;  /* those of them that say that the link works */
	/* CLOCK_MONOTONIC; when the monitor first said what it says now. */
	__u64 since_ns[XBOND_MONITORS_ROOM];
};
_Static_assert(sizeof(struct xbond_verdict) == 72, "verdict ABI");

#define XBOND_LOOK_ANSWERED 2 /* xbond_look: the answer is in the caller's own context */

/* Between the programs and bondd. */
struct xbond_wake {
	/*
	 * Slots that packets avoid because of their carrier, and of which a record was written. So
	 * there is one record for a loss. BPF sets bits, bondd clears them.
	 */
	__u64 told;
	/* Writer: xbond_look. Other slots are about to change: the kernel has not acted on it. */
	__u64 up;   /* slots whose devices have carrier */
	__u64 lost; /* slots whose devices have none, are down, or have gone */
};
_Static_assert(sizeof(struct xbond_wake) == 24, "wake ABI");

/*
 * For kernels whose memory the programs cannot read in place: may a device have lost its carrier
 * without bondd having acted on it? Yes while raised is not settled. Writer: BPF.
 */
struct xbond_doubt {
	__u32 raised;  /* by the program on netif_carrier_off(), of linkwatch.bpf.c */
	__u32 before;  /* raised, as the last beat of bondd found it */
	__u32 settled; /* raised, as two beats in a row have found it */
	__u32 pad0;
};
_Static_assert(sizeof(struct xbond_doubt) == 16, "doubt ABI");

/* Writer: BPF, into the ring buffer of losses. */
struct xbond_loss {
	__u64 ns;    /* CLOCK_MONOTONIC */
	__u64 slots; /* without carrier, and not told of before */
};
_Static_assert(sizeof(struct xbond_loss) == 16, "loss ABI");

/* How bondd learns that a link has lost carrier while no packet meets that. */
enum xbond_carrier_source {
	XBOND_CARRIER_UNKNOWN = 0, /* no bondd has said so */
	XBOND_CARRIER_POLL = 1,	   /* the kernel's messages, and the poll every miimon */
	XBOND_CARRIER_TRACEPOINT = 2,
	XBOND_CARRIER_FENTRY = 3,
};

#define XBOND_FAILOVER_BUCKETS 28 /* powers of two of microseconds; the last is 67 s and more */

/* Writer: bondd. How long a slave that failed has gone on to get packets by the table. */
struct xbond_failover {
	__u32 carrier_source; /* enum xbond_carrier_source */
	__u32 pad0;
	__u64 count;   /* slaves that were up and have left the table because of their link */
	__u64 last_ns; /* from the loss, as far as it is known, to the table */
	/* [n]: failovers that took less than 2^n us, but at least half of that. */
	__u64 histogram[XBOND_FAILOVER_BUCKETS];
	__u64 sum_ns; /* of all of them */
	/* Buckets that have gone from one slave to another, for whatever reason. */
	__u64 moved_buckets;
};
_Static_assert(sizeof(struct xbond_failover) == 24 + 8 * 28 + 16, "failover ABI");

#define XBOND_PROBE_TARGETS (2 * XBOND_MAX_TARGETS) /* those of IPv4, then those of IPv6 */

/* A host that the ARP monitor probes. Writer: bondd. An IPv4 address is in the first four bytes. */
struct xbond_probe_target {
	__u8 address[16]; /* zero: no target */
	__u8 source[16];  /* the sender of the probes; zero: unspecified */
	__u8 mac[XBOND_MAC_SIZE];
	__u8 pad0[2];
};
_Static_assert(sizeof(struct xbond_probe_target) == 40, "probe target ABI");

/*
 * When a slave last heard what the ARP monitor goes by. CLOCK_MONOTONIC; 0: never. Writer: BPF,
 * while XBOND_F_PROBES is set; bondd clears a slot that gets another device.
 */
struct xbond_probe_times {
	__u64 uncounted_ns; /* a frame that is in no counter, such as a LACPDU */
	__u64 neighbour_ns; /* an ARP frame, or a neighbour solicitation or advertisement */
	__u64 from_ns[XBOND_PROBE_TARGETS]; /* of these: from the target to the sender of probes */
	__u64 to_ns[XBOND_PROBE_TARGETS];   /* the other way: a probe that another slave has sent */
};
_Static_assert(sizeof(struct xbond_probe_times) == 16 + 2 * 8 * 32, "probe times ABI");

struct xbond_probes {
	struct xbond_probe_target target[XBOND_PROBE_TARGETS];
	struct xbond_probe_times times[XBOND_MAX_SLAVES];
};
_Static_assert(sizeof(struct xbond_probes) == 32 * 40 + 64 * 528, "probes ABI");
#define XBOND_FLAPS_KEPT 64
#define XBOND_FLAP_LIMIT_MAX 60 /* below what is kept */

/* A slave that has broken a limit is out of use until then: rules/link_state.h. */
struct xbond_hold_down {
	__u64 until_ns; /* CLOCK_MONOTONIC; 0: never held */
	__u32 level;	/* how long the last one was: 1 is 10 s, 2 is 20 s */
	__u32 count;	/* hold-downs so far */
};
_Static_assert(sizeof(struct xbond_hold_down) == 16, "hold-down ABI");

struct xbond_flaps {
	struct xbond_hold_down hold;
	__u64 seen_ns;	  /* when `losses` was read; 0: never */
	__u64 counted_ns; /* flaps until then have led to a hold-down */
	__u64 at_ns[XBOND_FLAPS_KEPT];
	__u32 losses; /* of carrier, by the kernel's count */
	__u32 next;   /* where in at_ns the next one goes, modulo its size */
};
_Static_assert(sizeof(struct xbond_flaps) == 16 + 16 + 512 + 8, "flaps ABI");

struct xbond_silence {
	struct xbond_hold_down hold;
	__u64 heard_ns; /* when the last frame was noticed; 0: nobody has listened yet */
	__u64 frames;	/* the count then */
};
_Static_assert(sizeof(struct xbond_silence) == 32, "silence ABI");

struct xbond_errors {
	struct xbond_hold_down hold;
	__u64 good, broken; /* frames by the driver's counters, as last read */
	__u64 window_frames, window_broken;
	__u32 rate;  /* broken frames among a million, in the last full window */
	__u32 known; /* good and broken have been read */
};
_Static_assert(sizeof(struct xbond_errors) == 56, "errors ABI");

/* Writer: bondd. One entry per slot: what flap_limit, rx_silence and error_limit go by. */
struct xbond_quality {
	struct xbond_flaps flaps;
	struct xbond_silence silence;
	struct xbond_errors errors;
	__u32 resets; /* xbond_slave.resets, when flaps were last counted */
	__u32 pad0;
};
_Static_assert(sizeof(struct xbond_quality) == 648, "quality ABI");

/* How many packets of micro-BFD on one slave bondd gets in a second. */
#define XBOND_BFD_PER_SECOND 400       /* that name our session; bfd_interval is at least 5 ms */
#define XBOND_BFD_OTHERS_PER_SECOND 10 /* that name no session */
#define XBOND_BFD_AWAY_NS 500000000LL  /* heartbeat older: the programs hold the sessions */
#define XBOND_BFD_SUSPICIONS 3	       /* so many end a session */

enum xbond_bfd_end {
	XBOND_BFD_GOES_ON = 0,
	XBOND_BFD_SILENT = 1,	  /* nothing for the detection time, while others are heard */
	XBOND_BFD_SIGNALED = 2,	  /* the far end has left the session */
	XBOND_BFD_TURNED_OFF = 3, /* by the far end, with AdminDown: no failure */
};

/* What the programs need to hold a session, and the session for the next bondd. */
struct xbond_bfd_words {
	struct bfd_session session;
	__u64 gap_ns; /* the transmit interval */
	__u64 detection_ns;
	__u32 holding; /* the session is up, and the frame is valid: the programs answer */
	__u32 length;
	__u8 frame[BFD_FRAME_SIZE]; /* the last one, without poll and final */
	__u8 pad0[2];
};
_Static_assert(sizeof(struct xbond_bfd_words) == sizeof(struct bfd_session) + 24 + 88,
	       "BFD words ABI");

/* The session of one slave. */
struct xbond_bfd_link {
	/*
	 * Writer: bondd's BFD thread. It writes a change completely into the idle copy; one store
	 * then puts that copy in force.
	 */
	__u32 enabled;
	__u32 in_force;
	struct xbond_bfd_words words[2];
	__u64 sent_ns; /* the last packet of bondd */
	__u32 verdict; /* enum bfd_verdict: for `show` */
	/* Writer: BPF. */
	__u32 detection_us; /* by the far end's last packet; 0: none yet */
	__u64 heard_ns;	    /* the last packet of the far end that knows our session */
	__u64 answered_ns;
	__u32 answers;
	__u32 refused;			   /* packets that the far end would not send */
	struct xbond_pdu_budget budget[2]; /* that name our session; others */
	/* Writer: BPF, while bondd is away; bondd resets it when it takes over. */
	__u32 ended; /* enum xbond_bfd_end */
	/* Detection times in a row in which the link was silent and others were not. */
	__u32 suspected;
};

/* micro-BFD (RFC 7130). Writer: bondd's BFD thread, except for parts of the links. */
struct xbond_bfd {
	__u64 heartbeat_ns; /* CLOCK_MONOTONIC; 0 after an orderly stop */
	/* Since when the far end is known to speak BFD: a session has been up. 0: it is not. */
	__u64 known_ns;
	struct bfd_ends ends;
	__u32 pad0;
	struct xbond_bfd_link link[XBOND_MAX_SLAVES];
};
_Static_assert(sizeof(struct xbond_bfd) ==
		       56 + XBOND_MAX_SLAVES * (2 * sizeof(struct xbond_bfd_words) + 88),
	       "BFD ABI");

/* Writer: BPF, into the ring buffer. */
struct xbond_bfd_packet {
	__u64 received_ns;
	__u32 slot;
	__u32 ifindex;
	__u32 length; /* of what the datagram carries, which may be more than is here */
	__u8 bytes[BFD_PACKET_SIZE];
	__u32 pad0;
};
_Static_assert(sizeof(struct xbond_bfd_packet) == 48, "BFD packet ABI");

/*
 * Writer: bondd's LACP thread. There are two copies, so that one is complete whenever bondd dies.
 */
struct xbond_lacp {
	__u32 current; /* the copy in force */
	__u32 pad0;
	struct {
		struct lacp_system_state system;
		struct lacp_port_state port[XBOND_MAX_SLAVES];
	} copy[2];
};
_Static_assert(sizeof(struct xbond_lacp) == 8 + 2 * (sizeof(struct lacp_system_state) +
						     64 * sizeof(struct lacp_port_state)),
	       "lacp ABI");

#endif
