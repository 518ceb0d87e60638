"""Messages about what one learns from games: reviews, records of games, and puzzles. `coach` answers them."""

from typing import Annotated

from pydantic import BaseModel, Field

from afterstate.web.messages import (
    BoardText,
    GameName,
    GameRef,
    Id,
    LineStep,
    Moves,
    RulesName,
    Seed,
    SizeName,
    SlideName,
    Strict,
    Tiles,
)

PUZZLES = 20  # most puzzles of one answer
EPISODE = 2_000_000  # most characters of a game in an episode file
LATEST = 2**43  # milliseconds since 1970, some 280 years

Marks = Annotated[
    str,
    Field(
        max_length=100_000,
        pattern="^([1-9][0-9]{0,5}[ya?])*$",
        description="who made the moves, as counts: 12y3a is twelve moves by you and then three by the AI; ? is not known",
        examples=["3y1a"],
    ),
]
Millis = Annotated[int, Field(ge=0, lt=LATEST, description="milliseconds since 1970")]


# --- requests ------------------------------------------------------------------------------------------------------------


class Played(GameRef):
    """A game that was played."""

    seed: Seed | None = Field(None, description="seed of the game, together with its moves")
    moves: Moves | None = None
    episode: str | None = Field(None, max_length=EPISODE, description="one line of an episode file, instead of seed and moves")


class Coaching(Played):
    model: Id
    marks: Marks | None = None
    start: BoardText | None = Field(None, description="the state that the game began with, if not one of its seed")


class Recording(Played):
    slider: str = Field("player", pattern=r"^[^|:@\s]{1,100}$", description="who slid, for the file; not used with `episode`")
    began: Millis = Field(0, description="when the game began, in milliseconds since 1970")
    ended: Millis = Field(0, description="when it ended")


class Puzzling(Strict):
    model: Id
    count: int = Field(10, ge=1, le=PUZZLES, description="how many positions at most")
    seed: Seed | None = Field(None, description="seed of the games that are searched; a random one if none is given")


# --- answers -------------------------------------------------------------------------------------------------------------


class Worst(BaseModel):
    ply: int = Field(description="number of the move, counted from 0")
    slide: SlideName = Field(description="the slide that was made")
    best: SlideName = Field(description="the best slide")
    regret: float = Field(description="how many points it gave away")
    share: float = Field(description="the same, as a share of the expected final score")
    line: list[LineStep] = Field(description="a better way to continue")


class Coached(BaseModel):
    game: GameName
    rules: RulesName
    size: SizeName
    slider: str | None = Field(description="who played, if the record says so")
    plies: int = Field(description="number of moves")
    slides: str = Field(description="the moves, one letter each")
    tiles: list[Tiles] = Field(description="the board of each state")
    beside: list[str] = Field(
        description="what the text of each state says besides the tiles, such as | bag 13 | next 2; empty if that is nothing"
    )
    rewards: list[int] = Field(description="reward of each move")
    scores: list[int] = Field(description="score before each move, and at the end")
    values: list[float] = Field(description="the final score that the model expects in each state")
    best: str = Field(description="the best slide in each state, one letter each")
    options: list[list[float | None]] = Field(
        description="reward plus value of up, right, down and left in each state, before each move; null if it is illegal"
    )
    regrets: list[float] = Field(description="how many points each move gave away")
    shares: list[float] = Field(description="the same, as a share of the expected final score, from 0 to 1")
    luck: list[float] = Field(description="luck of the new tile after each move; 0 on average")
    choices: list[int] = Field(description="number of legal slides in each state")
    accuracy: float = Field(description="of all moves: 100 gives nothing away, 67 gives away 1 % of the final score a move")
    yours: float | None = Field(description="accuracy of the moves that are marked as yours; null if there are none")
    ais: float | None = Field(description="accuracy of the moves that are marked as the AI's; null if there are none")
    best_share: float = Field(description="share of the moves with a choice that gave nothing away")
    mean_regret: float = Field(description="mean of all regrets")
    luck_total: float = Field(description="sum of all luck")
    score: int = Field(description="score at the end")
    largest: int = Field(description="largest tile at the end")
    worst: list[Worst] = Field(description="the moves with the largest shares, at most three")


class Recorded(BaseModel):
    game: GameName
    rules: RulesName
    size: SizeName
    slider: str = Field(description="who slid")
    moves: str = Field(description="the moves, one letter each")
    score: int = Field(description="score at the end")
    largest: int = Field(description="largest tile at the end")
    tiles: Tiles = Field(description="the board at the end")
    over: bool = Field(description="whether no slide is legal at the end")
    episode: str = Field(description="the game as one line of an episode file")


class Puzzle(BaseModel):
    text: str = Field(description="the position as one line of text, which other requests accept")
    tiles: Tiles
    score: int = Field(description="score in this position")
    slide: SlideName = Field(description="the slide that a quick look makes, and that is wrong")


class Puzzles(BaseModel):
    game: GameName
    rules: RulesName
    size: SizeName
    puzzles: list[Puzzle] = Field(description="fewer than were asked for if the model goes wrong rarely")
