#!/usr/bin/env python3
"""What the compiler made of the device kernels: registers, words in flight, spills.

    sass_facts.py NVCC SOURCE_FOLDER ARCHITECTURE...

Compiles kernels/device_kernels.cu for each architecture (80 90 100) and reads the machine code itself,
so that no disassembler is needed. Prints a line a kernel, and ends with 1 where one spills, where a
streaming kernel does not load 16 bytes at a time, or where what its threads ask for before they use
any of it is less than the memory needs (kernels/elementwise_kernels.cuh).

Instructions have 16 bytes. Of the lower eight the low twelve bits are the operation, of the upper the
bits 9 to 11 the width of an access. Which is which is checked: every kernel must load and store.
"""

import os
import struct
import subprocess
import sys
import tempfile

LOAD, STORE, LOCAL_LOAD, LOCAL_STORE = 0x981, 0x986, 0x983, 0x387
WIDTHS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 8, 6: 16}  # bytes
REGISTERS = 65536  # of a multiprocessor

# Threads of a multiprocessor, and the bytes that must be in flight there: those of the header that
# derives them, for the fastest memory of each architecture.
MACHINES = {80: (2048, 16 << 10), 90: (2048, 48 << 10), 100: (2048, 70 << 10)}

# Threads of a block of those that stream: elementwise_kernels.cuh and row_kernels.cuh.
STREAMING = {
    "residual_add": 256, "gelu": 256, "gelu_backward": 256, "swiglu": 256, "sparsify": 256,
    "embedding_gather": 256, "adam": 256, "layer_norm": 128, "rms_norm": 128, "softmax": 128,
    "layer_norm_backward": 128, "softmax_backward": 128, "quantise": 128,
}


def text_at(cubin, at):
    return cubin[at:cubin.index(b"\0", at)].decode()


def register_counts(cubin, info, symbols, strings):
    """By kernel: ".nv.info" is a list of attributes, 0x2f of format 4 tells a symbol's registers."""
    counts, at, end = {}, info[4], info[4] + info[5]
    while at < end:
        form, attribute, size = struct.unpack_from("<BBH", cubin, at)
        if (form, attribute) == (4, 0x2F):
            symbol, registers = struct.unpack_from("<II", cubin, at + 4)
            (name,) = struct.unpack_from("<I", cubin, symbols[4] + 24 * symbol)
            counts[text_at(cubin, strings[4] + name)] = registers
        at += 4 + (size if form == 4 else 0)
    return counts


def sections(cubin):
    """Name, registers and code of each kernel of an ELF file of 64 bits."""
    (offset,) = struct.unpack_from("<Q", cubin, 40)
    size, count, names = struct.unpack_from("<HHH", cubin, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, offset + i * size) for i in range(count)]
    named = {text_at(cubin, headers[names][4] + header[0]): header for header in headers}
    registers = register_counts(cubin, named[".nv.info"], named[".symtab"], named[".strtab"])
    for name, header in named.items():
        if name.startswith(".text."):
            yield name[6:], registers[name[6:]], cubin[header[4]:header[4] + header[5]]


def plain_name(mangled):
    """The last name of _ZN7headway6device10layer_normE...: parts with their lengths before them."""
    at, part = mangled.index("N") + 1, mangled
    while at < len(mangled) and mangled[at].isdigit():
        end = at
        while mangled[end].isdigit():
            end += 1
        length = int(mangled[at:end])
        part, at = mangled[end:end + length], end + length
    return part


def facts(code):
    """Loads before the first store, by width; whether anything is spilt."""
    widths, stores, spills = [], 0, 0
    for at in range(0, len(code), 16):
        low, high = struct.unpack_from("<QQ", code, at)
        operation = low & 0xFFF
        if operation == LOAD and stores == 0:
            widths.append(WIDTHS.get(high >> 9 & 7, 0))
        stores += operation == STORE
        spills += operation in (LOCAL_LOAD, LOCAL_STORE)
    return widths, stores, spills


def main():
    nvcc, source, architectures = sys.argv[1], sys.argv[2], [int(a) for a in sys.argv[3:]]
    problems = []
    for architecture in architectures:
        most_threads, needed = MACHINES[architecture]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kernels.cubin")
            subprocess.run([nvcc, "-std=c++20", "-O3", f"-I{source}", "-cubin",
                            f"-arch=sm_{architecture}", "-o", path,
                            f"{source}/kernels/device_kernels.cu"], check=True)
            with open(path, "rb") as file:
                cubin = file.read()
        print(f"sm_{architecture}: {needed >> 10} KiB must be in flight on a multiprocessor")
        seen = set()
        for mangled, registers, code in sorted(sections(cubin)):
            name = plain_name(mangled)
            widths, stores, spills = facts(code)
            of_block = STREAMING.get(name, 0)
            line = f"  {name:<20} {registers:3} registers, {len(widths)} loads first"
            if spills > 0:
                problems.append(f"sm_{architecture} {name}: {spills} accesses to spilt registers")
            if of_block > 0:
                seen.add(name)
                rounded = (registers + 7) // 8 * 8  # as they are handed out
                blocks = min(REGISTERS // (rounded * of_block), most_threads // of_block)
                wide = sum(width for width in widths if width == 16)
                flying = wide * blocks * of_block
                line += f", {wide} bytes a thread, {flying >> 10} KiB in flight"
                if stores == 0 or wide == 0:
                    problems.append(f"sm_{architecture} {name}: no words of 16 bytes were found")
                elif flying < needed:
                    problems.append(f"sm_{architecture} {name}: {flying >> 10} KiB in flight")
            print(line + (f", {spills} SPILLS" if spills else ""))
        for name in sorted(set(STREAMING) - seen):
            problems.append(f"sm_{architecture}: no kernel {name}")
    for problem in problems:
        print("problem: " + problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
