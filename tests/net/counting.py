"""Programs of the tests that count what passes a device's egress, in a map."""
import json

from lab import BUILD
from namespace import run


def count(host, dev, name, *match):
    """Attaches count_by_NAME before all others at dev's egress; returns its map's id."""
    host.run("tc", "qdisc", "add", "dev", dev, "clsact", check=False)  # may be there
    host.run("tc", "filter", "add", "dev", dev, "egress", "pref", 1, *match, "bpf", "da", "obj",
             BUILD / "tools/counts.bpf.o", "program", f"count_by_{name}")
    shown = host.run("tc", "-j", "filter", "show", "dev", dev, "egress", "pref", 1).stdout
    program = next(each["options"]["prog"]["id"] for each in json.loads(shown)
                   if "prog" in each.get("options", {}))
    return json.loads(run("bpftool", "-j", "prog", "show", "id", program).stdout)["map_ids"][0]


def counted(number):
    """{key: value} of the map."""
    entries = [entry.get("formatted", entry)
               for entry in json.loads(run("bpftool", "-j", "map", "dump", "id", number).stdout)]
    return {entry["key"]: entry["value"] for entry in entries}
