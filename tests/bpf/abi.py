"""bpf/abi.h for Python without a second copy of it: ctypes structs made from the BTF of
the built object, numbers read from the header's text.
"""
import ctypes
import functools
import json
import re
import subprocess

from built import BUILD, ROOT

OBJECT = BUILD / "bpf/xbond.bpf.o"
PLAIN = {(1, False): ctypes.c_uint8, (2, False): ctypes.c_uint16, (4, False): ctypes.c_uint32,
         (8, False): ctypes.c_uint64, (1, True): ctypes.c_int8, (2, True): ctypes.c_int16,
         (4, True): ctypes.c_int32, (8, True): ctypes.c_int64}


class Btf:
    def __init__(self):
        dump = subprocess.run(["bpftool", "-j", "btf", "dump", "file", str(OBJECT)],
                              capture_output=True, check=True)
        self.types = {each["id"]: each for each in json.loads(dump.stdout)["types"]}
        self.made = {}

    def struct(self, name):
        """A ctypes.Structure laid out as the BTF says."""
        found = [each for each in self.types.values()
                 if each["kind"] == "STRUCT" and each["name"] == name]
        return self._struct(found[0])

    def _struct(self, described):
        if described["id"] in self.made:
            return self.made[described["id"]]
        fields = [(member["name"] if member["name"] != "(anon)" else f"unnamed{number}",
                   self._type(member["type_id"]))
                  for number, member in enumerate(described["members"])]
        made = type(described["name"], (ctypes.Structure,), {"_fields_": fields})
        assert ctypes.sizeof(made) == described["size"], described["name"]
        for (name, _), member in zip(fields, described["members"]):
            assert getattr(made, name).offset * 8 == member["bits_offset"], \
                (described["name"], name)
        self.made[described["id"]] = made
        return made

    def _type(self, number):
        described = self.types[number]
        kind = described["kind"]
        if kind in ("TYPEDEF", "CONST", "VOLATILE"):
            return self._type(described["type_id"])
        if kind == "INT":
            return PLAIN[described["size"], described["encoding"] == "SIGNED"]
        if kind == "ARRAY":
            return self._type(described["type_id"]) * described["nr_elems"]
        if kind == "STRUCT":
            return self._struct(described)
        if kind == "UNION":
            return ctypes.c_uint64 * (described["size"] // 8)
        raise TypeError(f"BTF kind {kind}")


@functools.cache
def btf():
    """One for all that read memory by it, because bpftool takes its time."""
    return Btf()


def constants():
    """Every `#define XBOND_X number` and every enumerator of abi.h, without the XBOND_."""
    text = "".join(part.read_text() for part in sorted((ROOT / "bpf").glob("abi*.h")))
    pairs = re.findall(r"^#define XBOND_(\w+) (0x[0-9a-f]+|\d+)(?:U?LL)?\b", text, re.M)
    pairs += re.findall(r"^\tXBOND_(\w+) = (\d+),", text, re.M)
    return {name: int(value, 0) for name, value in pairs}
