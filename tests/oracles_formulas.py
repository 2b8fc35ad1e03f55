"""A sentence about a task, written down as LTLf by somebody who has the sentence and the meaning of its words alone.

    formula_of("coffee, then office; never plant")      F (coffee & F (office)) & G !plant

The words are those of docs/learning-the-rule.md. A word of labels is right as soon as it fulfils the formula. No code
is shared with `oracles_sentences`, which judges words instead.
"""

import re
from itertools import permutations

NUMBERS = {"two": 2, "three": 3, "four": 4}


def formula_of(sentence):
    goal, *conditions = split_outside_quotes(sentence, "; ")
    steps = [read_step(one, join) for join, one in read_joins(goal)]
    last = step_names(steps[-1])
    resets = [name_of(one.removesuffix(" starts it all over")) for one in conditions if one.endswith("all over")]
    owed = [one for one in conditions if " counts only once " in one]
    end = " & last" if owed else ""
    between = dict(map(read_between, (one for one in conditions if one.startswith("after each of "))))
    done = chain(steps, end, between, "never the end of another way" in conditions)
    if resets:
        calm = f"G !({' | '.join(resets)})"
        done = f"(({calm} & {done}) | F (({' | '.join(resets)}) & X[!] ({calm} & {done})))"
    marks = ("after each of ", "never the end of another way")
    others = (one for one in conditions if not one.endswith("all over") and not one.startswith(marks))
    kept = [read_condition(one, last) for one in others]
    return " & ".join([done, *kept])


def read_joins(goal):
    """The steps of a goal, each with what stands before it."""
    parts = split_outside_quotes(goal, ", then ", ", and later ", keep=True)
    return [("", parts[0]), *zip(parts[1::2], parts[2::2], strict=True)]


def read_step(text, join):
    """Alternatives, each a sequence of propositions; whether the step comes later; whether something ends first."""
    later = "later" in join
    if text.endswith(" again"):
        return [[name_of(text.removesuffix(" again"))]], later, True
    if text.startswith("either ") and " and later " in text:
        ways = split_outside_quotes(text.removeprefix("either "), ", or ")
        return [tuple(map(joint_of, split_outside_quotes(one, " and later "))) for one in ways], later, False
    if text.startswith("either ") and ", or " in text:
        parts = split_outside_quotes(text.removeprefix("either "), ", or ")
        return [names for part in parts for names in read_step(part, join)[0]], later, False
    if text.startswith("either "):
        return [[one] for one in names_of(text.removeprefix("either "), "or")], later, False
    if text.endswith(" in any order"):
        text = text.removesuffix(" in any order")
        number, of, some = text.partition(" of ")
        names = names_of(some if of else text, "and")
        return [list(one) for one in permutations(names, NUMBERS[number] if of else len(names))], later, False
    return [[joint_of(text)]], later, False


def step_names(step):
    return sorted({name for one in step[0] for name in (one[-1:] if isinstance(one, tuple) else one)})


def read_between(text):
    """The names of a step, what holds between two of them, and whether the next must not hold before."""
    found = re.fullmatch(
        r"after each of (.+), (?:never the next before (.+)|the next counts only once (.+) has held)", text
    )
    return frozenset(names_of(found[1], "and")), (name_of(found[2] or found[3]), found[2] is not None)


def in_turn(names, other, deadly, rest):
    """The name that comes first counts, then the other one is awaited, and then the first of those that are left."""
    texts = []
    for i, name in enumerate(names):
        left = [*names[:i], *names[i + 1 :]]
        after = rest
        if left:
            early = f" & !({' | '.join(left)})" if deadly else ""
            after = f" & X[!] ((!{other}{early}) U ({other} & X[!] {in_turn(left, other, deadly, rest)}))"
        alone = "".join(f" & !{one}" for one in names[:i])  # of two at once the first counts
        texts.append(f"({name}{alone}{after})")
    return f"((!({' | '.join(names)})) U ({' | '.join(texts)}))"


def one_way(ways, deadly, rest):
    """The way whose first name comes first is taken to its end; ends of other ways may be forbidden meanwhile."""
    texts = []
    for i, (name, last) in enumerate(ways):
        alone = "".join(f" & !{one}" for one, _ in ways[:i])
        others = "".join(f" & !{one}" for _, one in ways if one != last) if deadly else ""
        texts.append(f"({name}{alone} & X[!] ((true{others}) U ({last}{rest})))")
    return f"((!({' | '.join(name for name, _ in ways)})) U ({' | '.join(texts)}))"


def chain(steps, end, between, deadly):
    """The steps one after the other, from here on."""
    (alternatives, _, again), *others = steps
    rest = ""
    if others:
        rest = f" & {'X[!] ' if others[0][1] else ''}{chain(others, end, between, deadly)}"
    if (found := between.get(frozenset(step_names(steps[0])))) is not None:
        return in_turn(step_names(steps[0]), *found, rest or end)
    if isinstance(alternatives[0], tuple):
        return one_way(alternatives, deadly, rest or end)
    texts = []
    for names in alternatives:
        text = f"F ({names[-1]}{rest or end})"
        for name in reversed(names[:-1]):
            text = f"F ({name} & {text})"
        texts.append(f"F (!{names[0]} & {text})" if again else text)
    return f"({' | '.join(texts)})"


def read_condition(text, last):
    if found := re.fullmatch(r"after (.+), (.+) counts only once (.+) has held", text):
        return f"G ({name_of(found[1])} -> X[!] F {name_of(found[3])})"
    if found := re.fullmatch(r"if (.+) comes before (.+), (.+) counts only once (.+) has held", text):
        others = " | ".join(names_of(found[2], "or"))
        return f"(({name_of(found[1])} & !({others}) -> X[!] F {name_of(found[4])}) W ({others}))"
    if found := re.fullmatch(r"if (.+) comes before (.+), never (.+?)(?: until (.+)|)", text):
        others, after = " | ".join(names_of(found[2], "or")), name_of(found[1])
        until = f" W {name_of(found[4])}" if found[4] else ""
        return every(
            found[3],
            lambda p: f"(({after} & !({others}) -> WX {f'(!{p}{until})' if until else f'G !{p}'}) W ({others}))",
        )
    if text.endswith(" before its turn"):
        return f"G (({' | '.join(last)}) -> last)"
    if found := re.fullmatch(r"after (the first |)(.+), never (.+) until (.+)", text):
        which, after, until = found[1].strip(), name_of(found[2]), name_of(found[4])
        return every(found[3], lambda p: since(which, after, f"(!{p} W {until})"))
    if found := re.fullmatch(r"never (.+) again until (.+)", text):
        until = name_of(found[2])
        back = "(!{u} U ({p} & !{u}))"
        return every(
            found[1], lambda p: f"!F ({p} & !{until} & (!{until} U (!{p} & !{until} & {back.format(u=until, p=p)})))"
        )
    if found := re.fullmatch(r"never (.+) again before (.+)", text):
        until = name_of(found[2])
        back = f"!{until} U (!{until} & "
        return every(found[1], lambda p: f"!({back}{p} & ({back}!{p} & ({back}{p}))))))")
    if found := re.fullmatch(r"never (.+) more than (twice|three times)", text):
        times = {"twice": 2, "three times": 3}[found[2]]
        return every(found[1], lambda p: "!F (" + f"{p} & F (!{p} & F (" * times + p + "))" * times + ")")
    if text.endswith(" again"):
        return every(text.removesuffix(" again").removeprefix("never "), lambda p: f"!F ({p} & F (!{p} & F {p}))")
    if found := re.fullmatch(r"never (.+) (with|without) (.+)", text):
        beside = ("" if found[2] == "with" else "!") + name_of(found[3])
        return every(found[1], lambda p: f"G !({p} & {beside})")
    if found := re.fullmatch(r"never (.+) after (.+)", text):
        return every(found[1], lambda p: since("", name_of(found[2]), f"G !{p}"))
    if found := re.fullmatch(r"never (.+) before (.+)", text):
        return every(found[1], lambda p: f"(!{p} W {name_of(found[2])})")
    if found := re.fullmatch(r"never (.+)", text):
        return every(found[1], lambda p: f"G !{p}")
    raise ValueError(f"what does this mean: {text}")


def since(which, after, then):
    """What holds from the next label on: after each a, or after the first one."""
    return f"(!{after} W ({after} & WX {then}))" if which == "the first" else f"G ({after} -> WX {then})"


def every(names, condition):
    return " & ".join(condition(name) for name in names_of(names, "or"))


def names_of(text, word):
    return [joint_of(one) for one in split_outside_quotes(text, ", ", f" {word} ")]


def joint_of(text):
    """`a`, or `a with b and c without d`, all of which hold at once, and d does not."""
    text, without, unwanted = text.strip("()").partition(" without ")
    first, beside, others = text.partition(" with ")
    wanted = [name_of(first), *(names_of(others, "and") if beside else [])]
    absent = [f"!{name}" for name in names_of(unwanted, "or")] if without else []
    return f"({' & '.join([*wanted, *absent])})" if beside or without else name_of(first)


def name_of(text):
    return f'"{text.strip(chr(34))}"'


def split_outside_quotes(text, *marks, keep=False):
    """The parts between marks; marks within quotation marks and brackets are none."""
    pattern = "|".join(map(re.escape, marks))
    found = [one for one in re.finditer(pattern, text) if is_outside(text[: one.start()])]
    parts, begin = [], 0
    for one in found:
        parts += [text[begin : one.start()], *([one.group()] if keep else [])]
        begin = one.end()
    return [*parts, text[begin:]]


def is_outside(before):
    return before.count('"') % 2 == 0 and before.count("(") == before.count(")")
