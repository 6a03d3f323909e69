"""Rules: which function has which partials, and functions of one's own that take handles.

A table says what is known of each function: a `Rule` with its partials, a `Derivation` that is a
few lines of NumPy, a `Constant` without derivative, or why a function is `Refused`. `add_rules`
adds it. The functions are ufuncs, those that answer NEP 18, and one's own that are `overridable`.
"""

from tape_ad.base.arrays.overridable import declined, overridable, takes_over
from tape_ad.rules import RULES, add_rules, call_signature, facts_of
from tape_ad.rules.base import (
    NO_VALUE,
    Call,
    Constant,
    Derivation,
    Entry,
    Filled,
    Maker,
    Makers,
    Refused,
    Rule,
    Signature,
    add_facts,
    arguments_of,
    constants,
    each,
    jointly,
    merged,
    outputs,
    quiet,
    refuse,
    rule,
    stated,
)

__all__ = [
    "NO_VALUE",
    "RULES",
    "Call",
    "Constant",
    "Derivation",
    "Entry",
    "Filled",
    "Maker",
    "Makers",
    "Refused",
    "Rule",
    "Signature",
    "add_facts",
    "add_rules",
    "arguments_of",
    "call_signature",
    "constants",
    "declined",
    "each",
    "facts_of",
    "jointly",
    "merged",
    "outputs",
    "overridable",
    "quiet",
    "refuse",
    "rule",
    "stated",
    "takes_over",
]
