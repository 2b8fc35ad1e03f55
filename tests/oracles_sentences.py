"""What a sentence of `describe` says, read by somebody who sees no automaton: judges words by positions, not by states.

reader = Reader(["coffee and mail in any order, then office", "never plant"])
reader.fulfilled_at(word)       the number of labels after which the task is done for the first time, or None
"""

import re
from itertools import combinations

JOINT = r"(?:[\w ]+?|\"[^\"]*\") (with|without) .+"
COUNTS = {"two": 2, "three": 3, "four": 4}
NAME = r'(?:"[^"]*"|[^,;"]+?)'


class Reader:
    """Reads clauses; a clause that it does not understand raises a ValueError."""

    def __init__(self, clauses):
        self.resets, self.owed, self.bans, self.pairs, self.limits, self.table = [], [], [], [], [], None
        self.in_turn, self.between, self.ends_of_others = False, {}, False
        if clauses[0].startswith("in stage 1,"):
            self.table = [read_stage(one) for one in clauses]
            return
        self.stages = [read_part(text, later) for text, later in split_stages(clauses[0])]
        for clause in clauses[1:]:
            self.read_condition(clause)

    def read_condition(self, clause):
        patterns = {
            r"never (.+) before its turn": self.expect_turn,
            r"never the end of another way": self.expect_one_way,
            rf"after each of (.+), never the next before ({NAME})": lambda p, b: self.expect(p, b, True),
            rf"after each of (.+), the next counts only once ({NAME}) has held": lambda p, b: self.expect(p, b, False),
            rf"({NAME}) starts it all over": lambda p: self.resets.append(plain(p)),
            rf"after ({NAME}), (.+) counts only once ({NAME}) has held": lambda a, _, b: self.owed.append(
                (plain(a), plain(b), ())
            ),
            rf"if ({NAME}) comes before (.+), (.+) counts only once ({NAME}) has held": lambda a, c, _, b: (
                self.owed.append((plain(a), plain(b), read_list(c)))
            ),
            rf"after (the first |)({NAME}), never (.+) until ({NAME})": lambda which, a, p, b: self.ban(p, a, b, which),
            rf"if ({NAME}) comes before (.+), never (.+?)( until {NAME}|)": lambda a, c, p, b: self.ban(
                p, a, b.removeprefix(" until ") or None, read_list(c)
            ),
            rf"never (.+) again until ({NAME})": lambda p, b: self.ban(p, None, b, "again"),
            rf"never (.+) again before ({NAME})": lambda p, b: self.ban(p, None, b, "again before"),
            r"never (.+) more than (twice|three times)": lambda p, times: self.limits.extend(
                (name, {"twice": 2, "three times": 3}[times]) for name in read_list(p)
            ),
            r"never (.+) again": lambda p: self.ban(p, None, None, "again"),
            rf"never (.+) (with|without) ({NAME})": lambda p, how, q: self.pairs.extend(
                (name, how, plain(q)) for name in read_list(p)
            ),
            rf"never (.+) after ({NAME})": lambda p, a: self.ban(p, a, None),
            rf"never (.+) before ({NAME})": lambda p, b: self.ban(p, None, b),
            r"never (.+)": lambda p: self.ban(p, None, None),
        }
        for pattern, act in patterns.items():
            if found := re.fullmatch(pattern, clause):
                act(*found.groups())
                return
        raise ValueError(f"what does this mean: {clause}")

    def ban(self, names, after, until, which=""):
        self.bans += [
            (name, None if after is None else plain(after), None if until is None else plain(until), which)
            for name in read_list(names)
        ]

    def expect(self, names, other, deadly):
        self.between[frozenset(read_list(names))] = plain(other), deadly

    def walk(self, ways, first, word):
        """Where all names of a stage were counted, with another one between two of them; None if nowhere."""
        other, deadly = self.between[frozenset(names_of(ways))]
        counted, last = set(), None
        for i in range(first, len(word)):
            new = sorted(names_of(ways) & word[i] - counted)
            if new and (last is None or any(other in label for label in word[last + 1 : i])):
                counted.add(new[0])
                last = i
            elif new and deadly and other not in word[i]:
                return None
            if any(way <= counted for way in ways):
                return i
        return None

    def expect_one_way(self):
        self.ends_of_others = True

    def expect_turn(self, names):
        ways = self.stages[-1][0]
        last = {way[1] for way in ways} if isinstance(ways[0], tuple) else names_of(ways)
        assert set(read_choice(names)) == last, "only the last stage has a turn"
        self.in_turn = True

    def fulfilled_at(self, word):
        if self.table is not None:
            return self.follow(word)
        joints = {name for ways, *_ in self.stages for name in names_of(ways) if "+" in name}
        word = [label | {one for one in joints if holds_at_once(one, label)} for label in word]
        return next((n for n in range(1, len(word) + 1) if self.is_done(word[:n]) and self.is_kept(word[:n])), None)

    def is_done(self, word):
        begins = 1 + max((i for i, label in enumerate(word) if set(self.resets) & label), default=-1)
        at = begins - 1
        for number, (ways, later, again) in enumerate(self.stages):
            names = names_of(ways)
            first = max(begins, at) if number and not later else at + 1
            if isinstance(ways[0], tuple):
                at = self.take_a_way(ways, first, word)
                if at is None:
                    return False
                continue
            if again:
                ends = [i for i in range(first, len(word)) if not names & word[i]]
                if not ends:
                    return False
                first = ends[0] + 1
            is_last = number == len(self.stages) - 1
            if frozenset(names) in self.between:
                at = self.walk(ways, first, word)
                if at is None:
                    return False
                continue
            at = next(
                (
                    i
                    for i in range(first, len(word))
                    if any(way <= set().union(*word[first : i + 1]) for way in ways)
                    and not (is_last and self.owes(word[: i + 1]))
                    and not (is_last and self.owed and not set(names) & word[i])
                ),
                None,
            )
            if at is None:
                return False
        return True

    def take_a_way(self, ways, first, word):
        """Where the way ends of which the first name came first; None if nowhere, or if the end of another one came."""
        for i in range(first, len(word)):
            for name, end in ways:
                if name in word[i]:
                    found = next((j for j in range(i + 1, len(word)) if end in word[j]), None)
                    others = {other for _, other in ways} - {end}
                    stretch = word[i + 1 : len(word) if found is None else found]
                    is_lost = self.ends_of_others and any(others & label for label in stretch)
                    return None if is_lost else found
        return None

    def owes(self, word):
        """Whether there is an a after which no b came."""
        for a, b, before in self.owed:
            end = next((j for j, label in enumerate(word) if set(before) & label), len(word))
            if any(a in word[i] and not any(b in label for label in word[i + 1 :]) for i in range(end)):
                return True
        return False

    def is_kept(self, word):
        if self.in_turn and any(names_of(self.stages[-1][0]) & label for label in word[:-1]):
            return False  # the word ends when the goal is reached for the first time
        for name, how, other in self.pairs:
            if any(name in label and (other in label) == (how == "with") for label in word):
                return False
        for name, times in self.limits:
            begins = [i for i, label in enumerate(word) if name in label and (i == 0 or name not in word[i - 1])]
            if len(begins) > times:
                return False
        for name, after, until, which in self.bans:
            if which == "again before":
                end = next((i for i, label in enumerate(word) if until in label), len(word))
                if any(self.comes_again(name, None, word[i:end]) for i in range(end) if name in word[i]):
                    return False
                continue
            if which == "again":
                if any(self.comes_again(name, until, word[i:]) for i in range(len(word)) if name in word[i]):
                    return False
                continue
            stretches = [(0, None)]
            if after is not None:
                begins = [i for i, label in enumerate(word) if after in label and until not in label]
                if isinstance(which, list):
                    begins = [i for i in begins if not any(set(which) & label for label in word[: i + 1])]
                stretches = [(i + 1, None) for i in (begins[:1] if which == "the first " else begins)]
            for begin, _ in stretches:
                end = next((i for i in range(begin, len(word)) if until is not None and until in word[i]), len(word))
                if any(name in label for label in word[begin:end]):
                    return False
        return True

    def comes_again(self, name, until, word):
        """Whether a name that holds in the first label ends and comes back, without `until` from the first label on."""
        end = next((i for i, label in enumerate(word) if until is not None and until in label), len(word))
        held = [name in label for label in word[:end]]
        return False in held and True in held[held.index(False) :]

    def follow(self, word):
        stage = 1
        for n, label in enumerate(word, start=1):
            verb = next((verb for holds, verb in self.table[stage - 1] if holds(label)), "changes nothing")
            if verb == "completes it":
                return n
            if verb == "fails":
                return None
            if verb.startswith("leads to"):
                stage = int(verb.split()[-1])
        return None


def split_stages(text):
    """The parts of a goal, and whether each comes strictly later than the one before."""
    parts = re.split(r", (then|and later) ", text)
    return [(part, i > 0 and parts[i - 1] == "and later") for i, part in enumerate(parts) if i % 2 == 0]


def read_part(text, later):
    """Sets of names of which one has to be seen, whether later than what was before, whether it has to end first."""
    if text.startswith("either ") and " and later " in text:
        parts = text.removeprefix("either ").split(", or ")
        return [tuple(map(plain, part.split(" and later "))) for part in parts], later, False
    if text.startswith("either ") and ", or " in text:
        parts = text.removeprefix("either ").split(", or ")
        return [way for part in parts for way in read_part(part, later)[0]], later, False
    if found := re.fullmatch(r"either (.+)", text):
        return [{name} for name in read_choice(found[1])], later, False
    if found := re.fullmatch(r"(\w+) of (.+) in any order", text):
        return [set(some) for some in combinations(read_list(found[2]), COUNTS[found[1]])], later, False
    if found := re.fullmatch(r"(.+) in any order", text):
        return [set(read_list(found[1]))], later, False
    if re.fullmatch(JOINT, text):
        return [{read_joint(text)}], later, False
    if found := re.fullmatch(rf"({NAME}) again", text):
        return [{plain(found[1])}], later, True
    return [{plain(text)}], later, False


def names_of(ways):
    return set().union(*ways)


def holds_at_once(joint, label):
    """Whether a label has all parts of a+b+!c but those after an exclamation mark."""
    return all((part[1:] not in label) if part[0] == "!" else part in label for part in joint.split("+"))


def read_choice(text):
    """The names of `a`, `a or b with c`."""
    if " with" not in text:
        return read_list(text)
    return [read_joint(one) if " with" in one else plain(one) for one in re.split(r", | or ", text)]


def read_joint(text):
    """`a with b and c without d` as one name, a+b+c+!d."""
    text, without, others = text.partition(" without ")
    first, beside, more = text.partition(" with ")
    unwanted = [f"!{name}" for name in read_list(others)] if without else []
    return "+".join([plain(first), *(read_list(more) if beside else []), *unwanted])


def read_list(text):
    """The names of `a`, `a and b`, `a, b or c`."""
    return [plain(one) for one in re.findall(r'"[^"]*"|[^,]+?(?=, | and | or |$)', re.sub(r" (and|or) ", ", ", text))]


def plain(name):
    name = name.strip().removeprefix(", ").strip()
    return name.strip('"')


def read_stage(clause):
    """What a stage does: guards with verbs, the first that holds counts."""
    _, _, text = clause.partition(", ")
    verbs = r"(fails|completes it|changes nothing|leads to stage \d+)"
    parts = [] if text == "nothing helps" else text.split(", else ")
    found = (re.fullmatch(rf"(.+) {verbs}", one).groups() for one in parts)
    return [(read_guard(guard), verb) for guard, verb in found]


def read_guard(text):
    exact = text.startswith("just ")
    text = text.removeprefix("just ")
    wanted, _, unwanted = text.partition("without ") if "without " in text else (text, "", "")
    wanted = wanted.strip()
    true = set() if wanted in ("anything", "") else set(read_list(wanted.replace(" with ", ", ")))
    false = set(read_list(unwanted)) if unwanted else set()
    return lambda label: (set(label) == true if exact else true <= label) and not false & label
