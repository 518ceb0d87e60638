"""The server's answers: one function for each question. They run in threads."""

import secrets
from time import perf_counter
from typing import Annotated, Any

import numpy as np
from fastapi import Query

from afterstate.engine.record import Record, format_moves, parse_moves
from afterstate.engine.record import replay as play_again
from afterstate.errors import AfterstateError, InputError
from afterstate.games.game import Afterstate, Game, Slide, State
from afterstate.kernel import u64
from afterstate.play.agent import Agent, Choice
from afterstate.play.episodes import read_line
from afterstate.play.review import Mistake, Step, best_line, review
from afterstate.rng import Purpose, Random
from afterstate.web import messages
from afterstate.web.library import Library, game_of

NAMES: list[messages.SlideName] = ["up", "right", "down", "left"]
EVERY_FRAME = 64  # up to this many moves, each has a frame
FRAMES = 16  # if there are more moves
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


def _going(game: Game, state: State, rng: Random, rewards: int) -> dict[str, Any]:
    """The fields of every answer about a game in progress."""
    return {
        "position": position_of(game, state),
        "rng": f"{int(rng.state):016x}",
        "rewards": rewards,
        "score": game.score(state, rewards),
    }


def _slid(game: Game, state: State, name: messages.SlideName) -> Afterstate:
    """The afterstate of a slide; one that moves nothing is an error."""
    afterstate = game.slide(state, Slide(NAMES.index(name)))
    if afterstate is None:
        raise IllegalError(f"a slide {name} moves nothing on {game.format(state)}")
    return afterstate


# --- games ---------------------------------------------------------------------------------------------------------------


def begin(ref: messages.GameRef, seed: int, moves: str) -> messages.Playing:
    """A game after some moves, from its seed."""
    game = game_of(ref)
    rng = Random(seed, Purpose.PLAY)
    record = play_again(game, rng, parse_moves(moves))
    going = _going(game, record.state(-1), rng, int(record.rewards.sum()))
    return messages.Playing(game=game.name, rules=game.rules, size=str(game.shape), seed=seed, **going)


def new(request: messages.NewGame) -> messages.Playing:
    """A game's first state; the seed is random if none is given."""
    return begin(request, secrets.randbelow(10**9) if request.seed is None else request.seed, "")


def replay(request: messages.Replay) -> messages.Playing:
    return begin(request, request.seed, request.moves)


def slide(request: messages.SlideRequest) -> messages.Slid:
    game = game_of(request)
    state = game.parse(request.text)
    afterstate = _slid(game, state, request.slide)
    rng = _generator(request.rng)
    going = _going(game, game.sample(afterstate, rng), rng, request.rewards + afterstate.reward)
    return messages.Slid(slide=request.slide, reward=afterstate.reward, after=tiles(game, afterstate), **going)


def watch(library: Library, request: messages.Watch) -> messages.Watched:
    """Some moves by a model."""
    with library.agent(request.model, depth=request.depth, move_time=request.move_time) as agent:
        game = agent.network.game
        state = game.parse(request.text)
        rng = _generator(request.rng)
        record = agent.play_on(state, rng, moves=request.count, seconds=request.budget / 1000)
    going = _going(game, record.state(-1), rng, request.rewards + int(record.rewards.sum()))
    return messages.Watched(moves=record.moves, frames=_frames(game, record, request.rewards), **going)


def _frames(game: Game, record: Record, before: int) -> list[messages.Frame]:
    count = len(record.slides)
    shown = range(1, count + 1) if count <= EVERY_FRAME else [count * (step + 1) // FRAMES for step in range(FRAMES)]
    sums = np.cumsum(record.rewards)
    frames = []
    for at in shown:
        state = record.state(at)
        score = game.score(state, before + int(sums[at - 1]))
        after = tiles(game, record.afterstate(at - 1))
        frames.append(
            messages.Frame(at=at, slide=NAMES[record.slides[at - 1]], after=after, tiles=tiles(game, state), score=score)
        )
    return frames


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
    """How many slides the agent looked ahead."""
    return max(choice.search.moves_by_depth, default=0) if choice.search is not None else agent.depth


def move(library: Library, request: messages.Ask) -> messages.Answer:
    model = library.find(request.model, request.game, request.rules, request.size)
    with library.agent(model, depth=request.depth, move_time=request.move_time) as agent:
        game, state, choice, ms = _ask(agent, request.board)
        return messages.Answer(
            board=game.format(state), move=_name(choice.move), values=_values(choice), depth=_depth(agent, choice), ms=ms
        )


def move_by_address(library: Library, request: Annotated[messages.AskByAddress, Query()]) -> messages.Answer:
    return move(library, request)


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
        depth=depth, ms=ms, line=_line(game, line),
    )  # fmt: skip


def _line(game: Game, line: tuple[Step, ...]) -> list[messages.LineStep]:
    return [
        messages.LineStep(
            slide=NAMES[step.slide], value=step.value, after=tiles(game, step.afterstate),
            tiles=tiles(game, step.state), text=game.format(step.state),
        )
        for step in line
    ]  # fmt: skip


def explain(library: Library, request: messages.Why) -> messages.Explained:
    with library.agent(request.model, depth=1, move_time=None) as agent:
        game, state, choice, _ = _ask(agent, request.board)
    if choice.move is None:
        raise InputError(f"the game is over: there is no slide to explain on {game.format(state)}")
    wanted = request.slide or NAMES[choice.move]
    afterstate = _slid(game, state, wanted)
    network = agent.network
    of_states = network.target == "state"
    looked_at: State | Afterstate = state if of_states else afterstate
    found = network.explain(looked_at)
    return messages.Explained(
        slide=wanted, of="state" if of_states else "afterstate", tiles=tiles(game, looked_at), value=found.value,
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
    """Review a game, given by seed and moves or by a line of an episode file."""
    network = library.network(request.model)
    game = game_of(request)
    if game is not network.game:
        raise InputError(f"this model is for {network.game!r}, not for {game!r}; choose another model")
    record, slider = _game_to_coach(game, request)
    if len(record.slides) > messages.MOVES:
        raise InputError(f"the coach takes games of at most {messages.MOVES} moves, not {len(record.slides)}")
    found = review(network, record)
    with library.agent(request.model, depth=2, move_time=None) as agent:
        worst = [_worst(agent, record, mistake) for mistake in found.worst]
    return messages.Coached(
        game=game.name, rules=game.rules, size=str(game.shape), slider=slider, plies=len(record.slides),
        slides=record.moves, tiles=_all_tiles(game, record), rewards=record.rewards.tolist(),
        scores=found.scores.tolist(), values=_round(found.values), best=format_moves(found.best), regrets=_round(found.regrets),
        luck=_round(found.luck), choices=found.choices.tolist(), accuracy=found.accuracy, best_share=found.best_share,
        mean_regret=found.mean_regret, luck_total=float(found.luck.sum()), score=int(found.scores[-1]),
        largest=game.face(game.largest(record.state(-1))), worst=worst,
    )  # fmt: skip


def _worst(agent: Agent, record: Record, mistake: Mistake) -> messages.Worst:
    """One of the worst moves, with the better line."""
    return messages.Worst(
        ply=mistake.ply, slide=NAMES[mistake.slide], best=NAMES[mistake.best], regret=mistake.regret,
        line=_line(agent.network.game, best_line(agent, record.state(mistake.ply))),
    )  # fmt: skip


def _game_to_coach(game: Game, request: messages.Coaching) -> tuple[Record, str | None]:
    seed, moves, episode = request.seed, request.moves, request.episode
    if seed is not None and moves is not None and episode is None:
        return play_again(game, Random(seed, Purpose.PLAY), parse_moves(moves)), None
    if seed is None and moves is None and episode is not None:
        found = read_line(episode.encode(), game)
        return found, found.slider or None
    raise InputError("give the seed and the moves of a game, or one line of an episode file")


def _all_tiles(game: Game, record: Record) -> list[str]:
    """Every state of a game, in the page's format."""
    return [tiles(game, state) for state in record.states]


def _round(values: Any) -> list[float]:
    """Round to hundredths of a point: enough for a chart."""
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
