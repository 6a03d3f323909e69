"""Rules: which function has which partials, and functions of one's own that take handles.

A table says what is known of each function: a `Rule` with its partials, a `Derivation` that is a
few lines of NumPy, a `Constant` without derivative, or why a function is `Refused`. `add_rules`
adds it. The functions are ufuncs, those that answer NEP 18, and one's own that are `overridable`.
"""

from tape_ad.base.arrays.overridable import declined as declined
from tape_ad.base.arrays.overridable import overridable as overridable
from tape_ad.base.arrays.overridable import takes_over as takes_over
from tape_ad.rules import RULES as RULES
from tape_ad.rules import add_rules as add_rules
from tape_ad.rules import call_signature as call_signature
from tape_ad.rules import facts_of as facts_of
from tape_ad.rules.base import NO_VALUE as NO_VALUE
from tape_ad.rules.base import Call as Call
from tape_ad.rules.base import Constant as Constant
from tape_ad.rules.base import Derivation as Derivation
from tape_ad.rules.base import Entry as Entry
from tape_ad.rules.base import Filled as Filled
from tape_ad.rules.base import Maker as Maker
from tape_ad.rules.base import Makers as Makers
from tape_ad.rules.base import Refused as Refused
from tape_ad.rules.base import Rule as Rule
from tape_ad.rules.base import Signature as Signature
from tape_ad.rules.base import add_facts as add_facts
from tape_ad.rules.base import arguments_of as arguments_of
from tape_ad.rules.base import constants as constants
from tape_ad.rules.base import each as each
from tape_ad.rules.base import jointly as jointly
from tape_ad.rules.base import merged as merged
from tape_ad.rules.base import outputs as outputs
from tape_ad.rules.base import quiet as quiet
from tape_ad.rules.base import refuse as refuse
from tape_ad.rules.base import rule as rule
from tape_ad.rules.base import stated as stated
