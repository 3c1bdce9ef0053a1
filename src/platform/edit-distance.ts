/** Three rows of the distance table. They are reused, because one search compares thousands of words. */
let rows: [Uint16Array, Uint16Array, Uint16Array] = [
  new Uint16Array(128),
  new Uint16Array(128),
  new Uint16Array(128),
];

/**
 * How many letters must be added, removed, replaced or swapped with their neighbour to turn `a` into `b` (optimal
 * string alignment).
 */
export function editDistance(a: string, b: string): number {
  if (b.length >= rows[0].length) {
    const longer = () => new Uint16Array(2 * b.length);
    rows = [longer(), longer(), longer()];
  }
  let [before, last, now] = rows;
  for (let column = 0; column <= b.length; column += 1) last[column] = column;
  for (let row = 1; row <= a.length; row += 1) {
    const letter = a.charCodeAt(row - 1);
    const letterBefore = row > 1 ? a.charCodeAt(row - 2) : -1;
    let left = row;
    now[0] = row;
    for (let column = 1; column <= b.length; column += 1) {
      const other = b.charCodeAt(column - 1);
      const diagonal = at(last, column - 1) + (letter === other ? 0 : 1);
      let least = Math.min(left + 1, at(last, column) + 1, diagonal);
      if (column > 1 && letterBefore === other && letter === b.charCodeAt(column - 2))
        least = Math.min(least, at(before, column - 2) + 1);
      now[column] = least;
      left = least;
    }
    [before, last, now] = [last, now, before];
  }
  return at(last, b.length);
}

function at(row: Uint16Array, column: number): number {
  return row[column] ?? 0;
}
