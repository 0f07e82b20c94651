"""Random damage to a run folder, as files rot, tools fail and people (also bad ones) edit."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path

from apart._errors import UserError
from apart.runs import files
from apart.runs import folder as run_folder

ODD_VALUES = (
    None,
    True,
    -1,
    0,
    10**30,
    10**12,
    10**400,
    1e308,
    "nan",
    "",
    "../../../etc/passwd",
    "/etc/passwd",
    "x" * 5000,
    [],
    {},
    [[]] * 50,
    {"a": {"b": "c"}},
)
ODD_TEXTS = (
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff\xfe\x00",
    b"\xef\xbb\xbf{}",
    b'{"a": 1, "a": 2}',
    b'{"x": NaN}',
    b'{"x": ' + b"9" * 6000 + b"}",
    b"[" * 100_000,
    b'{"a":' * 3000 + b"1" + b"}" * 3000,
    b'{"a":' * 990 + b"1" + b"}" * 990,
    b"import os; os.system('true')",
    b"\x80\x04\x95cposix\nsystem\n",  # how a pickle begins
)
ODD_NAMES = (
    "iteration-999999999999.json",
    "iteration-999999999999.safetensors",
    "iteration-000000000001.json",
    "iteration--1.json",
    ".iteration-000000000001.json.tmp",
    "iteration-٣.json",
    "state.pkl",
    "notes.txt",
)


class Mutator:
    """``mutate(folder)`` damages it in one of many ways and says which."""

    def __init__(self, rng: random.Random, other: Path) -> None:
        self.rng, self.other = rng, other

    def mutate(self, folder: Path) -> str:
        kinds = [name for name in dir(self) if name.startswith("by_")]
        while True:
            kind = self.rng.choice(kinds)
            try:
                getattr(self, kind)(folder)
            except (OSError, UserError, ValueError, TypeError, LookupError, RecursionError):
                continue  # cannot be done to what was damaged before; try another way
            return kind[3:]

    def _file(self, folder: Path, ending: str = "") -> Path:
        found = [p for p in folder.rglob(f"*{ending}") if p.is_file() and p.name != ".lock"]
        return self.rng.choice(sorted(found)) if found else folder / "missing"

    def _json(self, folder: Path) -> Path:
        return self._file(folder, ".json")

    # Rot

    def by_flipped_bit(self, folder):
        path = self._file(folder)
        data = bytearray(path.read_bytes())
        data[self.rng.randrange(len(data))] ^= 1 << self.rng.randrange(8)
        path.write_bytes(bytes(data))

    def by_noise(self, folder):
        path = self._file(folder)
        data = bytearray(path.read_bytes())
        at = self.rng.randrange(len(data))
        data[at : at + 16] = self.rng.randbytes(16)
        path.write_bytes(bytes(data))

    def by_truncation(self, folder):
        path = self._file(folder)
        os.truncate(path, self.rng.randrange(path.stat().st_size + 1))

    def by_growth(self, folder):
        with self._file(folder).open("ab") as file:
            file.write(self.rng.randbytes(self.rng.choice([1, 100, 100_000])))

    def by_missing(self, folder):
        self._file(folder).unlink()

    # Tools

    def by_swapped_files(self, folder):
        one, two = self._file(folder), self._file(folder)
        a, b = one.read_bytes(), two.read_bytes()
        one.write_bytes(b)
        two.write_bytes(a)

    def by_file_of_another_run(self, folder):
        path = self._file(folder)
        shutil.copy(self.other / path.relative_to(folder), path)

    def by_extra_file(self, folder):
        where = self.rng.choice([folder, folder / "checkpoints"])
        content = self.rng.choice([*ODD_TEXTS, self._file(folder).read_bytes()])
        (where / self.rng.choice(ODD_NAMES)).write_bytes(content)

    def by_odd_content(self, folder):
        self._file(folder).write_bytes(self.rng.choice(ODD_TEXTS))

    def by_odd_log_line(self, folder):
        path = folder / self.rng.choice(run_folder.LOGS)
        if not path.is_file():
            raise FileNotFoundError(path)
        lines = path.read_bytes().splitlines(keepends=True)
        at = self.rng.randrange(len(lines) + 1)
        lines.insert(at, self.rng.choice([b"\n", b"a,b\n", b"1,2,3\n", b"nan\n", b'"\n', b"\0\n"]))
        path.write_bytes(b"".join(lines))

    # Hands

    def by_edited_json(self, folder, seal=False):
        path = self._json(folder)
        value = json.loads(path.read_text())
        value.pop("sha256", None) if seal else None
        place = value
        while True:
            key = self.rng.choice(sorted(place))
            if isinstance(place[key], dict) and place[key] and self.rng.random() < 0.7:
                place = place[key]
            else:
                break
        action = self.rng.choice(["change", "remove", "add"])
        odd = self.rng.choice(ODD_VALUES)
        if action == "remove":
            del place[key]
        elif action == "add":
            place[self.rng.choice(["x", "../x", "format", "logs"])] = odd
        elif isinstance(place[key], int) and self.rng.random() < 0.5:
            place[key] += self.rng.choice([-1, 1])
        else:
            place[key] = odd
        if seal:
            files.write_sealed(path, value)
        else:
            path.write_text(json.dumps(value))

    def by_forged_json(self, folder):
        self.by_edited_json(folder, seal=True)

    def by_another_versions_manifest(self, folder):
        path = self._file(folder / "checkpoints", ".json")
        value = files.read_sealed(path)
        value[self.rng.choice(["format", "iteration"])] = self.rng.choice([0, 1, 3, 99, "2", None])
        files.write_sealed(path, value)

    def by_edited_header(self, folder):
        path = self._file(folder / "checkpoints", ".safetensors")
        data = path.read_bytes()
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + size])
        name = self.rng.choice(sorted(header))
        change = self.rng.choice(["shape", "dtype", "data_offsets", "name", "size"])
        if change == "name":
            header[self.rng.choice(["../../x", "/etc/passwd", ""])] = header.pop(name)
        elif change != "size":
            header[name][change] = self.rng.choice(
                [[2**62], [10**12, 4], [-1], [0], "F64", "I8", "Z9", [0, 2**63], [5, 1], None]
            )
        text = json.dumps(header).encode()
        said = len(text) if change != "size" else self.rng.choice([0, 2**40, 2**63, size * 2])
        path.write_bytes(said.to_bytes(8, "little") + text + data[8 + size :])

    # Other things than files

    def by_link(self, folder):
        path = self._file(folder)
        path.unlink()
        path.symlink_to(self.rng.choice(["/etc/passwd", "/dev/zero", "nowhere", self.other]))

    def by_linked_folder(self, folder):
        shutil.rmtree(folder / "checkpoints")
        (folder / "checkpoints").symlink_to(self.other / "checkpoints")

    def by_pipe(self, folder):
        path = self.rng.choice([self._file(folder), folder / ".lock"])
        path.unlink(missing_ok=True)
        os.mkfifo(path)

    def by_folder_for_a_file(self, folder):
        path = self._file(folder)
        path.unlink()
        path.mkdir()

    def by_file_for_a_folder(self, folder):
        shutil.rmtree(folder / "checkpoints")
        (folder / "checkpoints").write_text("x")
