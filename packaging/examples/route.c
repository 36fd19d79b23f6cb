// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads route.bpf.o over the maps of a bond, and attaches it to devices until it is ended:
 *
 *   cc -O2 -o route route.c -lbpf
 *   ./route bond0 eth2 eth3
 *
 * A bondd that is upgraded may give the bond other maps. The program then lets packets pass, and
 * this loader replaces it within a second.
 */
#include <net/if.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <xbond/loader.h>

static volatile sig_atomic_t ended;

static void end(int number)
{
	(void)number;
	ended = 1;
}

/* Returns NULL after it has said why. */
static struct bpf_object *load(const char *bond)
{
	const char *slash = strrchr(bond, '/');
	__u32 bond_ifindex = if_nametoindex(slash ? slash + 1 : bond);
	struct bpf_object *object = bpf_object__open("route.bpf.o");
	char why[XBOND_WHY_SIZE] = "the kernel refused the program";

	if (!object)
		return NULL;
	bpf_map__set_initial_value(bpf_object__find_map_by_name(object, ".rodata.route"),
				   &bond_ifindex, sizeof(bond_ifindex));
	if (!xbond_use(object, bond, why) && !bpf_object__load(object))
		return object;
	fprintf(stderr, "route: %s\n", why);
	bpf_object__close(object);
	return NULL;
}

static struct bpf_program *program_of(struct bpf_object *object)
{
	return bpf_object__find_program_by_name(object, "route");
}

/* The program takes frames for these addresses only; they may change. */
static void write_macs(struct bpf_object *object, char **devices, int count)
{
	int map = bpf_object__find_map_fd_by_name(object, "route_macs");
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	for (int i = 0; i < count; i++) {
		__u32 ifindex = if_nametoindex(devices[i]);
		struct ifreq ask = { 0 };

		snprintf(ask.ifr_name, sizeof(ask.ifr_name), "%s", devices[i]);
		if (!ioctl(fd, SIOCGIFHWADDR, &ask))
			bpf_map_update_elem(map, &ifindex, ask.ifr_hwaddr.sa_data, BPF_ANY);
	}
	close(fd);
}

/* The links keep the program attached until this process ends. */
static int attach(struct bpf_object *object, char **devices, int count, struct bpf_link **links)
{
	for (int i = 0; i < count; i++) {
		links[i] = bpf_program__attach_xdp(program_of(object),
						   (int)if_nametoindex(devices[i]));
		if (!links[i]) {
			fprintf(stderr, "route: cannot attach to %s: %s\n", devices[i],
				strerror(errno));
			return -1;
		}
	}
	return 0;
}

/* A device that has gone has taken its link with it (ENOLINK). */
static int update(struct bpf_object *object, int count, struct bpf_link **links)
{
	int failed = 0;

	for (int i = 0; i < count; i++) {
		int r = bpf_link__update_program(links[i], program_of(object));

		if (r && r != -ENOLINK)
			failed = r;
	}
	if (failed)
		fprintf(stderr, "route: cannot replace the program: %s\n", strerror(-failed));
	return failed;
}

/* If there is no bond now, or a link is refused, the old program stays: it lets all pass. */
static struct bpf_object *replace(struct bpf_object *old, const char *bond, char **devices,
				  int count, struct bpf_link **links)
{
	struct bpf_object *object = load(bond);

	if (!object)
		return old;
	write_macs(object, devices, count);
	if (update(object, count, links)) {
		bpf_object__close(object);
		return old;
	}
	bpf_object__close(old);
	return object;
}

int main(int argc, char **argv)
{
	struct bpf_link *links[64];
	struct bpf_object *object;
	const char *bond = argv[1];

	if (argc < 3 || argc > 66) {
		fprintf(stderr, "usage: route BOND DEVICE...\n");
		return 2;
	}
	signal(SIGINT, end);
	signal(SIGTERM, end);
	object = load(bond);
	if (!object)
		return 1;
	write_macs(object, argv + 2, argc - 2);
	if (attach(object, argv + 2, argc - 2, links))
		return 1;
	while (!ended) {
		sleep(1);
		if (!ended && !xbond_is_current(object, bond))
			object = replace(object, bond, argv + 2, argc - 2, links);
		write_macs(object, argv + 2, argc - 2);
	}
	bpf_object__close(object);
	return 0;
}
