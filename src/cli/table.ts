const SEGMENTS = new Intl.Segmenter('en', { granularity: 'grapheme' });
const WIDE =
  /\p{Emoji_Presentation}|\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]/u;

/** East Asian characters and emoji take two columns of a terminal. */
function columns(text: string): number {
  let width = 0;
  for (const { segment } of SEGMENTS.segment(text)) {
    if (/^[\p{M}\p{Cf}]+$/u.test(segment)) continue;
    width += WIDE.test(segment) ? 2 : 1;
  }
  return width;
}

/** Untrusted text for one line: what moves the cursor or changes the writing direction becomes `·`. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, '·');
}

export function table(head: string[], rows: (string | number)[][], none: string): string {
  if (rows.length === 0) return none;
  return aligned([head, ...rows]);
}

export type Pair = [name: string, value: string | number | null];

export function pairs(rows: Pair[]): string {
  return aligned(rows.flatMap(([name, value]) => (value === null ? [] : [[`${name}:`, value]])));
}

function aligned(rows: (string | number)[][]): string {
  const cells = rows.map((row) => row.map((cell) => oneLine(String(cell))));
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((row) => columns(row[column] ?? ''))),
  );
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - columns(cell)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
