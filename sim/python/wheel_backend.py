#!/usr/bin/env python3
"""Builds the wheel of the module `headway`: what `pip install ./sim/python` calls (PEP 517), and by
itself a command: wheel_backend.py FOLDER [BUILD]. Needs CMake and what the simulator is built with,
and nothing from a registry. BUILD is a build folder that has the module; without it one is made."""

import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DATA = ("scenarios", "topologies", "calibrate/profiles")
DATA_SUFFIXES = (".json", ".csv")
SAME_TIME = (2000, 1, 1, 0, 0, 0)  # the same tree gives the same wheel


def version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(headway VERSION (\S+)", text).group(1)


def built_module(build):
    """The module for this Python, up to date."""
    if build is None:
        build = ROOT / "build" / "wheel"
        subprocess.run(
            ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
             "-DHEADWAY_PYTHON=ON", "-DHEADWAY_TESTS=OFF", "-DHEADWAY_CUDA=OFF",
             f"-DPython_EXECUTABLE={sys.executable}"], check=True)
        subprocess.run(["cmake", "--build", build, "--target", "headway_python"], check=True)
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    module = pathlib.Path(build) / "sim" / "python" / f"_headway{suffix}"
    if not module.is_file():
        raise SystemExit(f"{build} has no module for Python {sysconfig.get_python_version()}: there"
                         f" is no {module}")
    return module


def contents(build):
    """Names in the wheel, and the files that they are made of."""
    yield from ((f"headway/{path.name}", path) for path in sorted((HERE / "headway").glob("*.py")))
    module = built_module(build)
    yield f"headway/{module.name}", module
    for folder in DATA:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in DATA_SUFFIXES:
                yield f"headway/data/{path.relative_to(ROOT).as_posix()}", path


def wheel_tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return f"{python}-{python}-{platform}"


def information_folder():
    return f"headway-{version()}.dist-info"


def information():
    """What an installer reads of the wheel: names, and what stands there."""
    yield "METADATA", (
        f"Metadata-Version: 2.1\nName: headway\nVersion: {version()}\n"
        "Summary: Predicts distributed training before the cluster is bought or booked\n"
        "Requires-Python: >=3.9\nLicense-File: LICENSE\n").encode()
    yield "LICENSE", (ROOT / "LICENSE").read_bytes()
    yield "WHEEL", ("Wheel-Version: 1.0\nGenerator: headway\nRoot-Is-Purelib: false\n"
                    f"Tag: {wheel_tag()}\n").encode()


def write_wheel(folder, build=None):
    wheel = f"headway-{version()}-{wheel_tag()}.whl"
    record = []
    with zipfile.ZipFile(pathlib.Path(folder) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:

        def put(path, content):
            entry = zipfile.ZipInfo(path, SAME_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            record.append(f"{path},sha256={digest.decode()},{len(content)}\n")

        for path, source in contents(build):
            put(path, source.read_bytes())
        for name, content in information():
            put(f"{information_folder()}/{name}", content)
        record.append(f"{information_folder()}/RECORD,,\n")
        archive.writestr(zipfile.ZipInfo(f"{information_folder()}/RECORD", SAME_TIME),
                         "".join(record))
    return wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, (config_settings or {}).get("build"))


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Without it installers build a wheel only to read these files."""
    folder = pathlib.Path(metadata_directory) / information_folder()
    folder.mkdir(parents=True)
    for name, content in information():
        (folder / name).write_bytes(content)
    return folder.name


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    print(write_wheel(*sys.argv[1:]))
