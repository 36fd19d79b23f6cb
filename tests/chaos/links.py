# SPDX-License-Identifier: GPL-2.0-or-later
"""Troubles of links and slaves."""
from waiting import wait_for


def cut_a_link(life):
    end = life.chance.randrange(2)
    links = life.whole(end)
    if len(links) < 2:
        return mend_links(life)
    link = life.chance.choice(links)
    by_switch = life.pair.switch and life.chance.choice([True, False])
    life.note("cut", link, "at", end, "by the switch" if by_switch else "")
    if by_switch:
        life.pair.switch.ip("link", "set", life.pair.port(end, link), "down")
    else:
        life.hosts[end].ip("link", "set", life.names[end][link], "down")
    life.cuts[end].add(link)
    return True


def mend_links(life):
    for end, cut in enumerate(life.cuts):
        for link in sorted(cut):
            life.note("mend", link, "at", end)
            life.hosts[end].ip("link", "set", life.names[end][link], "up")
            if life.pair.switch:
                life.pair.switch.ip("link", "set", life.pair.port(end, link), "up")
        cut.clear()
    return True


def take_a_slave(life):
    free = sorted(set(life.whole(0)) & set(life.whole(1)))
    if len(free) < 2:
        return mend_links(life)
    link = life.chance.choice(free)
    life.note("take", link)
    for host, names in zip(life.hosts, life.names):
        host.ctl("del-slave", "bond0", names[link])
    life.members.remove(link)
    return True


def give_slaves(life):
    for link, _ in enumerate(life.names[0]):
        if link not in life.members:
            life.note("give", link)
            for host, names in zip(life.hosts, life.names):
                host.ctl("add-slave", "bond0", names[link])
            life.members.add(link)
    return True


def rename_a_slave(life):
    end, link = life.chance.randrange(2), life.chance.choice(sorted(life.members))
    old = life.names[end][link]
    new = f"n{link}" if old[0] == "l" else f"l{link}"
    life.note("rename", old, new, "at", end)
    life.hosts[end].ip("link", "set", old, "name", new)
    life.names[end][link] = new
    wait_for(lambda: life.hosts[end].slave(new), f"{new} to be a slave")
    return False


def change_mtu(life):
    end, mtu = life.chance.randrange(2), life.chance.choice([1400, 1500])
    life.note("mtu", mtu, "at", end)
    life.hosts[end].ip("link", "set", "bond0", "mtu", mtu)
    wait_for(lambda: all(life.hosts[end].link(life.names[end][link])["mtu"] == mtu
                         for link in life.members), "slaves to have the MTU")
    return False


TROUBLES = [cut_a_link, cut_a_link, mend_links, take_a_slave, give_slaves, rename_a_slave,
            change_mtu]
