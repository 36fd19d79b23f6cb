# SPDX-License-Identifier: GPL-2.0-or-later
"""An addon of ifupdown2: makes bonds of interfaces(5) that say `bond-driver xbond`, by the script
that ifupdown has for it. Such stanzas do not show their slaves to ifupdown2's own addon for bonds,
which would make a bond of the kernel. addons.conf must name this one (docs/operators/beside.md).
"""
import os
import subprocess
import time

try:
    from ifupdown2.ifupdownaddons.modulebase import moduleBase
    from ifupdown2.lib.addon import Addon
except ImportError:
    from ifupdownaddons.modulebase import moduleBase
    from lib.addon import Addon

SCRIPT = "/etc/network/if-pre-up.d/xbond"
SLAVES = "xbond-slaves"


class xbond(Addon, moduleBase):
    _modinfo = {
        "mhelp": "bonds of xbond",
        "attrs": {
            "bond-driver": {"help": "xbond makes the bond", "validvals": ["xbond"]},
            SLAVES: {"help": "what bond-slaves says, if xbond makes the bond", "multivalue": True},
        },
    }

    def translate(self, ifaceobjs):
        for ifaceobj in ifaceobjs:
            if ifaceobj.get_attr_value_first("bond-driver") != "xbond":
                continue
            for name in ("bond-slaves", "bond-ports"):
                if name in ifaceobj.config:
                    ifaceobj.config[SLAVES] = ifaceobj.config.pop(name)

    def get_dependent_ifacenames(self, ifaceobj, ifacenames_all=None, old_ifaceobjs=False):
        slaves = ifaceobj.get_attr_value_first(SLAVES)
        return self.parse_port_list(ifaceobj.name, slaves, ifacenames_all) if slaves else None

    def _call(self, ifaceobj, phase):
        slaves = self.get_dependent_ifacenames(ifaceobj) or []
        words = {name.replace("-", "_").upper(): "\n".join(values)
                 for name, values in ifaceobj.config.items() if name.startswith("bond-")}
        environment = {f"IF_{name}": value for name, value in words.items()}
        subprocess.run([SCRIPT], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, **environment, "IFACE": ifaceobj.name, "PHASE": phase,
                            "IF_BOND_SLAVES": " ".join(slaves) or "none"})

    def _wait(self, name, there):
        """What ifupdown2 knows of devices comes by messages of the kernel."""
        until = time.monotonic() + 5
        while self.cache.link_exists(name) != there and time.monotonic() < until:
            time.sleep(0.01)

    def get_ops(self):
        return ["pre-up", "post-down"]

    def run(self, ifaceobj, operation, query_ifaceobj=None, **_):
        if operation not in self.get_ops() or \
                ifaceobj.get_attr_value_first("bond-driver") != "xbond":
            return
        try:
            self._call(ifaceobj, operation)
            self._wait(ifaceobj.name, operation == "pre-up")
        except (OSError, subprocess.CalledProcessError) as error:
            self.log_error(f"{ifaceobj.name}: {error}", ifaceobj)
