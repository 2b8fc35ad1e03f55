"""Sessions for tests: demonstrations of corner, then goal in four rooms; and workers in this process."""

import asyncio
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor

from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.plan import find_plan
from wfairl.core.planning.product import build_product
from wfairl.runs.task_registry import find_task
from wfairl.studio.workers import QueuedJob

SECONDS = 120
"""That a page or a request may take where other tests run beside this one."""

FOUR_ROOMS = "MiniGrid-FourRooms-v0"
CORNER = {"do": "proposition", "name": "corner", "is": {"is": "at", "x": 1, "y": 1}}
GOAL = {"do": "proposition", "name": "goal", "is": {"is": "on", "terrain": "goal"}}


def errand_plan(seed):
    """Controls to the corner and then to the goal in a scene of four rooms."""
    errand = find_task("errand")
    product = build_product(errand.make_world(seed), errand.rule)
    return find_plan(product, unit_cost(product)).path.controls


def demonstrate_errand(session, right=True):
    for control in errand_plan(session.state.seed):
        session.do({"do": "control", "control": int(control)})
    session.do({"do": "keep", "right": right, "by": "person"})


class InlineRunner:
    """Runs a job at once, in this process."""

    def submit(self, job, *arguments):
        future = Future()
        try:
            future.set_result(job(*arguments))
        except Exception as error:
            future.set_exception(error)
        return QueuedJob(future, lambda: None)


def finish(coroutine):
    """Run a coroutine in a thread of its own: the browser's driver may have a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def send(controller, *messages):
    for message in messages:
        finish(controller.handle(message))
    return controller


def shortest_to_goal(seed):
    world = find_task("errand").make_world(seed)
    queue, seen = deque([(world.initial_state, [])]), {world.initial_state}
    while queue:
        state, controls = queue.popleft()
        for control in range(3):
            after = world.step(state, control)
            if "goal" in world.label(state, control, after):
                return [*controls, control]
            if after not in seen:
                seen.add(after)
                queue.append((after, [*controls, control]))
    raise AssertionError
