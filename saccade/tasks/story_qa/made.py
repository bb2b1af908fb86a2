"""Stories that the package makes: people who walk from room to room, and carry things with them."""

import random

from saccade.tasks.story_qa.stories import Question, story_words

PEOPLE = ("Mary", "John", "Sandra", "Daniel")
ROOMS = ("kitchen", "garden", "office", "bedroom", "hallway", "bathroom")
THINGS = ("apple", "milk", "football", "book")
_QUESTIONS = 5  # of a story
_BETWEEN = 2  # sentences before each question


def make_stories(count: int, *, seed: int | str) -> list[Question]:
    """`count` stories with five questions each: where is a person, where is a thing, who has it.

    The same seed gives the same stories. A story grows by two sentences before each question, and has exact facts: the
    sentences that the answer rests on.
    """
    return [question for number in range(count) for question in _story(number, seed)]


def _story(number: int, seed: int | str) -> list[Question]:
    rng = random.Random(f"stories {seed} {number}")
    world = _World(rng)
    questions: list[Question] = []
    for asked in range(_QUESTIONS):
        for _ in range(_BETWEEN):
            world.go_on()
        question, answer, facts = world.ask()
        story = tuple(story_words(sentence) for sentence in world.story)
        where = f"made story {number + 1}, question {asked + 1}"
        questions.append(Question(story, story_words(question), answer, facts, "made", where, number))
    return questions


class _World:
    """Who is where and has what, and the sentences that said so."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.story: list[str] = []
        self.room: dict[str, tuple[str, int]] = {}  # of each person, and the sentence that says so
        self.holder: dict[str, tuple[str, int]] = {}  # of each thing that is held
        self.left: dict[str, tuple[str, tuple[int, ...]]] = {}  # where a thing was put down

    def go_on(self) -> None:
        """One more sentence: mostly a walk, at times a thing that is taken or put down."""
        placed = sorted(self.room)
        person = self.rng.choice(placed) if placed and self.rng.random() < 0.5 else self.rng.choice(PEOPLE)
        held = [thing for thing, (holder, _) in self.holder.items() if holder == person]
        free = [thing for thing in THINGS if thing not in self.holder and self._can_take(person, thing)]
        here = len(self.story)
        if person in self.room and held and self.rng.random() < 0.25:
            thing = self.rng.choice(held)
            room, walked = self.room[person]
            self.left[thing] = (room, (walked, here))
            del self.holder[thing]
            self.story.append(f"{person} put the {thing} down.")
        elif person in self.room and free and self.rng.random() < 0.4:
            thing = self.rng.choice(free)
            self.holder[thing] = (person, here)
            self.story.append(f"{person} took the {thing}.")
        else:
            now = self.room[person][0] if person in self.room else None
            room = self.rng.choice([room for room in ROOMS if room != now])
            self.room[person] = (room, here)
            self.story.append(f"{person} went to the {room}.")

    def _can_take(self, person: str, thing: str) -> bool:
        """A thing that was never seen may be anywhere; one that was put down is where it was put."""
        return thing not in self.left or (person in self.room and self.room[person][0] == self.left[thing][0])

    def ask(self) -> tuple[str, str, tuple[int, ...]]:
        """A question that the story answers, its answer, and the sentences that it rests on."""
        possible: list[tuple[str, str, tuple[int, ...]]] = []
        for thing, (person, taken) in self.holder.items():
            room, walked = self.room[person]
            possible.append((f"Where is the {thing}?", room, tuple(sorted((taken, walked)))))
            possible.append((f"Who has the {thing}?", person, (taken,)))
        for thing, (room, facts) in self.left.items():
            if thing not in self.holder:
                possible.append((f"Where is the {thing}?", room, facts))
        if possible and self.rng.random() < 0.6:
            return self.rng.choice(possible)
        person = self.rng.choice(sorted(self.room))
        room, walked = self.room[person]
        return f"Where is {person}?", room, (walked,)
