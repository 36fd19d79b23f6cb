/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded by tests: while the file that XBOND_TEST_REFUSE names exists, the kernel has no memory
 * for what its lines name: a pin that is to be opened, "detach" of any link, "delete" of any
 * device, "rename" of any file, or the kernel's "messages" about devices. Or the kernel forbids
 * what it names: "no PIN". Or it is "later" or "earlier" by ten years, by CLOCK_REALTIME.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TEN_YEARS 315360000

static bool refuse_names(const char *what)
{
	FILE *file = fopen(getenv("XBOND_TEST_REFUSE"), "re");
	char line[64];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		found = !strcmp(line, what);
	}
	if (file)
		fclose(file);
	errno = found ? ENOMEM : 0;
	return found;
}

int bpf_obj_get(const char *path)
{
	int (*get)(const char *) = dlsym(RTLD_NEXT, "bpf_obj_get");
	const char *pin = strrchr(path, '/') + 1;
	char forbidden[64];

	snprintf(forbidden, sizeof(forbidden), "no %s", pin);
	if (refuse_names(forbidden)) {
		errno = EPERM;
		return -EPERM;
	}
	return refuse_names(pin) ? -ENOMEM : get(path);
}

int bpf_link_detach(int link_fd)
{
	int (*detach)(int) = dlsym(RTLD_NEXT, "bpf_link_detach");

	return refuse_names("detach") ? -ENOMEM : detach(link_fd);
}

int rename(const char *from, const char *to)
{
	int (*move)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");

	return refuse_names("rename") ? -1 : move(from, to);
}

struct nl_sock;
struct nl_msg;
struct nlmsghdr *nlmsg_hdr(struct nl_msg *msg);

int nl_send(struct nl_sock *sock, struct nl_msg *msg)
{
	int (*send)(struct nl_sock *, struct nl_msg *) = dlsym(RTLD_NEXT, "nl_send");

	return nlmsg_hdr(msg)->nlmsg_type == RTM_DELLINK && refuse_names("delete")
		       ? -5 /* NLE_NOMEM */
		       : send(sock, msg);
}

int nl_recvmsgs_default(struct nl_sock *sock)
{
	int (*receive)(struct nl_sock *) = dlsym(RTLD_NEXT, "nl_recvmsgs_default");

	return refuse_names("messages") ? -5 /* NLE_NOMEM */ : receive(sock);
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int (*get)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
	int r = get(clock, ret), saved = errno;

	if (!r && clock == CLOCK_REALTIME && refuse_names("later"))
		ret->tv_sec += TEN_YEARS;
	else if (!r && clock == CLOCK_REALTIME && refuse_names("earlier"))
		ret->tv_sec -= TEN_YEARS;
	errno = saved;
	return r;
}

time_t time(time_t *ret)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (ret)
		*ret = now.tv_sec;
	return now.tv_sec;
}
