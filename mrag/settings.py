"""What a ranking is made with: the sizes of the stages, the weights of the scores, the profile of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from mrag import spline
from mrag.errors import InputError

ProfileName = Literal["interval", "paper"]


@dataclass(frozen=True, slots=True)
class Mix:
    """How a passage's score is made of its parts (interval profile). benchmarks/ablation.py has a row for each.

    The keyword rank of passages: first-stage score + ``keywords`` x keyword score, each over its maximum.
    A sentence: ``meaning`` x the score of the scorer handed in + ``overlap`` x idf share of the question's words
    + ``relation`` where it speaks of the asked relation + ``kind`` x fit of a new name to the kind of answer + ``name``
    for a new long name + ``brevity`` x minus the logarithm of its length, times ``back_matter`` in a list of
    literature; that times the temporal score.
    A passage: its best sentence + ``second`` x the next + ``passage`` x what the passage scorer gives it for the asked
    relation without the names, which fit every passage of the page + ``first`` x its first-stage score + ``title`` x
    share of its title + ``page`` x the first-stage score of the page's best passage, as far as there are pages
    (first-stage scores over their maximum) + ``length`` x the logarithm of its length, since vectors of short texts lie
    nearer to any question. The keyword rank counts pages too, so that good ones come in whole.
    """

    keywords: float
    meaning: float
    overlap: float
    relation: float
    kind: float
    name: float
    brevity: float
    back_matter: float
    second: float
    passage: float
    first: float
    title: float
    page: float
    length: float


LEXICAL = Mix(
    keywords=1.0,
    meaning=0.0,
    overlap=0.52,
    relation=0.16,
    kind=0.1,
    name=0.05,
    brevity=0.05,
    back_matter=0.5,
    second=0.2,
    passage=0.0,
    first=0.25,
    title=0.2,
    page=0.8,
    length=0.0,
)
"""The mix of the base install, where words are all that is known of a sentence's meaning."""

MEANING = Mix(
    keywords=0.0,
    meaning=0.45,
    overlap=0.08,
    relation=0.15,
    kind=0.15,
    name=0.07,
    brevity=0.09,
    back_matter=0.5,
    second=0.15,
    passage=0.8,
    first=0.22,
    title=0.08,
    page=1.8,
    length=0.045,
)
"""The mix where a scorer of sentences is handed in."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The sizes of the stages (defaults of the paper, section 5.1) and what scores time.

    ``temporal=False`` is exactly the plain first stage over the question as it was asked. ``sentences``: how many
    a model is given to read, and how many the paper's profile keeps; words and stored vectors score all of them.
    ``summaries``: how many passages a summariser, if there is one, is given (the paper's "# QFS").
    """

    profile: ProfileName = "interval"
    temporal: bool = True
    first_stage: int = 1000
    passages: int = 100
    sentences: int = 200
    summaries: int = 5
    k1: float = 0.9
    b: float = 0.4
    mix: Mix | None = None  # None: LEXICAL, or MEANING where a scorer is handed in
    spline: spline.Profile = spline.PROFILE

    def __post_init__(self) -> None:
        if self.profile not in get_args(ProfileName):
            raise InputError(f"there is no profile {self.profile!r}: it is {' or '.join(get_args(ProfileName))}")
        if min(self.first_stage, self.passages, self.sentences) < 1:
            raise InputError("the stages keep one passage and one sentence at least")
        if self.summaries < 0:
            raise InputError("the number of passages to summarise is 0 or more")


DEFAULTS = Settings()
