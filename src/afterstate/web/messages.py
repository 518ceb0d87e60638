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
    name: str = Field(description="of the rule set")
    shows_next: bool = Field(description="whether the player knows the next tile")


class AboutGame(BaseModel):
    game: str = Field(description="as requests name it")
    title: str = Field(description="as people name it")
    rules: list[RuleSet]
    sizes: list[str] = Field(description="rows x columns")
    faces: list[int] = Field(description="what is written on a tile, by its index")


class Limits(BaseModel):
    depth: int = DEPTH
    move_time: float = MOVE_TIME
    watch: int = WATCHED
    moves: int = MOVES


class About(BaseModel):
    version: str = Field(description="of Afterstate")
    state: Literal["starting", "compiling", "ready"] = Field(description="compiling, the first time only, makes answers late")
    games: list[AboutGame]
    limits: Limits = Limits()


class Model(BaseModel):
    id: str = Field(description="as requests name it")
    name: str = Field(description="of its run or file")
    game: str = Field(description="that it plays")
    rules: str = Field(description="that it was trained by")
    size: str = Field(description="rows x columns")
    network: str = Field(description="a preset, or how many patterns")
    games: int | None = Field(description="that it was trained with")
    mean: float | None = Field(description="of the block it was kept for")
    win_rate: float | None = Field(description="games of that block that reached the win tile")
    win_tile: int | None = Field(description="the tile that counts as a win")
    run: str | None = Field(description="id of the run it belongs to")


class Models(BaseModel):
    models: list[Model]
    default: str | None = Field(description="the one of the command line, or the best")


class Position(BaseModel):
    text: str = Field(description="one line that can be read back")
    tiles: Tiles
    legal: list[SlideName] = Field(description="slides that move something")
    over: bool = Field(description="whether no slide is legal")
    largest: int = Field(description="tile")
    next: str | None = Field(description="1, 2, 3, or + for a bonus tile; null where it is not shown")


class Going(BaseModel):
    """All that is needed to go on with a game."""

    position: Position
    rng: str = Field(description="where the generator stands")
    rewards: int = Field(description="sum so far")
    score: int = Field(description="as if the game ended here")


class Playing(Going):
    game: str
    rules: str
    size: str
    seed: int = Field(description="that gives the same game again")


class Slid(Going):
    slide: SlideName
    reward: int = Field(description="of this slide")
    after: Tiles


class Frame(BaseModel):
    at: int = Field(description="moves of this answer that were made by then")
    slide: SlideName
    after: Tiles
    tiles: Tiles
    score: int


class Watched(Going):
    moves: str = Field(description="that were made, a letter each")
    frames: list[Frame] = Field(description="one for each of up to 64 moves, else 16 spread evenly")


class Answer(BaseModel):
    board: str = Field(description="that was asked about")
    move: SlideName | None = Field(description="null when the game is over")
    values: Values
    depth: int = Field(description="slides that it looked ahead")
    ms: float = Field(description="milliseconds of thinking")


class LineStep(BaseModel):
    slide: SlideName
    value: float = Field(description="reward + value of the slide")
    after: Tiles
    tiles: Tiles = Field(description="with a typical new tile")
    text: str = Field(description="the state with that tile")


class Analysis(BaseModel):
    position: Position
    move: SlideName | None
    values: Values
    rewards: dict[SlideName, int] = Field(description="of each legal slide")
    after: dict[SlideName, Tiles]
    depth: int = Field(description="slides that it looked ahead")
    ms: float = Field(description="milliseconds of thinking")
    line: list[LineStep] = Field(description="how it may go on")


class Isomorph(BaseModel):
    cells: list[int] = Field(description="that the pattern looks at, row by row from 0")
    weight: float = Field(description="that it found there")


class Pattern(BaseModel):
    pattern: str = Field(description="its cells as hex digits")
    value: float = Field(description="the sum of its weights")
    isomorphs: list[Isomorph]


class Explained(BaseModel):
    slide: SlideName
    of: Literal["afterstate", "state"] = Field(description="what the network values")
    tiles: Tiles
    value: float = Field(description="of that position")
    cells: list[float] = Field(description="each cell's share, row by row; they add up to the value")
    patterns: list[Pattern] = Field(description="they add up to the value, too")


class Worst(BaseModel):
    ply: int = Field(description="number of the move, from 0")
    slide: SlideName
    best: SlideName
    regret: float = Field(description="what it gave away")
    line: list[LineStep] = Field(description="what would have been better")


class Coached(BaseModel):
    game: str
    rules: str
    size: str
    slider: str | None = Field(description="who played, if the record says it")
    plies: int = Field(description="moves of the game")
    slides: str = Field(description="a letter each")
    tiles: list[Tiles] = Field(description="of each state")
    rewards: list[int] = Field(description="of each move")
    scores: list[int] = Field(description="before each move, and at the end")
    values: list[float] = Field(description="expected final score as seen from each state")
    best: str = Field(description="the best slide of each state")
    regrets: list[float] = Field(description="what each move gave away")
    luck: list[float] = Field(description="of the new tile after each move; 0 on average")
    choices: list[int] = Field(description="legal slides of each state")
    accuracy: float = Field(description="100: always the best slide, 0: always the worst")
    best_share: float = Field(description="moves with a choice that gave nothing away")
    mean_regret: float = Field(description="over all moves")
    luck_total: float = Field(description="sum of all luck")
    score: int = Field(description="at the end")
    largest: int = Field(description="tile at the end")
    worst: list[Worst] = Field(description="up to three moves")


class RecipeFacts(BaseModel):
    name: str
    about: str = Field(description="what it is")
    takes: str = Field(description="how long it takes")
    expect: str = Field(description="what to expect")
    game: str


class Run(BaseModel):
    id: str = Field(description="as requests name it")
    name: str = Field(description="of its folder")
    game: str
    rules: str
    size: str
    network: str
    method: str = Field(description="learning rule")
    status: Literal["starting", "running", "stopping", "elsewhere", "stopped", "done", "failed"] = Field(
        description="elsewhere: another process trains it"
    )
    why: str | None = Field(description="it failed")
    games: int = Field(description="played so far")
    total: int | None = Field(description="games in all, if limited by games")
    seconds: float = Field(description="trained so far")
    limit: float | None = Field(description="seconds in all, if limited by time")
    moves_per_s: float | None
    mean: float | None = Field(description="score of the last block")
    win_rate: float | None = Field(description="of the last block")
    win_tile: int | None
    doing: str | None = Field(description="compiling, training or evaluating")
    model: str | None = Field(description="id of its model, once there is one")


class Runs(BaseModel):
    runs: list[Run]
    recipes: list[RecipeFacts]
    busy: str | None = Field(description="id of the run that this server trains now")


class Record(BaseModel):
    kind: Literal["block", "eval"] = Field(description="a block of training games, or an evaluation with learning off")
    games: int = Field(description="played by then")
    mean: float = Field(description="score")
    max: int | None = Field(None, description="score")
    interval: float | None = Field(None, description="half of the 95 % interval of the mean")
    win_rate: float = Field(description="games that reached the win tile")
    win_tile: int
    reached: dict[str, float] = Field(description="share of games for each tile")
    moves_per_s: float | None = Field(None, description="of training")
    mean_rate: float | None = Field(None, description="of learning")
    mean_error: float | None = Field(None, description="of the values")


class RunRecords(BaseModel):
    run: Run
    records: list[Record]
    next: int = Field(description="lines so far: what to send as `after` the next time")
