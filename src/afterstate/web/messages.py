"""What the page and the server say to each other. OpenAPI is made from this, so every field says what it means and may be."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

DEPTH, MOVE_TIME = 5, 2.0  # the farthest and the longest that a search may look ahead
MOVES = 300_000  # of one game
WATCHED = 100_000  # moves of one answer
TEXT = 400  # characters of a board

SlideName = Literal["up", "right", "down", "left"]
BoardText = Annotated[
    str,
    Field(
        max_length=TEXT,
        description="the tiles row by row; Threes! ends with the next tile: | next 2",
        examples=["2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 2"],
    ),
]
Seed = Annotated[int, Field(ge=0, lt=2**53, description="seed of all chance")]
Rng = Annotated[str, Field(pattern="^[0-9a-f]{16}$", description="where the generator stands", examples=["0123456789abcdef"])]
Rewards = Annotated[int, Field(ge=0, lt=2**40, description="sum of all rewards so far")]
Moves = Annotated[
    str, Field(max_length=MOVES, pattern="^[URDL]*$", description="slides, a letter each: U R D L", examples=["URDL"])
]
Id = Annotated[str, Field(min_length=1, max_length=40, description="of a model, as /api/models lists it")]
Short = Annotated[str, Field(max_length=200)]
Count = Annotated[str, Field(max_length=20)]
Tiles = Annotated[str, Field(description="a digit in base 36 for each cell, row by row: the tile's index")]
Values = Annotated[dict[SlideName, float | None], Field(description="reward + value of each slide; null if it is illegal")]


class Strict(BaseModel):
    """A key that we do not know is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


# --- requests ------------------------------------------------------------------------------------------------------------


class GameRef(Strict):
    game: Short = Field("2048", description="2048 or threes")
    rules: Short | None = Field(None, description="rule set; the game's first if it is not told")
    size: Short = Field("4x4", description="rows x columns")


class NewGame(GameRef):
    seed: Seed | None = Field(None, description="seed of all chance; drawn if it is not told")


class SlideRequest(GameRef):
    text: BoardText
    rng: Rng
    rewards: Rewards
    slide: SlideName


class Replay(GameRef):
    seed: Seed
    moves: Moves


class Look(Strict):
    """How far a player looks ahead."""

    depth: int | None = Field(None, ge=1, le=DEPTH, description="slides; 2 if nothing is told")
    move_time: float | None = Field(None, ge=0.001, le=MOVE_TIME, description="seconds for each move, instead of a depth")


class Watch(Look):
    model: Id
    text: BoardText
    rng: Rng
    rewards: Rewards
    count: int = Field(1, ge=1, le=WATCHED, description="moves, at most")
    budget: float = Field(50, ge=1, le=100, description="milliseconds after which no further move is begun")


class Ask(Look):
    """Here is my board, what now?"""

    board: BoardText
    model: Id | None = Field(None, description="of /api/models; the best for the game if it is not told")
    game: Short = Field("2048", description="the game, if no model is told")
    rules: Short | None = None
    size: Short = "4x4"


class Why(Strict):
    model: Id
    board: BoardText
    slide: SlideName | None = Field(None, description="the best one if it is not told")


class Coaching(GameRef):
    model: Id
    seed: Seed | None = Field(None, description="with moves: a game from its seed")
    moves: Moves | None = None
    episode: str | None = Field(None, max_length=2_000_000, description="instead: one line of an episode file")


class Start(GameRef):
    """A training run: a recipe, or options of `afterstate train`."""

    recipe: Short | None = Field(None, description="a name that /api/runs lists; the other options are then the recipe's")
    name: str | None = Field(None, pattern="^[A-Za-z0-9][A-Za-z0-9 ._-]{0,59}$", description="of the run's folder")
    network: Short | None = None
    method: Literal["td", "tc"] | None = None
    lambda_: float | None = Field(None, ge=0, le=1, alias="lambda")
    alpha: float | None = Field(None, gt=0, le=100)
    time: Count | None = Field(None, description="such as 30s or 10m")
    games: Count | None = Field(None, description="such as 20k")


class Resume(Strict):
    time: Count | None = Field(None, description="training time in all, such as 10m")
    games: Count | None = Field(None, description="games in all, such as 100k")


# --- answers -------------------------------------------------------------------------------------------------------------


class Problem(BaseModel):
    error: str = Field(description="one sentence for people")


class RuleSet(BaseModel):
    name: str
    shows_next: bool


class AboutGame(BaseModel):
    game: str
    title: str
    rules: list[RuleSet]
    sizes: list[str]
    faces: list[int] = Field(description="what is written on a tile, by its index")


class Limits(BaseModel):
    depth: int = DEPTH
    move_time: float = MOVE_TIME
    watch: int = WATCHED
    moves: int = MOVES


class About(BaseModel):
    version: str
    games: list[AboutGame]
    limits: Limits = Limits()


class Model(BaseModel):
    id: str
    name: str
    game: str
    rules: str
    size: str
    network: str
    games: int | None = Field(description="that it was trained with")
    mean: float | None = Field(description="of the block it was kept for")
    win_rate: float | None
    win_tile: int | None
    run: str | None = Field(description="id of the run it belongs to")


class Models(BaseModel):
    models: list[Model]
    default: str | None


class Position(BaseModel):
    text: str
    tiles: Tiles
    legal: list[SlideName]
    over: bool
    largest: int
    next: str | None = Field(description="1, 2, 3, or + for a bonus tile; null where it is not shown")


class Playing(BaseModel):
    game: str
    rules: str
    size: str
    seed: int
    position: Position
    rng: str
    rewards: int
    score: int


class Slid(BaseModel):
    slide: SlideName
    reward: int
    after: Tiles
    position: Position
    rng: str
    rewards: int
    score: int


class Frame(BaseModel):
    at: int = Field(description="moves of this answer that were made by then")
    slide: SlideName
    after: Tiles
    tiles: Tiles
    score: int


class Watched(BaseModel):
    moves: str
    frames: list[Frame]
    position: Position
    rng: str
    rewards: int
    score: int


class Answer(BaseModel):
    board: str
    move: SlideName | None = Field(description="null when the game is over")
    values: Values
    depth: int
    ms: float


class LineStep(BaseModel):
    slide: SlideName
    value: float
    after: Tiles
    tiles: Tiles = Field(description="with a typical new tile")
    text: str


class Analysis(BaseModel):
    position: Position
    move: SlideName | None
    values: Values
    rewards: dict[SlideName, int]
    after: dict[SlideName, Tiles]
    depth: int
    ms: float
    score_hint: float | None = Field(description="what is still to come: the value of the best slide")
    line: list[LineStep]


class Isomorph(BaseModel):
    cells: list[int]
    weight: float


class Pattern(BaseModel):
    pattern: str
    value: float
    isomorphs: list[Isomorph]


class Explained(BaseModel):
    slide: SlideName
    of: Literal["afterstate", "state"]
    tiles: Tiles
    value: float
    cells: list[float] = Field(description="each cell's share, row by row; they add up to the value")
    patterns: list[Pattern] = Field(description="they add up to the value, too")


class Worst(BaseModel):
    ply: int
    slide: SlideName
    best: SlideName
    regret: float
    line: list[LineStep]


class Coached(BaseModel):
    game: str
    rules: str
    size: str
    slider: str | None
    plies: int
    slides: str
    tiles: list[Tiles]
    rewards: list[int]
    scores: list[int]
    values: list[float] = Field(description="expected final score as seen from each state")
    best: str
    regrets: list[float]
    luck: list[float]
    choices: list[int]
    accuracy: float = Field(description="100: always the best slide, 0: always the worst")
    best_share: float
    mean_regret: float
    luck_total: float
    score: int
    largest: int
    worst: list[Worst]


class RecipeFacts(BaseModel):
    name: str
    about: str
    takes: str
    expect: str
    game: str


class Run(BaseModel):
    id: str
    name: str
    game: str
    rules: str
    size: str
    network: str
    method: str
    status: Literal["starting", "running", "stopping", "elsewhere", "stopped", "done", "failed"]
    why: str | None
    games: int
    total: int | None
    seconds: float
    limit: float | None
    moves_per_s: float | None
    mean: float | None
    win_rate: float | None
    win_tile: int | None
    doing: str | None
    model: str | None


class Runs(BaseModel):
    runs: list[Run]
    recipes: list[RecipeFacts]
    busy: str | None


class Record(BaseModel):
    kind: Literal["block", "eval"]
    games: int
    mean: float
    max: int | None = None
    interval: float | None = None
    win_rate: float
    win_tile: int
    reached: dict[str, float]
    moves_per_s: float | None = None
    mean_rate: float | None = None
    mean_error: float | None = None


class RunRecords(BaseModel):
    run: Run
    records: list[Record]
    next: int
