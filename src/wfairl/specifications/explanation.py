"""An explanation of how a task model reads a word, in sentences: the effect of each label, and what is missing."""

from dataclasses import dataclass

from wfairl.core.automata.automaton import DEAD, Automaton, Label
from wfairl.core.automata.finite import FiniteAutomaton, NoAcceptedWordError
from wfairl.core.automata.guarded import GuardedAutomaton
from wfairl.core.automata.sentences import describe_state
from wfairl.core.automata.task_model import TaskModel, Verdict
from wfairl.core.automata.words import Word, as_read, as_word, format_label
from wfairl.core.rational.task_posterior import TaskPosterior, posterior_of
from wfairl.events.learned_rule import UnknownPropositions, learned_rule_of, list_names, unknown_propositions
from wfairl.specifications.symbolic import shortest_completion


@dataclass(frozen=True)
class ReadLabel:
    """A label of a word as the automaton reads it."""

    label: Label
    state: int  # before it is read
    after: int  # the state after it, or `DEAD`
    is_untested: bool  # whether the demonstrations are no evidence of where this label leads in this state
    sentence: str  # its effect


@dataclass(frozen=True)
class WordExplanation:
    """How a model reads a word."""

    accepted: bool
    labels: tuple[ReadLabel, ...]  # up to the one that loses the task
    conclusion: str  # why it is accepted or not
    unknown: UnknownPropositions

    @property
    def sentences(self) -> list[str]:
        """All of it, in the order of the word."""
        return [*self.unknown.sentences, *(one.sentence for one in self.labels), self.conclusion]


def explain_word(model: TaskModel, word: Word) -> WordExplanation:
    """Explain how a model reads a word; a model without a finite automaton raises the error of `TaskModel.finite`."""
    automaton, posterior, word = model.finite, posterior_of(model), as_word(word)
    state, read = 0, []
    for position, label in enumerate(as_read([word], model.keep_repeats)[0], start=1):
        is_other = learned_rule_of(model) is not None and label not in model.alphabet  # sentences do not speak of it
        after = state if is_other else automaton.read(state, label)
        untested = _is_untested(model, posterior, state, label, after)
        other = "is an event that the rule was not learned from."
        effect = other if is_other else _effect(model, state, label, after)
        sentence = f"Label {position}, '{format_label(label)}', {effect}"
        if untested:
            sentence += " This pair of state and label was never tested by a demonstration."
        read.append(ReadLabel(label, state, after, untested, sentence))
        state = after
        if state == DEAD:
            break
    verdict = model.judge(word)
    conclusion = _conclusion(model, word, state, len(read), verdict)
    return WordExplanation(verdict.accepted, tuple(read), conclusion, unknown_propositions(model, [word]))


def _is_untested(model: TaskModel, posterior: TaskPosterior | None, state: int, label: Label, after: int) -> bool:
    """Whether no demonstration read the label in the state, nor is evidence of where it leads."""
    if posterior is not None and state < len(posterior.support.is_untested):
        return after != DEAD and posterior.support.is_untested_in(state, label)
    counted = bool(model.edge_counts) and after not in (DEAD, state)
    return counted and not model.edge_counts.get((state, label))


def _effect(model: TaskModel, state: int, label: Label, after: int) -> str:
    automaton, where = model.finite, describe_state(model.finite, state)
    if after == DEAD:
        return f"loses the task {where}: {_why_lost(automaton, state, label)}."
    if after == state:
        if automaton.accepting[state]:
            return "changes nothing: the task is fulfilled."
        return f"changes nothing: {where} the task waits for {_expected_labels(automaton, state)}."
    times = model.edge_counts.get((state, label), 0)
    others = f"; {times} of {model.summary.successes} successful words did so" if times else ""
    if automaton.accepting[after]:
        return f"fulfils the task{others}."
    return f"leads on: now the task waits for {_expected_labels(automaton, after)}{others}."


def _why_lost(automaton: Automaton, state: int, label: Label) -> str:
    if isinstance(automaton, GuardedAutomaton):
        guard = next(edge.guard for edge in automaton.edges[state] if edge.guard.holds(label))
        if guard.literals:
            return f"'{guard}' is forbidden there"
        return f"there, nothing but {_expected_labels(automaton, state)} is allowed"
    if isinstance(automaton, FiniteAutomaton) and label not in automaton.alphabet:
        return "no word that it was learned from has this label"
    return f"no accepted word goes on like this; {_expected_labels(automaton, state)} was expected"


def _expected_labels(automaton: Automaton, state: int) -> str:
    """The labels that a state waits for, as text: up to four are named, and the rest is counted."""
    return list_names(tuple(dict.fromkeys(automaton.lacking(state, ()))), 4, " or ") or "nothing more"


def _conclusion(model: TaskModel, word: Word, state: int, read: int, verdict: Verdict) -> str:
    automaton = model.finite
    value = "" if model.weighted is None else f" Its value is {model.values([word])[0]:.3g}."
    if verdict.accepted:
        return f"The word is accepted.{value}"
    if verdict.broken:
        return f"The word is rejected, as it breaks: {'; '.join(verdict.broken)}."
    if state == DEAD:
        return f"The word is rejected: it was lost at label {read}.{value}"
    where = describe_state(automaton, state)
    try:
        missing = shortest_completion(automaton, state)
    except NoAcceptedWordError:
        return f"The word is rejected: {where} nothing more fulfils the task.{value}"
    wanted = ", then ".join(f"'{format_label(label)}'" for label in missing)
    return f"The word is rejected: {where} it lacks {wanted}.{value}"
