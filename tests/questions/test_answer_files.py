import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wfairl.core.demonstrations.answers import Answer, BrokenAnswersError
from wfairl.questions.answer_files import read_answers, write_answers

LABELS = st.frozensets(st.sampled_from(["a", "b", "c"]))


@st.composite
def answers(draw):
    labels = draw(st.lists(LABELS, min_size=1, max_size=5))
    controls = draw(st.lists(st.integers(0, 6), min_size=len(labels), max_size=len(labels)))
    return Answer(draw(st.integers(0, 10**9)), tuple(controls), tuple(labels), draw(st.booleans()))


@settings(max_examples=20)
@given(st.lists(answers(), max_size=4))
def test_answers_come_back_from_their_file(tmp_path_factory, told):
    path = tmp_path_factory.mktemp("answers") / "answers.jsonl"
    write_answers(told, path)
    assert read_answers(path) == tuple(told)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("7", "not an answer"),
        ('{"seed": 1, "controls": [0], "labels": [["a"]]}', "right: Field required"),
        ('{"seed": 1, "controls": [0], "labels": [["a"]], "right": 1}', "right: Input should be a valid boolean"),
        ('{"seed": 1, "controls": [0], "labels": ["a"], "right": true}', "labels.0: Input should be a valid array"),
        ('{"seed": 1, "controls": [0, 1], "labels": [["a"]], "right": true}', "2 controls and 1 labels"),
        ('{"seed": 1, "controls": ["x"], "labels": [["a"]], "right": true}', "not an answer"),
    ],
)
def test_a_broken_file_of_answers_names_its_line(tmp_path, line, message):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"seed": 1, "controls": [0], "labels": [["a"]], "right": true}\n' + line + "\n")
    with pytest.raises(BrokenAnswersError, match=f"line 2: .*{message}"):
        read_answers(path)
