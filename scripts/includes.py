#!/usr/bin/env python3
"""Checks that our sources include the standard headers that they need.

  scripts/includes.py

A name of namespace std needs a header that declares it. The file itself or a header of this
repository that it includes must include that header; indirect includes through the standard library
or other libraries do not count, because they vary between versions. Prints each missing header once
per file, and each name that is missing from the table below.
"""
import functools
import pathlib
import re
import sys

import layers

# Header: the names that it declares, as far as we use them. Words ending in '*' are prefixes.
NAMES = {
    "algorithm": "adjacent_find all_of any_of binary_search clamp copy copy_if copy_n count count_if "
                 "equal fill fill_n find find_if find_if_not for_each includes inplace_merge is_sorted lower_bound "
                 "max max_element min min_element minmax minmax_element next_permutation none_of nth_element remove "
                 "remove_if replace replace_if reverse rotate set_union sort stable_partition stable_sort "
                 "transform unique upper_bound",
    "array": "array get tuple_size",
    "atomic": "atomic atomic_thread_fence memory_order*",
    "cctype": "isalnum isalpha isdigit tolower toupper",
    "charconv": "chars_format from_chars to_chars",
    "chrono": "chrono* chrono_literals",
    "cmath": "abs acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh erf erfc exp exp2 expm1 "
             "fabs floor fma fmax fmin fmod frexp hypot ilogb isfinite isinf isnan ldexp llround log "
             "log10 log2 lround nan nearbyint nextafter pow round signbit sin sinh sqrt tan tanh",
    "complex": "complex conj",
    "condition_variable": "condition_variable",
    "csignal": "signal",
    "cstddef": "nullptr_t ptrdiff_t size_t",
    "cstdint": "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t",
    "cstdio": "FILE fclose fflush fopen fprintf freopen fwrite printf remove rename size_t snprintf",
    "cstdlib": "_Exit abort abs aligned_alloc atoi exit free getenv realloc size_t strtod",
    "cstring": "memchr memcmp memcpy memmove memset size_t strchr strcmp strerror strlen",
    "ctime": "clock clock_t size_t strftime time time_t tm",
    "exception": "current_exception exception exception_ptr make_exception_ptr rethrow_exception uncaught_exceptions",
    "filesystem": "filesystem*",
    "fstream": "ifstream ofstream",
    "functional": "cref function greater hash invoke multiplies negate ref",
    "future": "async future launch",
    "iomanip": "setfill setprecision setw",
    "ios": "defaultfloat fixed ios* left right scientific streamsize",
    "iostream": "cerr cin cout",
    "istream": "istream",
    "iterator": "back_inserter begin distance end istreambuf_iterator next prev size",
    "limits": "numeric_limits",
    "map": "map multimap",
    "memory": "allocator enable_shared_from_this make_shared make_unique shared_ptr "
              "static_pointer_cast unique_ptr",
    "mutex": "lock_guard mutex unique_lock",
    "new": "bad_alloc nothrow",
    "numeric": "accumulate adjacent_difference inner_product iota partial_sum",
    "optional": "nullopt optional",
    "queue": "priority_queue queue",
    "ostream": "endl flush ostream",
    "random": "mt19937 mt19937_64 uniform_int_distribution uniform_real_distribution",
    "ratio": "nano",
    "regex": "regex* smatch",
    "set": "set",
    "sstream": "istringstream ostringstream stringstream",
    "stdexcept": "invalid_argument length_error logic_error out_of_range runtime_error",
    "streambuf": "streambuf",
    "string": "getline stod stoi stol stoll stoul stoull string to_string",
    "string_view": "string_view",
    "system_error": "errc error_code generic_category system_error",
    "thread": "this_thread* thread",
    "tuple": "apply forward_as_tuple get make_tuple tie tuple tuple_cat tuple_element_t tuple_size",
    "type_traits": "bool_constant conditional_t decay_t enable_if_t false_type integral_constant "
                   "is_arithmetic_v is_constructible_v is_empty is_empty_v is_invocable_v is_pointer_v is_same_v "
                   "is_trivially_copyable_v remove_pointer_t true_type void_t",
    "typeindex": "type_index",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "utility": "exchange forward get in_place index_sequence make_index_sequence make_pair move pair "
               "piecewise_construct swap",
    "variant": "get get_if holds_alternative variant visit",
    "vector": "vector",
}
# INCLUDED_BY: for each header, headers that it must include, because its classes use theirs.
STREAMS = {"ios", "istream", "ostream", "streambuf"}
INCLUDED_BY = {"iostream": STREAMS, "sstream": STREAMS, "fstream": STREAMS, "ostream": {"ios"},
               "istream": {"ios"}, "future": {"thread", "exception"}, "filesystem": {"system_error"},
               **{container: {"iterator", "cstddef"}
                  for container in ("array", "map", "set", "string", "string_view", "unordered_map",
                                    "unordered_set", "vector")}}
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)


@functools.lru_cache(None)
def headers_of(name):
    """Returns the headers that declare std::@p name, best first."""
    return [header for header, names in NAMES.items()
            if any(re.fullmatch(word.replace("*", ".*"), name) for word in names.split())]


@functools.lru_cache(None)
def reached_from(path):
    """Returns the headers of libraries that @p path includes directly or through our headers."""
    found, seen, waiting = set(), {path}, [path]
    while waiting:
        here = waiting.pop()
        for _, name in layers.includes_of(here):
            other = next((other for other in (pathlib.Path(name), here.parent / name)
                          if (layers.ROOT / other).is_file()), None)
            if other is None:
                found |= {name} | INCLUDED_BY.get(name, set())
            elif other not in seen:
                seen.add(other)
                waiting.append(other)
    return found


def missing(path):
    """Returns {missing header: (number of the first line that needs it, the name used there)}."""
    text = (layers.ROOT / path).read_text(encoding="utf-8")
    code = NOT_CODE.sub(lambda match: "\n" * match[0].count("\n") or " ", text)
    needed = {}
    for number, line in enumerate(code.splitlines(), 1):
        for name in re.findall(r"\bstd::(\w+)", line):
            headers = headers_of(name)
            if not headers:
                needed.setdefault("?", (number, name))
            elif not reached_from(path).intersection(headers):
                needed.setdefault(headers[0], (number, name))
    return needed


def main():
    if len(sys.argv) > 1:
        print(__doc__.strip())
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    sources = [path for path in layers.our_files() if path.suffix in layers.SOURCES]
    findings = []
    for path in sources:
        for header, (number, name) in missing(path).items():
            findings.append(f"{path}:{number}: std::{name} is not in the table of scripts/includes.py; add it" if header == "?" else
                            f"{path}:{number}: std::{name} needs #include <{header}>")
    print(*findings, f"{len(sources)} sources, {len(findings)} findings", sep="\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
