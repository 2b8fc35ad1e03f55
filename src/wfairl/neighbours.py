"""What the neighbours of the core offer, by the names used in files and on the command line.

The core imports no neighbour. A registry of the core finds an offer here by its name, and imports it when it is asked
for: finding one task imports one family of tasks. `core.support.registry` says what the texts mean.
"""

from collections.abc import Iterable


def _tasks(module: str, names: str) -> Iterable[tuple[str, str]]:
    return ((name, module) for name in names.split())


OFFERS: dict[str, dict[str, str]] = {
    "task": dict(
        [
            *_tasks("wfairl.minigrid.tasks", "doorkey multiroom blocked-unlock-pickup maze-errands obstructed-maze"),
            *_tasks(
                "wfairl.minigrid.terrain",
                "terrain terrain-16 doorkey-terrain doorkey-terrain-16 ordered-pickup errand",
            ),
            *_tasks(
                "wfairl.minigrid.babyai",
                "babyai-goto babyai-pickup-loc babyai-unblock-pickup babyai-unlock babyai-put-next-local"
                " babyai-key-corridor babyai-boss-level",
            ),
            *_tasks(
                "wfairl.offices.office",
                "office-coffee office-mail office-coffee-mail office-patrol random-office-coffee random-office-mail"
                " random-office-coffee-mail random-office-patrol crowded-office-coffee coffee-and-mail",
            ),
            *_tasks("wfairl.floors.workshop", "workshop"),
        ]
    ),
    "kind of task": {"minigrid": "wfairl.minigrid.documents"},
    "cost model": {
        "paper": "wfairl.networks.grid_costs:PaperCost",
        "local": "wfairl.networks.grid_costs:LocalCost",
    },
    "learner": {
        "shortest": "wfairl.events.shortest:ShortestLearner",
        "declare": "wfairl.events.declare:DeclareLearner",
        "merging": "wfairl.events.merging:MergingLearner",
        "order": "wfairl.events.order_learner:OrderLearner",
    },
    "language of sentences": {"English": "wfairl.pages.sentences.description:find_clauses"},
    "language of costs": {"English": "wfairl.runs.cost_words:cost_sentences"},
    "record of a learner": {"sentences": "wfairl.events.learned_rule:LearnedRule"},
    "format of logs": {".csv": "wfairl.floors.path_tables:read_path_table"},
    "planner": {"focused": "wfairl.minigrid.focused.planner:FocusedPlanner"},
}
"""By what they are and by name: "module" or "module:NAME"."""
