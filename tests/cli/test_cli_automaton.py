"""The commands about automata, as a user types them."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from wfairl.cli.app import app
from wfairl.core.support.errors import BadInputError, FailedRunError, WfairlError
from wfairl.runs.collection import collect
from wfairl.runs.data_sets import load, save
from wfairl.runs.task_registry import find_task

LINES = [
    {"word": [[], "key", ["key", "door"], ["key", "door", "goal"]], "score": 1},
    {"word": [[], [], "key", ["key", "door"], ["key", "door", "goal"]], "score": 1},
    {"word": [[], "key"], "score": 0},
    {"word": [[], "key", []], "score": 0},
]


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES)))
    return path


@pytest.fixture
def task(words, tmp_path):
    path = tmp_path / "task.json"
    run("learn-task", words, "-o", path)
    return path


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=True)
    if isinstance(result.exception, WfairlError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_score_names_propositions_that_the_task_model_does_not_know(task, words, tmp_path):
    assert json.loads(run("score", task, words, "--json"))["unknown_propositions"] == []
    (tmp_path / "misspelt.jsonl").write_text(json.dumps({"word": [[], "kee", ["key", "door"]]}))
    shown = " ".join(run("score", task, tmp_path / "misspelt.jsonl").split())
    assert (
        "does not know 'kee' (did you mean 'key'?) (it knows 'door', 'goal', 'key'), and rejects a word with it."
        in shown
    )
    document = json.loads(run("score", task, tmp_path / "misspelt.jsonl", "--json"))
    assert (document["unknown_propositions"], document["accepted"]) == (["kee"], [False])


def test_learn_task_prints_one_json_object(words, tmp_path):
    document = json.loads(run("learn-task", words, "-o", tmp_path / "task.json", "--json"))
    expected = {"rank": 5, "rows": 4, "cols": 4, "states": 5, "closed": True}
    assert {key: document[key] for key in expected} == expected
    assert document["loss"] < 1e-12
    assert document["alphabet"] == [[], ["key"], ["door", "key"], ["door", "goal", "key"]]
    assert (tmp_path / "task.json").exists()


def test_learn_task_tells_a_person_the_same(words, tmp_path):
    output = run("learn-task", words, "-o", tmp_path / "task.json")
    assert "5 / 4 / 4" in output
    assert "door & goal & key" in output


def test_score_gives_values_verdicts_and_where_words_were_lost(task, words):
    document = json.loads(run("score", task, words, "--json"))
    assert document["values"] == pytest.approx([1, 1, 0, 0])
    assert document["accepted"] == [True, True, False, False]
    assert document["lost_at"] == [None, None, 2, 2]
    assert document["expected"][3] == ["door & key"]
    text = " ".join(run("score", task, words).replace("│", " ").split())
    assert "rejected at label 3, '-'" in text
    assert "- \N{MULTIPLICATION SIGN}2, key," in text  # the second line, told briefly


def test_score_names_the_cases_of_a_log_whose_outcome_the_model_contradicts(tmp_path):
    rows = ["case,event,outcome"]
    for case in range(40):
        events = ["pay", "ship"] if case % 2 else ["ship", "pay"]
        good = (case % 2 == 1) != (case == 12)  # case 12 was written down wrongly
        rows += [f"order-{case},{event},{'success' if good else 'failure'}" for event in events]
    log, model = tmp_path / "log.csv", tmp_path / "log.json"
    log.write_text("\n".join(rows))
    run("learn-task", log, "-o", model)
    document = json.loads(run("score", model, log, "--json"))
    told = zip(document["cases"], document["given"], document["accepted"], strict=True)
    assert [case for case, given, accepted in told if given != accepted] == ["order-12"]
    shown = run("score", model, log, "--differing")
    assert [f"order-{case} " in shown for case in range(40)] == [case == 12 for case in range(40)]
    assert "1 of 40: the file contradicts the model" in shown


def test_repeats_are_kept_on_demand(words, tmp_path):
    document = json.loads(run("learn-task", words, "-o", tmp_path / "task.json", "--keep-repeats", "--json"))
    assert (document["rank"], document["rows"]) == (6, 5)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--rank", "0"], "rank is 0"),
        (["--rows", "-1"], "rows is -1"),
    ],
)
def test_bad_settings_are_named(words, arguments, reason):
    with pytest.raises(BadInputError, match=reason):
        run("learn-task", words, *arguments)


def test_a_rank_beyond_the_data_is_a_failed_run_with_advice(words):
    with pytest.raises(FailedRunError, match="lower it"):
        run("learn-task", words, "--rank", "40")


def test_words_without_scores_cannot_be_learned_but_scored(task, tmp_path):
    path = tmp_path / "bare.jsonl"
    path.write_text('{"word": [[], "key"]}\n')
    with pytest.raises(BadInputError, match='add "score"'):
        run("learn-task", path)
    assert json.loads(run("score", task, path, "--json"))["accepted"] == [False]


def test_an_automaton_that_does_not_close_is_written_with_a_warning(tmp_path):
    lines = [{"word": [f"{(7 * i * i + j) % 5}" for j in range(1 + i % 4)], "score": 1} for i in range(40)]
    path = tmp_path / "words.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    arguments = ["--rank", 4, "--rows", 1, "--cols", 1, "--max-states", 3, "--keep-repeats", "--json"]
    document = json.loads(run("learn-task", path, "-o", tmp_path / "task.json", *arguments))
    assert document["closed"] is False
    with pytest.raises(FailedRunError, match="reaches more than 3 states"):
        run("draw", tmp_path / "task.json", "-o", tmp_path / "task.svg")


def test_an_error_is_one_line_on_standard_error_and_exit_code_two(tmp_path):
    (tmp_path / "words.jsonl").write_text('{"word": ["a"], "score": 1}\n{"word": 3}\n')
    program = "from wfairl.cli import main; main()"
    command = [sys.executable, "-c", program, "learn-task", str(tmp_path / "words.jsonl"), "--json"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.strip().endswith('words.jsonl: line 2: "word" is not a list of labels')
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_model_of_demonstrations_that_keeps_repeats_can_be_planned_with(wfairl, tmp_path):
    """Its words are the labels of every step, and a demonstrated scene can be solved in a demonstrated length."""
    demos, model = tmp_path / "demos.safetensors", tmp_path / "task.json"
    save(collect(find_task("doorkey"), 2, 2, 0.0, seed=0), demos)
    assert wfairl("learn-task", demos, "--keep-repeats", "-o", model).returncode == 0
    shown = load(demos).demonstrations[0]
    result = wfairl("plan", "doorkey", "--seed", shown.seed, "--task-model", model, "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["steps"] == len(shown)


def test_a_label_that_looks_like_markup_is_shown_as_it_is(wfairl, tmp_path):
    (tmp_path / "words.jsonl").write_text('{"word": ["[red]x", "[/a]"], "score": 1}\n')
    assert wfairl("learn-task", tmp_path / "words.jsonl", "-o", tmp_path / "task.json").returncode == 0
    result = wfairl("score", tmp_path / "task.json", tmp_path / "words.jsonl")
    assert result.returncode == 0
    assert "[red]x, [/a]" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [["--rank", 3], ["--rows", 3], ["--cols", 2], ["--tolerance", 0.1]],
)
def test_settings_of_a_weighted_automaton_are_refused_for_another_learner(words, arguments):
    with pytest.raises(BadInputError, match=f"{arguments[0]}: only for --learner spectral"):
        run("learn-task", words, "--learner", "merging", *arguments)


def test_a_learner_that_is_not_registered_is_an_error_that_names_what_to_load(words):
    with pytest.raises(BadInputError, match=r"unknown learner .* named by `wfairl --tasks FILE"):
        run("learn-task", words, "--learner", "magic")


@pytest.fixture
def log(tmp_path):
    """Forty orders with reminders between; the good ones are shipped, and only after pay."""
    kinds = [("order pay ship", 1), ("order ship pay", 0), ("order pay", 0), ("pay order ship remind", 1), ("ship", 0)]
    rows = ["nr,what,when,went"]
    for case in range(60):
        events, score = kinds[case % 5]
        words = ["remind"] * (case % 3) + events.split()
        rows += [f"{case},{event},{time},{score}" for time, event in enumerate(words)]
    path = tmp_path / "orders.csv"
    path.write_text("\n".join(rows))
    return path


COLUMNS = ["--case-column", "nr", "--event-column", "what", "--time-column", "when", "--outcome-column", "went"]


def test_the_rule_of_an_event_log_is_said_and_judges_other_logs(log, tmp_path):
    model = tmp_path / "task.json"
    document = json.loads(run("learn-task", log, "-o", model, *COLUMNS, "--json"))
    assert document["learner"] == "declare"
    assert set(document["sentences"]) == {"ship happens", "ship only after pay"}
    assert (document["states"], document["memorised"], document["held_out_words"]) == (3, False, 12)
    assert document["held_out_accuracy"] == 1 > document["base_rate"]
    (tmp_path / "new.csv").write_text("case,event\na,pay\na,remind\na,ship\nb,ship\n")
    assert json.loads(run("score", model, tmp_path / "new.csv", "--json"))["accepted"] == [True, False]
    text = " ".join(run("learn-task", log, "-o", model, *COLUMNS).split())
    assert "ship only after pay" in text
    assert "a constant answer gives" in text


@pytest.mark.parametrize("learner", ["merging", "spectral"])
def test_each_learner_reads_the_same_log(log, tmp_path, learner):
    document = json.loads(run("learn-task", log, "-o", tmp_path / "t.json", *COLUMNS, "--learner", learner, "--json"))
    assert (document["learner"], document["words"], document["successes"]) == (learner, 60, 24)
    assert document["memorised"] == (learner == "spectral")
    told = run("learn-task", log, "-o", tmp_path / "t.json", *COLUMNS, "--learner", learner)
    assert "predicted correctly when held out" in " ".join(told.split())


def test_a_log_without_outcomes_is_one_of_successes(wfairl, tmp_path):
    rows = [f"{case},{event}" for case in range(40) for event in ["x", "order", "pay", "y"][case % 2 :]]
    (tmp_path / "log.csv").write_text("\n".join(["case,event", *rows]))
    result = wfairl("learn-task", tmp_path / "log.csv", "-o", tmp_path / "task.json", "--json")
    assert result.returncode == 0, result.stderr
    assert "taken for successes" in result.stderr
    assert "pay only after order" in json.loads(result.stdout)["sentences"]


def test_a_memorised_automaton_says_so(words, tmp_path):
    assert "this automaton only knows what it was shown" in run("learn-task", words, "-o", tmp_path / "task.json")


def test_settings_of_one_learner_are_refused_for_another(words):
    with pytest.raises(BadInputError, match="--rank: only for --learner spectral"):
        run("learn-task", words, "--learner", "declare", "--rank", 3)
    with pytest.raises(BadInputError, match="--max-states: only for --learner spectral or declare or merging"):
        run("learn-task", words, "--learner", "shortest", "--max-states", 3)
