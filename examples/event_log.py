"""An event log, from the table to the cases to look at: the cells of the notebook `event_log.ipynb`."""

# %% A log as a table: 600 claims. Those that were checked twice, or approved by no one, take longer than a week.
import numpy as np
import pandas as pd

from wfairl.events import conform_frame, learn_process

rng = np.random.default_rng(0)
rows = []
for case in range(600):
    events = ["file", *rng.permutation(["check", "ask"]), *["check"] * (rng.random() < 0.3)]
    events += ["approve"] * (rng.random() < 0.8) + ["pay", "close"]
    days = 12 if events.count("check") > 1 or "approve" not in events else 5
    rows += [(case, event, days * i / (len(events) - 1)) for i, event in enumerate(events)]
log = pd.DataFrame(rows, columns=["case", "event", "time"])

# %% What do the claims have in common?
process = learn_process(log).model
print(len(process.sentences), "sentences, such as", "; ".join(process.sentences[:3]))

# %% Which claims are unusual, and why? Two claims of the next month were not as they should be.
new = log[log.case < 50].copy()
new = new[~((new.case == 7) & (new.event == "close"))]
new.loc[(new.case == 9) & (new.event == "pay"), "time"] = 0.1
table = conform_frame(process, new).sort_values("cost", ascending=False)
print(table[["case", "fitness", "reason"]].head(3).to_string(index=False))

# %% Why do some take longer than a week?
slow = learn_process(log, outcome="days: 7")
print("within a week:", "; ".join(slow.model.sentences))

# %% For other tools: `process.save("process.json")`, then `wfairl export process.json --as declare`, `--as pnml`.
process.save("process.json")
