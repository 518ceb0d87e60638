"""Messages between the page and the server. OpenAPI is made from them, so every field has its meaning and its limits."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

DEPTH, MOVE_TIME = 5, 2.0  # most slides and most seconds of a search
MOVES = 300_000  # most moves of one game
WATCHED = 100_000  # most moves in one answer
TEXT = 400  # most characters of a board

SlideName = Literal["up", "right", "down", "left"]
BoardText = Annotated[
    str,
    Field(
        max_length=TEXT,
        description="the tiles row by row, with / between rows; if the rules show the next tile, it follows: | next 2",
        examples=["2 4 8 16 / 0 2 4 8 / 0 0 2 4 / 0 0 0 2"],
    ),
]
Seed = Annotated[int, Field(ge=0, lt=2**53, description="seed of the random generator")]
Rng = Annotated[
    str, Field(pattern="^[0-9a-f]{16}$", description="state of the random generator", examples=["0123456789abcdef"])
]
Rewards = Annotated[int, Field(ge=0, lt=2**40, description="sum of all rewards so far")]
Moves = Annotated[
    str,
    Field(max_length=MOVES, pattern="^[URDL]*$", description="the slides, one letter each: U, R, D or L", examples=["URDL"]),
]
Id = Annotated[
    str, Field(min_length=1, max_length=40, description="id of a model or a run, as /api/models and /api/runs list it")
]
GameName = Annotated[str, Field(description="name of the game")]
RulesName = Annotated[str, Field(description="name of the rule set")]
SizeName = Annotated[str, Field(description="size of the board: rows x columns")]
Short = Annotated[str, Field(max_length=200)]
Count = Annotated[str, Field(max_length=20)]
Tiles = Annotated[str, Field(description="the index of each tile, row by row, as one digit in base 36")]
Values = Annotated[
    dict[SlideName, float | None], Field(description="reward plus value of each slide; null if the slide is illegal")
]


class Strict(BaseModel):
    """Unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", strict=True)


# --- requests ------------------------------------------------------------------------------------------------------------


class GameRef(Strict):
    game: Short = Field("2048", description="name of the game, as /api/about lists it")
    rules: Short | None = Field(None, description="rule set; the game's first one if none is given")
    size: Short = Field("4x4", description="size of the board: rows x columns")


class NewGame(GameRef):
    seed: Seed | None = Field(None, description="seed of the random generator; a random one if none is given")


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

    depth: int | None = Field(None, ge=1, le=DEPTH, description="how many slides to look ahead; 2 if nothing is given")
    move_time: float | None = Field(
        None, ge=0.001, le=MOVE_TIME, description="seconds of thinking for each move, instead of a depth"
    )


class Watch(Look):
    model: Id
    text: BoardText
    rng: Rng
    rewards: Rewards
    count: int = Field(1, ge=1, le=WATCHED, description="how many moves to make at most")
    budget: float = Field(50, ge=1, le=100, description="milliseconds after which no new move is started")


class Ask(Look):
    """Here is my board, what now?"""

    board: BoardText
    model: Id | None = Field(None, description="id of the model; the best one for the game if none is given")
    game: Short = Field("2048", description="name of the game, if no model is given")
    rules: Short | None = Field(None, description="rule set, if no model is given; the game's first one by default")
    size: Short = Field("4x4", description="size of the board, if no model is given: rows x columns")


class AskByAddress(Ask):
    """The same question in an address, where every value is text."""

    model_config = ConfigDict(extra="forbid", strict=False)


class Why(Strict):
    model: Id
    board: BoardText
    slide: SlideName | None = Field(None, description="the slide to explain; the best one if none is given")


class Coaching(GameRef):
    model: Id
    seed: Seed | None = Field(None, description="seed of the game, together with its moves")
    moves: Moves | None = None
    episode: str | None = Field(
        None, max_length=2_000_000, description="one line of an episode file, instead of seed and moves"
    )


class Start(GameRef):
    """A training run: a recipe, or options of `afterstate train`."""

    recipe: Short | None = Field(None, description="name of a recipe that /api/runs lists; it sets all other options")
    name: str | None = Field(
        None,
        pattern="^[A-Za-z0-9][A-Za-z0-9 ._-]{0,59}$",
        description="name of the run's folder; chosen automatically if none is given",
    )
    network: Short | None = Field(None, description="a preset such as 4x6, or patterns as hex digits: 0123,4567")
    method: Short | None = Field(None, description="learning rule: td, or tc, which sets its own rates")
    lambda_: float | None = Field(None, ge=0, le=1, alias="lambda", description="how far back errors reach: TD(lambda)")
    alpha: float | None = Field(None, gt=0, le=100, description="learning rate")
    time: Count | None = Field(None, description="how long to train, such as 30s or 10m")
    games: Count | None = Field(None, description="how many games to train with, such as 20k")


class Resume(Strict):
    time: Count | None = Field(None, description="total training time, such as 10m")
    games: Count | None = Field(None, description="total number of games, such as 100k")


# --- answers -------------------------------------------------------------------------------------------------------------


class Problem(BaseModel):
    error: str = Field(description="what went wrong, in one sentence")


class NextTile(BaseModel):
    text: str = Field(description="the next tile as boards write it")
    words: str = Field(description="what a screen reader says for it")


class BoardSize(BaseModel):
    size: str = Field(description="rows x columns")
    firsts: int = Field(description="number of tiles on the first board")
    goal: int | None = Field(description="the tile that people play for; null if there is none")
    example: str = Field(description="a first state as text")


class RuleSet(BaseModel):
    name: str = Field(description="name of the rule set")
    note: str = Field(description="one line about these rules")
    sizes: list[BoardSize] = Field(description="the board sizes that can be played, the largest last")
    next: list[NextTile] = Field(description="what can be shown as the next tile; empty if the rules do not show it")
    hints: bool = Field(description="whether an episode file says with each new tile which one comes next")


class AboutGame(BaseModel):
    game: str = Field(description="name of the game in requests")
    title: str = Field(description="name of the game for people")
    rules: list[RuleSet] = Field(description="its rule sets, the default first")
    faces: list[int] = Field(description="what is written on each tile, by the tile's index")


class Limits(BaseModel):
    depth: int = Field(DEPTH, description="slides that a model may look ahead")
    move_time: float = Field(MOVE_TIME, description="seconds that a model may think about one move")
    watch: int = Field(WATCHED, description="moves that one answer of /api/watch may hold")
    moves: int = Field(MOVES, description="moves that one game may have")


class Method(BaseModel):
    name: str = Field(description="name of the learning rule in requests")
    about: str = Field(description="what it is, in a few words")


class About(BaseModel):
    version: str = Field(description="version of Afterstate")
    state: Literal["starting", "compiling", "ready"] = Field(
        description="what the server is doing; while it compiles, only on the first start, answers are slow"
    )
    games: list[AboutGame] = Field(description="all games, the default first")
    methods: list[Method] = Field(description="learning rules")
    limits: Limits = Field(Limits(), description="limits of requests")


class Model(BaseModel):
    id: str = Field(description="id of the model in requests")
    name: str = Field(description="name of its run or file")
    game: str = Field(description="the game that it plays")
    rules: str = Field(description="the rule set that it was trained with")
    size: str = Field(description="the board size that it plays on: rows x columns")
    network: str = Field(description="the network's preset, or how many patterns it has")
    games: int | None = Field(description="number of games that it was trained with")
    mean: float | None = Field(description="mean score of the block of games that it was saved after")
    win_rate: float | None = Field(description="share of that block's games that reached the win tile")
    win_tile: int | None = Field(description="the tile that counts as a win")
    run: str | None = Field(description="id of the run that it belongs to")


class Models(BaseModel):
    models: list[Model]
    default: str | None = Field(description="id of the model that was given on the command line, or of the best one")


class Position(BaseModel):
    text: str = Field(description="the position as one line of text, which other requests accept")
    tiles: Tiles
    legal: list[SlideName] = Field(description="the slides that move something")
    over: bool = Field(description="whether no slide is legal")
    largest: int = Field(description="the largest tile")
    next: str | None = Field(description="the next tile, as /api/about writes it; null if the rules do not show it")


class Going(BaseModel):
    """Everything that is needed to continue a game."""

    position: Position
    rng: str = Field(description="state of the random generator")
    rewards: int = Field(description="sum of all rewards so far")
    score: int = Field(description="the score if the game ended here")


class Playing(Going):
    game: GameName
    rules: RulesName
    size: SizeName
    seed: int = Field(description="the seed; with it the same moves give the same game")


class Slid(Going):
    slide: SlideName
    reward: int = Field(description="reward of this slide")
    after: Tiles


class Frame(BaseModel):
    at: int = Field(description="how many moves of this answer had been made by then")
    slide: SlideName
    after: Tiles
    tiles: Tiles
    score: int = Field(description="score by then")


class Watched(Going):
    moves: str = Field(description="the moves that were made, one letter each")
    frames: list[Frame] = Field(description="one for each move if there are at most 64, otherwise 16 at even distances")


class Answer(BaseModel):
    board: str = Field(description="the board that was asked about")
    move: SlideName | None = Field(description="the best slide; null if the game is over")
    values: Values
    depth: int = Field(description="how many slides the model looked ahead")
    ms: float = Field(description="how long the model thought, in milliseconds")


class LineStep(BaseModel):
    slide: SlideName
    value: float = Field(description="reward plus value of the slide")
    after: Tiles
    tiles: Tiles = Field(description="the board with a typical new tile")
    text: str = Field(description="the state with that tile, as text")


class Analysis(BaseModel):
    position: Position
    move: SlideName | None = Field(description="the best slide; null if the game is over")
    values: Values
    rewards: dict[SlideName, int] = Field(description="reward of each legal slide")
    after: dict[SlideName, Tiles] = Field(description="the board after each legal slide")
    depth: int = Field(description="how many slides the model looked ahead")
    ms: float = Field(description="how long the model thought, in milliseconds")
    line: list[LineStep] = Field(description="how the game could continue")


class Isomorph(BaseModel):
    cells: list[int] = Field(description="the cells that the pattern covers, numbered row by row from 0")
    weight: float = Field(description="the weight for the tiles there")


class Pattern(BaseModel):
    pattern: str = Field(description="its cells as hex digits")
    value: float = Field(description="the sum of its weights")
    isomorphs: list[Isomorph] = Field(description="the pattern on each turned or mirrored board")


class Explained(BaseModel):
    slide: SlideName
    of: Literal["afterstate", "state"] = Field(description="what the network values")
    tiles: Tiles
    value: float = Field(description="value of that position")
    cells: list[float] = Field(description="each cell's share, row by row; they add up to the value")
    patterns: list[Pattern] = Field(description="each pattern's share; they add up to the value, too")


class Worst(BaseModel):
    ply: int = Field(description="number of the move, counted from 0")
    slide: SlideName = Field(description="the slide that was made")
    best: SlideName = Field(description="the best slide")
    regret: float = Field(description="how many points it gave away")
    line: list[LineStep] = Field(description="a better way to continue")


class Coached(BaseModel):
    game: GameName
    rules: RulesName
    size: SizeName
    slider: str | None = Field(description="who played, if the record says so")
    plies: int = Field(description="number of moves")
    slides: str = Field(description="the moves, one letter each")
    tiles: list[Tiles] = Field(description="the board of each state")
    rewards: list[int] = Field(description="reward of each move")
    scores: list[int] = Field(description="score before each move, and at the end")
    values: list[float] = Field(description="the final score that the model expects in each state")
    best: str = Field(description="the best slide in each state, one letter each")
    regrets: list[float] = Field(description="how many points each move gave away")
    luck: list[float] = Field(description="luck of the new tile after each move; 0 on average")
    choices: list[int] = Field(description="number of legal slides in each state")
    accuracy: float = Field(description="100 for always the best slide, 0 for always the worst")
    best_share: float = Field(description="share of the moves with a choice that gave nothing away")
    mean_regret: float = Field(description="mean of all regrets")
    luck_total: float = Field(description="sum of all luck")
    score: int = Field(description="score at the end")
    largest: int = Field(description="largest tile at the end")
    worst: list[Worst] = Field(description="the worst moves, at most three")


class RecipeFacts(BaseModel):
    name: str = Field(description="name of the recipe")
    about: str = Field(description="what the recipe does")
    takes: str = Field(description="how long it takes")
    expect: str = Field(description="what to expect")
    game: GameName


class Run(BaseModel):
    id: str = Field(description="id of the run in requests")
    name: str = Field(description="name of its folder")
    game: GameName
    rules: RulesName
    size: SizeName
    network: str = Field(description="the network's preset or patterns")
    method: str = Field(description="learning rule")
    status: Literal["starting", "running", "stopping", "elsewhere", "stopped", "done", "failed"] = Field(
        description="what the run is doing; elsewhere means that another process trains it"
    )
    why: str | None = Field(description="why it failed, if it did")
    games: int = Field(description="number of games played so far")
    total: int | None = Field(description="total number of games, if the run is limited by games")
    seconds: float = Field(description="seconds of training so far")
    limit: float | None = Field(description="total seconds of training, if the run is limited by time")
    moves_per_s: float | None = Field(description="moves per second")
    mean: float | None = Field(description="mean score of the last block of games")
    win_rate: float | None = Field(description="share of the last block's games that reached the win tile")
    win_tile: int | None = Field(description="the tile that counts as a win")
    doing: str | None = Field(description="compiling, training or evaluating")
    model: str | None = Field(description="id of its model, once there is one")


class Runs(BaseModel):
    runs: list[Run]
    recipes: list[RecipeFacts]
    busy: str | None = Field(description="id of the run that this server trains now")


class Record(BaseModel):
    kind: Literal["block", "eval"] = Field(description="a block of training games, or an evaluation with learning off")
    games: int = Field(description="number of games played by then")
    mean: float = Field(description="mean score")
    max: int | None = Field(None, description="highest score")
    interval: float | None = Field(None, description="half of the 95 % interval of the mean")
    win_rate: float = Field(description="share of games that reached the win tile")
    win_tile: int = Field(description="the tile that counts as a win")
    reached: dict[str, float] = Field(description="share of games that reached each tile")
    moves_per_s: float | None = Field(None, description="moves per second of training")
    mean_rate: float | None = Field(None, description="mean learning rate")
    mean_error: float | None = Field(None, description="mean error of the values")


class RunRecords(BaseModel):
    run: Run
    records: list[Record]
    next: int = Field(description="number of records so far; send it as `after` the next time")
