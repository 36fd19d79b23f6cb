/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded by tests: while the file that XBOND_TEST_REFUSE names exists, the kernel has no memory
 * for what its lines name: a pin that is to be opened, "detach" of any link, or "delete" of any
 * device.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

	return refuse_names(strrchr(path, '/') + 1) ? -ENOMEM : get(path);
}

int bpf_link_detach(int link_fd)
{
	int (*detach)(int) = dlsym(RTLD_NEXT, "bpf_link_detach");

	return refuse_names("detach") ? -ENOMEM : detach(link_fd);
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
