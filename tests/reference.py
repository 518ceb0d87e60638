"""The rules of 2048 again, slow and obvious: the judge of the kernels. It shares no code with the package.

A board is a list of face values row by row (0 is an empty cell): [2, 4, 0, 2] is the 2x2 board

    2 4
    . 2
"""

from fractions import Fraction

UP, RIGHT, DOWN, LEFT = 0, 1, 2, 3

Row = tuple[int, int, int, int]  # afterstates, states, reward, ended


def slide_line(line: list[int]) -> tuple[list[int], int]:
    """Slide one line to its start: [2, 0, 2, 4] -> [4, 4, 0, 0] and 4."""
    tiles = [tile for tile in line if tile != 0]
    result = []
    reward = 0
    while tiles:
        tile = tiles.pop(0)
        if tiles and tiles[0] == tile:
            tile += tiles.pop(0)
            reward += tile
        result.append(tile)
    return result + [0] * (len(line) - len(result)), reward


def lines(rows: int, columns: int, direction: int) -> list[list[int]]:
    """Cell numbers of every line; each line begins at the wall that the tiles move to."""
    across = [[row * columns + column for column in range(columns)] for row in range(rows)]
    down = [[row * columns + column for row in range(rows)] for column in range(columns)]
    if direction == LEFT:
        return across
    if direction == RIGHT:
        return [line[::-1] for line in across]
    if direction == UP:
        return down
    return [line[::-1] for line in down]


def slide(cells: list[int], rows: int, columns: int, direction: int) -> tuple[list[int], int]:
    """Slide a whole board -> cells, reward. The slide is illegal if the cells are as before."""
    result = list(cells)
    reward = 0
    for line in lines(rows, columns, direction):
        moved, gain = slide_line([cells[cell] for cell in line])
        reward += gain
        for cell, tile in zip(line, moved, strict=True):
            result[cell] = tile
    return result, reward


def afterstates(cells: list[int], rows: int, columns: int) -> dict[int, tuple[list[int], int]]:
    """Every legal direction -> cells, reward."""
    everything = {direction: slide(cells, rows, columns, direction) for direction in (UP, RIGHT, DOWN, LEFT)}
    return {direction: result for direction, result in everything.items() if result[0] != cells}


def outcomes(cells: list[int]) -> list[tuple[list[int], Fraction]]:
    """Every board that a new tile may give: a 2 (nine times in ten) or a 4 in any empty cell."""
    empty = [cell for cell, tile in enumerate(cells) if tile == 0]
    result = []
    for cell in empty:
        for tile, chance in ((2, Fraction(9, 10)), (4, Fraction(1, 10))):
            result.append(([*cells[:cell], tile, *cells[cell + 1 :]], chance / len(empty)))
    return result


def is_over(cells: list[int], rows: int, columns: int) -> bool:
    """No cell is empty, and no two neighbours are equal. (An empty board, which no game has, cannot be slid either.)"""
    if not any(cells):
        return True
    for row in range(rows):
        for column in range(columns):
            tile = cells[row * columns + column]
            if tile == 0:
                return False
            if column + 1 < columns and cells[row * columns + column + 1] == tile:
                return False
            if row + 1 < rows and cells[(row + 1) * columns + column] == tile:
                return False
    return True


def perft(cells: list[int], rows: int, columns: int, depth: int) -> list[Row]:
    """Count every line of play -> one row (afterstates, states, reward, ended) for each depth from 1 to `depth`."""
    table = []
    states = [cells]
    for _ in range(depth):
        slid = [after for state in states for after in afterstates(state, rows, columns).values()]
        states = [state for after, _ in slid for state, _ in outcomes(after)]
        ended = sum(is_over(state, rows, columns) for state in states)
        table.append((len(slid), len(states), sum(reward for _, reward in slid), ended))
    return table
