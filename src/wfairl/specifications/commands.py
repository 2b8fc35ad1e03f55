"""Commands that show, exchange, compare and weigh task models: draw, export, import, diff, explain, evidence."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table

from wfairl.cli.console import tell
from wfairl.cli.options import AsJson, Jobs, TaskModelFile
from wfairl.cli.plan import model_and_cost
from wfairl.core.automata.automaton import Automaton
from wfairl.core.automata.finite import NoAcceptedWordError
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import format_word, sort_labels
from wfairl.core.planning.plan import UnsatisfiableTaskError, find_plan
from wfairl.core.planning.product import build_product
from wfairl.core.rational.rational_learner import RationalLearner
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import write_atomically
from wfairl.events.learned_rule import learned_rule_of
from wfairl.events.scored_words import parse_word
from wfairl.pages.text import counted
from wfairl.runs.data_sets import load
from wfairl.runs.task_registry import find_task
from wfairl.specifications.comparison import AutomataComparison, compare_automata
from wfairl.specifications.explanation import explain_word
from wfairl.specifications.formats import DRAWINGS, FORMATS, find_format, read_automaton
from wfairl.specifications.formats.ltlf import from_ltlf
from wfairl.specifications.formats.rule_sentences import rule_to_ltlf, to_declare
from wfairl.specifications.prism import to_prism
from wfairl.specifications.rule_evidence import weigh_rules
from wfairl.specifications.symbolic import reads_repeats_once


def draw_command(
    task_model: TaskModelFile,
    output: Annotated[Path, typer.Option("-o", "--output", help="A .svg, .png, .dot or .hoa file.")] = Path("task.svg"),
    as_json: AsJson = False,
) -> None:
    """Draw the automaton of a task model.

    The suffix of the output is the format: .svg or .png for an image (without Graphviz), .dot for Graphviz, .hoa for
    tools that read the Hanoi format. `wfairl export` writes more formats.

    A repeated label is read once; the self-loops for this are not drawn. If the automaton of a rule in sentences does
    not fit on a screen, the picture has the sentences. Example:

        wfairl draw task.json -o task.svg
    """
    export(task_model, find_format(None, output, lambda one: one.name in DRAWINGS).name, output, as_json=as_json)


PRISM, DECLARE = "prism", "declare"
NOT_OF_AN_AUTOMATON = {".prism": PRISM, ".pm": PRISM, ".nm": PRISM, ".decl": DECLARE}
"""The formats of a scene or of a rule, by suffix."""


def export(
    task_model: TaskModelFile,
    name: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="FORMAT",
            help="Format to write: hoa, ltlf, reward-machine, prism, python, declare, pnml, dot, svg, png.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file to write. Default: standard output.")
    ] = None,
    task: Annotated[str | None, typer.Option(metavar="TASK", help="For prism: the task of the scene.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="For prism: the scene.")] = 0,
    cost: Annotated[
        Path | None, typer.Option(metavar="RUN", help="For prism: the run whose learned cost to use. Default: cost 1.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write the automaton of a task model for other tools.

    --as is the format: hoa (Spot, Owl), ltlf (a formula of temporal logic over finite words, which is checked against
    the automaton before it is written), reward-machine (for reinforcement learning), python (a module without
    dependencies), pnml (a Petri net), declare (the sentences of a rule learned from an event log, for process mining),
    dot, svg, png. Without --as, the suffix of the output decides: .hoa, .ltlf, .rm, .py, .pnml, .decl, .dot, .svg,
    .png, .prism. Without an output, the text goes to standard output. Example:

        wfairl export task.json --as ltlf

    prism writes the product of the task and one scene, with control costs as rewards, for PRISM and Storm. Example:

        wfairl export task.json --task doorkey --seed 7 -o doorkey-7.prism
    """
    if name is None and output is None:
        raise BadInputError("the format is missing: give it with --as, or as the suffix of a file with -o")
    if as_json and output is None:
        raise BadInputError("--json needs -o: without it, the exported text itself goes to standard output")
    kind = NOT_OF_AN_AUTOMATON.get(output.suffix.lower()) if name is None and output is not None else name
    if kind != PRISM and (task is not None or cost is not None):
        raise BadInputError("--task and --cost are for the format prism; leave them out, or add --as prism")
    kind = kind if kind in (PRISM, DECLARE) else find_format(name, output).name
    model = TaskModel.load(task_model)
    content, facts = _prism(model, task, seed, cost) if kind == PRISM else _written(model, kind)
    if output is not None:
        write_atomically(output, content)
        known = {key.replace("_", " "): value for key, value in facts.items() if value is not None}
        summary = [f"{value} {key}" if isinstance(value, int) else f"{key} {value}" for key, value in known.items()]
        tell({"path": str(output), **facts}, [f"{output}: {', '.join(summary)}"], as_json)
    elif isinstance(content, bytes):
        raise BadInputError("an image cannot be printed: name a file with -o")
    else:
        sys.stdout.write(content)


def _written(model: TaskModel, kind: str) -> tuple[str | bytes, dict[str, object]]:
    """A task model in a format, and what is in it: the sentences of a rule where they say more, else the automaton."""
    rule, automaton = learned_rule_of(model), model.finite
    if kind == DECLARE and rule is None:
        raise BadInputError("declare is for rules learned from event logs, which are sentences")
    if rule is not None and (kind == DECLARE or (kind == "ltlf" and rule.constraints)):
        left_out = sum(not one.constraint.is_finite for one in rule.constraints)
        content = to_declare(rule) if kind == DECLARE else rule_to_ltlf(rule)
        return content, {"sentences": len(rule.constraints) - left_out, "left_out": left_out}
    facts: dict[str, object] = {"format": kind, "states": automaton.states}
    is_too_large = rule is not None and (automaton.states > 8 or rule.in_automaton == 0)  # for a screen
    if rule is not None and rule.constraints and kind in ("svg", "png") and is_too_large:
        from wfairl.pages.automata.figures import sentences_picture  # here, because it is slow to import

        return sentences_picture(rule.sentences, kind), {**facts, "sentences": len(rule.constraints)}
    return FORMATS[kind].write(automaton, model.edge_counts), {**facts, "edges": len(automaton.arrows())}


def _prism(model: TaskModel, task: str | None, seed: int, run: Path | None) -> tuple[str, dict[str, object]]:
    """The PRISM model of a task in a scene, and its size and optimal cost."""
    if task is None:
        raise BadInputError("the format prism needs a scene: give its task with --task and its number with --seed")
    _, transition_cost = model_and_cost(find_task(task), None, run)
    product = build_product(find_task(task).make_world(seed), model.finite)
    costs = transition_cost(product)
    facts: dict[str, object] = {"format": PRISM, "states": model.finite.states, "product_states": len(product)}
    try:
        plan = find_plan(product, costs)
        facts |= {"optimal_cost": plan.cost} | ({} if product.chances is None else {"success": plan.success})
    except UnsatisfiableTaskError:
        facts["optimal_cost"] = None
    return to_prism(product, costs, f"task {task}, seed {seed}"), facts


def import_task(
    source: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="The file to read.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="The task model to write. Default: task.json, unless it exists."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="The format: hoa, ltlf or reward-machine.")
    ] = None,
    formula: Annotated[str | None, typer.Option("--ltlf", metavar="FORMULA", help="A formula instead of FILE.")] = None,
    as_json: AsJson = False,
) -> None:
    """Read a task written by hand or by another tool: HOA, LTLf, or a reward machine.

    The suffix is the format (.hoa, .ltlf, .rm), unless --from gives it; a formula may be given directly. All commands
    that take a task model accept the result. Examples:

        wfairl import spec.hoa -o task.json

        wfairl import --ltlf "F (coffee & F office) & G !plant" -o task.json

    A formula is over finite words, with one position per step: ! & | -> <-> as usual, X[!] (strong next), WX (weak
    next), F, G, U, R, W, M.
    """
    if (source is None) == (formula is None):
        raise BadInputError("give either a file or a formula with --ltlf")
    if output is None:
        output = Path("task.json")
        if output.exists():
            raise BadInputError(f"{output} exists already: name another file with -o, or this one to replace it")
    try:
        automaton = from_ltlf(formula or "") if source is None else read_automaton(source, name)
    except NoAcceptedWordError as error:
        raise BadInputError(str(error)) from None
    TaskModel.of_automaton(automaton, "imported", stated=() if formula is None else (formula,)).save(output)
    names, counts_steps = sorted(automaton.propositions), not reads_repeats_once(automaton)
    lines = [f"{output}: {counted(automaton.states, 'state')} over {', '.join(names) or 'nothing'}"]
    if counts_steps:
        lines.append("it counts repeated labels: its verdict depends on how long a label lasts")
    if automaton.accepting[0]:
        lines.append("it accepts the empty word: a planner has nothing to do")
    document = {"path": str(output), "states": automaton.states, "propositions": names, "counts_steps": counts_steps}
    tell(document, lines, as_json)


def diff(
    one: Annotated[Path, typer.Argument(metavar="TASK_MODEL", help="A task model.")],
    other: Annotated[Path, typer.Argument(metavar="TASK_MODEL", help="Another one.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="A .svg or .png file.")] = None,
    most: Annotated[int, typer.Option("--words", min=1, help="Largest number of words to show.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Compare two task models: the shortest words that one accepts and the other rejects.

    The words consist of labels that the models were learned from, if such words differ. With -o, both automata are
    drawn side by side (.svg or .png), with the path of the first word marked in each. The exit code is 0 if the models
    accept the same words, else 1. Example:

        wfairl diff old.json new.json -o difference.svg
    """
    if output is not None:
        find_format(None, output, lambda form: form.name in ("svg", "png"))
    models = TaskModel.load(one), TaskModel.load(other)
    known = sort_labels({label for model in models for label in model.labels_seen})
    found = compare_automata((str(one), str(other)), (models[0].finite, models[1].finite), known, most)
    if output is not None:
        from wfairl.pages.automata.figures import draw_side_by_side
        from wfairl.pages.style import print_figure  # here, because they are slow to import

        drawn = draw_side_by_side(found.names, found.automata, next(iter(found.words), ()), found.texts)
        write_atomically(output, print_figure(drawn, output.suffix[1:].lower(), dots_per_inch=144))
    words = [{"word": [sorted(label) for label in word], "verdicts": found.verdicts(word)} for word in found.words]
    document = {"same": not words, "same_plans": found.same_plans, "words": words, "known_labels": found.known_labels}
    tell(document, _difference(found, bool(known), output) if words else ["they accept the same words"], as_json)
    if words:
        raise typer.Exit(1)


def _difference(found: AutomataComparison, has_known: bool, output: Path | None) -> Iterator[RenderableType]:
    table = Table("word", *found.names)
    for word in found.words:
        table.add_row(format_word(word), *found.verdicts(word))
    yield table
    if has_known and not found.known_labels:
        yield "the models agree on all words of labels that they were learned from; these labels may never occur"
    if found.same_plans:
        yield "a planner, which stops when the task is fulfilled, sees no difference"
    if output is not None:
        yield f"wrote {output}"


def explain(
    task_model: TaskModelFile,
    word: Annotated[str, typer.Argument(metavar="WORD", help="Comma-separated labels.")],
    as_json: AsJson = False,
) -> None:
    """Explain in sentences how a task model judges a word: what each label did, what is missing, where it was lost.

    WORD is written as other commands print it, '-, key, door & key', or as JSON, [[], "key", ["door", "key"]]. The
    first sentence names propositions that the task model does not know. Example:

        wfairl explain task.json "-, key, goal"
    """
    explanation = explain_word(TaskModel.load(task_model), parse_word(word))
    document = {
        "accepted": explanation.accepted,
        "labels": [
            {"label": sorted(one.label), "state": one.state, "after": one.after, "untested": one.is_untested}
            for one in explanation.labels
        ],
        "sentences": explanation.sentences,
        "unknown_propositions": explanation.unknown.names,
    }
    tell(document, explanation.sentences, as_json)


MOST_NUMBERS_SHOWN = 5
LEARNED = "learned"
"""Name of the rule that `evidence` learns from the demonstrations."""


def evidence(
    demos: Annotated[Path, typer.Argument(metavar="DEMOS", help="Demonstrations, from `wfairl demos`.")],
    rules: Annotated[
        list[str], typer.Argument(metavar="RULE...", help="A task model, another file of a rule, or an LTLf formula.")
    ],
    jobs: Jobs = 2,
    as_json: AsJson = False,
) -> None:
    """Compare your own rules with the learned one: how rational do the demonstrators look if a rule is the task?

    A rule is a task model, a file that `wfairl import` reads, or a formula. The command learns a rule from the same
    demonstrations, and says of each by how many nats it is behind the best: 5 nats behind, it makes the demonstrations
    150 times less likely. It names the demonstrations that do not fulfil a rule at their last step, and the failures
    that do. Examples:

        wfairl evidence demos.safetensors my-rule.json

        wfairl evidence demos.safetensors "F (coffee & F office) & G !plant" "F office"
    """
    dataset = load(demos)
    task = find_task(dataset.task)
    automata = {name: _rule(name) for name in rules}
    for automaton in automata.values():
        automaton.check_propositions(task.propositions)
    learned = RationalLearner().learn(dataset, task, n_jobs=jobs)
    weighed = weigh_rules({**automata, LEARNED: learned.finite}, dataset, task, n_jobs=jobs)
    ranked = sorted(weighed.items(), key=lambda item: -item[1].log_evidence)
    best = ranked[0][1]
    rows = [{"rule": name, **one._asdict(), "behind": best.log_evidence - one.log_evidence} for name, one in ranked]
    table = Table("rule", "nats behind", "demonstrations that do not fit", "failures that fit")
    for name, one in ranked:
        shown = f"learned: {learned.sentence}" if name == LEARNED else name
        behind = best.log_evidence - one.log_evidence
        table.add_row(shown, f"{behind:.1f}" if behind else "best", _listed(one.unlike), _listed(one.accepted_failures))
    table.add_row("chance", f"{best.log_evidence - best.chance:.1f}", "", "")
    tell({"task": task.name, "learned": list(learned.sentences), "rules": rows}, [table], as_json)


def _rule(source: str) -> Automaton:
    """The automaton of a file, or of a formula."""
    path = Path(source)
    if path.suffix == ".json":
        return TaskModel.load(path).finite
    return read_automaton(path, None) if path.exists() else from_ltlf(source)


def _listed(numbers: Sequence[int]) -> str:
    """How many, and the first few."""
    if not numbers:
        return "none"
    shown = ", ".join(map(str, numbers[:MOST_NUMBERS_SHOWN])) + (", ..." if len(numbers) > MOST_NUMBERS_SHOWN else "")
    return f"{len(numbers)}: {shown}"
