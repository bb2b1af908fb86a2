"""Questions about passages that the package makes: facts about people, and a question about one of them.

    Where does Anna live ?   Ben works for Plazora Tuvigo . Anna lives in Bredumi . ...   ->   Bredumi

The people are always the same, and what is said of them is new each time, so that an answer has to be copied.
"""

import random
from typing import NamedTuple

from saccade.tasks.translation.made import Corpus
from saccade.tasks.translation.made_names import make_name
from saccade.text import Pair, join_question

# fmt: off
PEOPLE = (
    "Anna", "Ben", "Clara", "David", "Emma", "Felix", "Greta", "Hugo", "Ida", "Jonas", "Karin", "Leo",
    "Maria", "Nils", "Olga", "Paul", "Rosa", "Simon", "Tina", "Victor",
)
# fmt: on


class Fact(NamedTuple):
    """What can be said of somebody, and asked."""

    says: str
    asks: str
    answer: str  # {a} and {b} are names, {n} a number


FACTS = (
    Fact("{who} lives in {answer} .", "Where does {who} live ?", "{a}"),
    Fact("{who} works for {answer} .", "Who does {who} work for ?", "{a} {b}"),
    Fact("{who} comes from {answer} .", "Where does {who} come from ?", "{a}"),
    Fact("The dog of {who} is {answer} .", "What is the dog of {who} called ?", "{a}"),
    Fact("The number of {who} is {answer} .", "Which number does {who} have ?", "{n}"),
    Fact("The doctor of {who} is {answer} .", "Who is the doctor of {who} ?", "{a} {b}"),
)
_PEOPLE, _FACTS = 3, 2  # of a passage, and of each of its people


class Answers(Corpus):
    """Six facts about three people, and a question about one."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def pair(self, index: int) -> Pair:
        rng = random.Random(f"answers {self.seed} {index}")
        known: list[tuple[str, Fact, str]] = []
        for who in rng.sample(PEOPLE, _PEOPLE):
            for fact in rng.sample(FACTS, _FACTS):
                answer = fact.answer.format(a=make_name(rng), b=make_name(rng), n=rng.randint(100_000, 999_999))
                known.append((who, fact, answer))
        rng.shuffle(known)
        who, asked, answer = rng.choice(known)
        passage = " ".join(fact.says.format(who=who, answer=answer) for who, fact, answer in known)
        return Pair(join_question(asked.asks.format(who=who), passage), answer)
