"""Native functions shared among threads: tasks in order, some of which wait for all before them.

One thread leads: it opens a round, works through the tasks like every other, and returns when all are done. Helpers take
tasks while a round is open. A round never waits for a helper to come: with none, the leader does everything. What a helper
began the leader waits for.
"""

from typing import NamedTuple

from ..arrays import IntegerArray
from ..memory import atomic_load, atomic_store, fetch_add, invoke

NEXT, DONE, PATIENCE = 0, 8, 16  # words on cache lines of their own
LOOKS = 50  # at a word before the processor is offered to others


class Tasks(NamedTuple):
    word: IntegerArray[24]  # the task to be taken next; tasks done; how often an idle helper looks before it leaves
    call: IntegerArray["n", 2]  # address of each function and of its list
    after: IntegerArray["n"]  # how many tasks, the first ones, must be done before this one begins
    give_way: IntegerArray[1]  # address of the system's function that lets another thread run


def lead(t):
    """Run all tasks once, alone or with helpers."""
    atomic_store(t.word, DONE, 0)
    atomic_store(t.word, NEXT, 0)  # the round is open
    take_tasks(t)
    wait_for(t, t.call.shape[0])


def help_leader(t):
    """Take part in rounds until none was opened for some time."""
    idle = 0
    while idle < atomic_load(t.word, PATIENCE):
        if atomic_load(t.word, NEXT) < t.call.shape[0]:
            take_tasks(t)
            idle = 0
        else:
            idle += 1
            if idle % LOOKS == 0:
                invoke(t.give_way[0], 0)


def take_tasks(t):
    n = t.call.shape[0]
    while atomic_load(t.word, NEXT) < n:
        k = fetch_add(t.word, NEXT, 1)
        if k < n:
            wait_for(t, t.after[k])
            invoke(t.call[k, 0], t.call[k, 1])
            fetch_add(t.word, DONE, 1)


def wait_for(t, count):
    """Until so many tasks are done."""
    looks = 0
    while atomic_load(t.word, DONE) < count:
        looks += 1
        if looks % LOOKS == 0:
            invoke(t.give_way[0], 0)
