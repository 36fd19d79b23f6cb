/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of any content to a micro-BFD session, as the programs and bondd take them: first the rule
 * of bfd_wire.h, then the packet, then the machine, whose clock and options change meanwhile.
 * After each step it must hold what RFC 5880 promises.
 */
#include "bfd/bfd.h"
#include "tests/fuzz/input.h"

#define START 1000000000ull
#define STEPS 64

static struct {
	struct bfd_session session;
	struct bfd_ends ends;
	uint64_t now_ns;
} bfd;

static void bfd_check_packet(const struct bfd_packet *packet)
{
	uint8_t bytes[BFD_PACKET_SIZE];
	struct bfd_packet decoded;

	bfd_packet_encode(packet, bytes);
	input_check(!(packet->poll && packet->final), "never poll and final at once");
	input_check(packet->my_discr == bfd.session.local_discr, "our own discriminator");
	input_check(packet->state == BFD_UP || packet->min_tx_us >= BFD_SLOW_US,
		    "slow while it is not up");
	input_check(packet->state <= BFD_DOWN || packet->your_discr,
		    "a session that has heard somebody names him");
	input_check(bfd_packet_decode(bytes, sizeof(bytes), &decoded) == BFD_TAKEN &&
			    decoded.state == packet->state,
		    "what is sent may be taken");
}

static void bfd_run(void)
{
	struct bfd_packet packet;
	int count = 0;

	while (bfd_session_run(&bfd.session, bfd.now_ns, &packet)) {
		bfd_check_packet(&packet);
		input_check(++count <= 4, "it comes to rest");
	}
	input_check(bfd_session_deadline(&bfd.session) > bfd.now_ns, "the next deadline is later");
	input_check(bfd.session.state <= BFD_UP, "a state that exists");
}

/* As the programs read it: the first bytes, zeroes behind the end. */
static void bfd_take_frame(struct input *input)
{
	uint8_t head[BFD_FRAME_SIZE] = { 0 };
	struct bfd_packet packet;
	size_t length;
	uint8_t *frame = input_copy(input, 200, &length);
	uint32_t at = bfd_frame_packet_at(&bfd.ends);

	memcpy(head, frame, length < sizeof(head) ? length : sizeof(head));
	if (bfd_frame_judge(head, (uint32_t)length, &bfd.ends) == BFD_FRAME_GOOD) {
		uint32_t size = bfd_frame_word(head + at - 4) - BFD_UDP_SIZE;

		input_check(at + size <= length, "the datagram lies within the frame");
		if (!bfd_packet_decode(frame + at, size, &packet))
			bfd_session_receive(&bfd.session, &packet, bfd.now_ns);
	}
	free(frame);
}

/* Fields at will, so that the machine is reached more often. */
static void bfd_take_packet(struct input *input)
{
	uint8_t bytes[BFD_PACKET_SIZE];
	struct bfd_packet packet;

	input_take(input, bytes, sizeof(bytes));
	bytes[BFD_AT_VERSION] = (uint8_t)(BFD_VERSION << 5 | (bytes[0] & 0x1f));
	bytes[BFD_AT_LENGTH] = BFD_PACKET_SIZE;
	if (bytes[BFD_AT_YOUR_DISCR] & 1) {
		uint32_t ours = __builtin_bswap32(bfd.session.local_discr);

		memcpy(bytes + BFD_AT_YOUR_DISCR, &ours, sizeof(ours));
	}
	if (!bfd_packet_decode(bytes, sizeof(bytes), &packet))
		bfd_session_receive(&bfd.session, &packet, bfd.now_ns);
}

static void bfd_step(struct input *input)
{
	switch (input_u8(input) % 6) {
	case 0: bfd_take_frame(input); break;
	case 1: bfd_take_packet(input); break;
	case 2: bfd.now_ns += input_u32(input); break;
	case 3:
		bfd_session_configure(&bfd.session, 5000 + input_u16(input),
				      (uint8_t)(input_u8(input) | 2));
		break;
	case 4: bfd_session_resume(&bfd.session, input_u32(input), bfd.now_ns); break;
	default: bfd.now_ns += bfd.session.interval_us * 1000ull; break;
	}
	bfd_run();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };

	memset(&bfd, 0, sizeof(bfd));
	bfd.now_ns = START;
	bfd.ends.six = input_u8(&input) & 1;
	input_take(&input, bfd.ends.local, bfd.ends.six ? 16 : 4);
	input_take(&input, bfd.ends.remote, bfd.ends.six ? 16 : 4);
	bfd_session_init(&bfd.session, 1 + input_u8(&input), input_u32(&input), bfd.now_ns);
	bfd_session_configure(&bfd.session, 10000, 3);
	bfd_run();
	for (int i = 0; i < STEPS && input.left; i++)
		bfd_step(&input);
	return 0;
}
