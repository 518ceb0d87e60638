"""What the server answers, one function for each question; it runs in a thread."""

from time import perf_counter
from typing import Any

import numpy as np

from afterstate.errors import AfterstateError, InputError
from afterstate.games.game import Afterstate, Game, Slide, State
from afterstate.kernel import u64
from afterstate.learning.episode import Recorded
from afterstate.play.agent import Agent, Choice
from afterstate.play.onward import format_moves, parse_moves
from afterstate.play.onward import replay as play_again
from afterstate.play.records import read_line
from afterstate.play.review import Mistake, Step, best_line, review
from afterstate.rng import Purpose, Random
from afterstate.web import messages
from afterstate.web.library import Library, game_of

NAMES: list[messages.SlideName] = ["up", "right", "down", "left"]
EVERY_FRAME = 64  # moves up to which each has a frame
FRAMES = 16  # of longer stretches
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class IllegalError(AfterstateError):
    """A slide that the rules forbid."""


# --- positions -----------------------------------------------------------------------------------------------------------


def tiles(game: Game, position: State | Afterstate) -> str:
    return "".join(_DIGITS[cell] for cell in game.cells(position))


def position_of(game: Game, state: State) -> messages.Position:
    legal = [NAMES[slide] for slide in game.afterstates(state)]
    return messages.Position(
        text=game.format(state), tiles=tiles(game, state), legal=legal, over=not legal,
        largest=game.face(game.largest(state)), next=game.next_tile(state) or None,
    )  # fmt: skip


def _generator(text: str) -> Random:
    rng = Random(0)
    rng.state = u64(int(text, 16))
    return rng


def _write(rng: Random) -> str:
    return f"{int(rng.state):016x}"


# --- games ---------------------------------------------------------------------------------------------------------------


def begin(ref: messages.GameRef, seed: int, moves: str) -> messages.Playing:
    """A game from its seed, after some moves."""
    game = game_of(ref)
    rng = Random(seed, Purpose.PLAY)
    record = play_again(game, rng, parse_moves(moves))
    state = State(int(record.boards[-1]), int(record.extras[-1]))
    rewards = int(record.rewards.sum())
    return messages.Playing(
        game=game.name, rules=game.rules, size=str(game.shape), seed=seed, position=position_of(game, state),
        rng=_write(rng), rewards=rewards, score=game.score(state, rewards),
    )  # fmt: skip


def slide(request: messages.SlideRequest) -> messages.Slid:
    game = game_of(request)
    state = game.parse(request.text)
    afterstate = game.slide(state, Slide(NAMES.index(request.slide)))
    if afterstate is None:
        raise IllegalError(f"a slide {request.slide} moves nothing on {game.format(state)}")
    rng = _generator(request.rng)
    after = game.sample(afterstate, rng)
    rewards = request.rewards + afterstate.reward
    return messages.Slid(
        slide=request.slide, reward=afterstate.reward, after=tiles(game, afterstate), position=position_of(game, after),
        rng=_write(rng), rewards=rewards, score=game.score(after, rewards),
    )  # fmt: skip


def watch(library: Library, request: messages.Watch) -> messages.Watched:
    """Some moves by a model."""
    with library.agent(request.model, depth=request.depth, move_time=request.move_time) as agent:
        game = agent.network.game
        state = game.parse(request.text)
        rng = _generator(request.rng)
        record = agent.play_on(state, rng, moves=request.count, seconds=request.budget / 1000)
    count = len(record.slides)
    last = State(int(record.boards[count]), int(record.extras[count]))
    rewards = request.rewards + int(record.rewards.sum())
    return messages.Watched(
        moves=format_moves(record.slides), frames=_frames(game, record, request.rewards), position=position_of(game, last),
        rng=_write(rng), rewards=rewards, score=game.score(last, rewards),
    )  # fmt: skip


def _frames(game: Game, record: Recorded, before: int) -> list[messages.Frame]:
    count = len(record.slides)
    shown = range(1, count + 1) if count <= EVERY_FRAME else [count * (step + 1) // FRAMES for step in range(FRAMES)]
    sums = np.cumsum(record.rewards)
    frames = []
    for at in shown:
        state = State(int(record.boards[at]), int(record.extras[at]))
        score = game.score(state, before + int(sums[at - 1]))
        after = _after_tiles(game, record, at - 1)
        frames.append(
            messages.Frame(at=at, slide=NAMES[record.slides[at - 1]], after=after, tiles=tiles(game, state), score=score)
        )
    return frames


def _after_tiles(game: Game, record: Recorded, ply: int) -> str:
    """The board after a slide and before the new tile; a record keeps one word of it, which is all but for huge tiles."""
    state = State(int(record.boards[ply]), int(record.extras[ply]))
    return tiles(game, game.afterstates(state)[Slide(int(record.slides[ply]))])


# --- questions to a model ------------------------------------------------------------------------------------------------


def _ask(agent: Agent, text: str) -> tuple[Game, State, Choice, float]:
    game = agent.network.game
    state = game.parse(text)
    began = perf_counter()
    choice = agent.choose(state)
    return game, state, choice, 1000 * (perf_counter() - began)


def _values(choice: Choice) -> dict[messages.SlideName, float | None]:
    return {NAMES[slide]: value for slide, value in choice.values.items()}


def _name(move: Slide | None) -> messages.SlideName | None:
    return None if move is None else NAMES[move]


def _depth(agent: Agent, choice: Choice) -> int:
    """How far it looked."""
    return max(choice.search.depths, default=0) if choice.search is not None else agent.depth


def move(library: Library, request: messages.Ask) -> messages.Answer:
    model = library.find(request.model, request.game, request.rules, request.size)
    with library.agent(model, depth=request.depth, move_time=request.move_time) as agent:
        game, state, choice, ms = _ask(agent, request.board)
        return messages.Answer(
            board=game.format(state), move=_name(choice.move), values=_values(choice), depth=_depth(agent, choice), ms=ms
        )


def analyse(library: Library, request: messages.Ask) -> messages.Analysis:
    model = library.find(request.model, request.game, request.rules, request.size)
    with library.agent(model, depth=request.depth, move_time=request.move_time) as agent:
        game, state, choice, ms = _ask(agent, request.board)
        depth = _depth(agent, choice)
    with library.agent(model, depth=2, move_time=None) as quick:
        line = best_line(quick, state, first=choice)
    slid = game.afterstates(state)
    return messages.Analysis(
        position=position_of(game, state), move=_name(choice.move), values=_values(choice),
        rewards={NAMES[each]: afterstate.reward for each, afterstate in slid.items()},
        after={NAMES[each]: tiles(game, afterstate) for each, afterstate in slid.items()},
        depth=depth, ms=ms, score_hint=None if choice.move is None else choice.values[choice.move], line=_line(game, line),
    )  # fmt: skip


def _line(game: Game, line: tuple[Step, ...]) -> list[messages.LineStep]:
    return [
        messages.LineStep(
            slide=NAMES[step.slide], value=step.value, after=tiles(game, Afterstate(step.after, step.after_extra, 0)),
            tiles=tiles(game, step.state), text=game.format(step.state),
        )
        for step in line
    ]  # fmt: skip


def explain(library: Library, request: messages.Why) -> messages.Explained:
    with library.agent(request.model, depth=1, move_time=None) as agent:
        game, state, choice, _ = _ask(agent, request.board)
    if choice.move is None:
        raise InputError(f"the game is over: there is no slide to explain on {game.format(state)}")
    wanted = choice.move if request.slide is None else Slide(NAMES.index(request.slide))
    afterstate = game.slide(state, wanted)
    if afterstate is None:
        raise IllegalError(f"a slide {request.slide} moves nothing on {game.format(state)}")
    network = agent.network
    of_states = network.values == "state"
    looked_at: State | Afterstate = state if of_states else afterstate
    found = network.explain(looked_at)
    return messages.Explained(
        slide=NAMES[wanted], of="state" if of_states else "afterstate", tiles=tiles(game, looked_at), value=found.value,
        cells=[float(share) for share in found.cells.reshape(-1)],
        patterns=[
            messages.Pattern(
                pattern=share.pattern, value=share.value,
                isomorphs=[
                    messages.Isomorph(cells=list(cells), weight=weight)
                    for cells, weight in zip(share.cells, share.weights, strict=True)
                ],
            )
            for share in found.patterns
        ],
    )  # fmt: skip


# --- the coach -----------------------------------------------------------------------------------------------------------


def coach(library: Library, request: messages.Coaching) -> messages.Coached:
    """Look back on a game: from its seed and moves, or from a line of an episode file."""
    network = library.network(request.model)
    game = game_of(request)
    if game is not network.game:
        raise InputError(f"this model is for {network.game!r}, and the game is one of {game!r}")
    record, slider = _game_to_coach(game, request)
    if len(record.slides) > messages.MOVES:
        raise InputError(f"a game has at most {messages.MOVES} moves here, not {len(record.slides)}")
    found = review(network, record)
    last = State(int(record.boards[-1]), int(record.extras[-1]))
    with library.agent(request.model, depth=2, move_time=None) as agent:
        worst = [_worst(agent, record, mistake) for mistake in found.worst]
    return messages.Coached(
        game=game.name, rules=game.rules, size=str(game.shape), slider=slider, plies=len(record.slides),
        slides=format_moves(record.slides), tiles=_all_tiles(game, record), rewards=record.rewards.tolist(),
        scores=found.scores.tolist(), values=_round(found.values), best=format_moves(found.best), regrets=_round(found.regrets),
        luck=_round(found.luck), choices=found.choices.tolist(), accuracy=found.accuracy, best_share=found.best_share,
        mean_regret=found.mean_regret, luck_total=float(found.luck.sum()), score=int(found.scores[-1]),
        largest=game.face(game.largest(last)), worst=worst,
    )  # fmt: skip


def _worst(agent: Agent, record: Recorded, mistake: Mistake) -> messages.Worst:
    """One of the worst moves, with the better line."""
    state = State(int(record.boards[mistake.ply]), int(record.extras[mistake.ply]))
    return messages.Worst(
        ply=mistake.ply, slide=NAMES[mistake.slide], best=NAMES[mistake.best], regret=mistake.regret,
        line=_line(agent.network.game, best_line(agent, state)),
    )  # fmt: skip


def _game_to_coach(game: Game, request: messages.Coaching) -> tuple[Recorded, str | None]:
    by_seed = request.seed is not None and request.moves is not None
    if by_seed == (request.episode is not None) or (request.seed is None) != (request.moves is None):
        raise InputError("give the seed and the moves of a game, or one line of an episode file")
    if by_seed:
        assert request.seed is not None
        assert request.moves is not None
        return play_again(game, Random(request.seed, Purpose.PLAY), parse_moves(request.moves)), None
    assert request.episode is not None
    found = read_line(request.episode.encode(), game)
    return found.replay(), found.slider or None


def _all_tiles(game: Game, record: Recorded) -> list[str]:
    """Every state of a game, as the page reads it."""
    states = zip(record.boards.tolist(), record.extras.tolist(), strict=True)
    return [tiles(game, State(board, extra)) for board, extra in states]


def _round(values: Any) -> list[float]:
    """Numbers for a chart: a hundredth of a point is enough."""
    return [round(value, 2) for value in values.tolist()]


# --- the start -----------------------------------------------------------------------------------------------------------


def warm_up(library: Library) -> None:
    """Load or compile what the first questions need, before anyone asks."""
    begin(messages.NewGame(), 1, "")
    default = library.models().default
    if default is None:
        return
    game = library.network(default).game
    ref = messages.GameRef(game=game.name, rules=game.rules, size=str(game.shape))
    first = begin(ref, 1, "")
    text = first.position.text
    for depth in (1, 2):
        watch(library, messages.Watch(model=default, text=text, rng=first.rng, rewards=0, budget=1.0, depth=depth))
        move(library, messages.Ask(board=text, model=default, depth=depth))
    coach(library, messages.Coaching(model=default, seed=1, moves="", **ref.model_dump()))
