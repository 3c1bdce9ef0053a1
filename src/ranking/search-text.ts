/** In characters. */
export const LONGEST_SEARCH = 100;

/** What was typed, as one line of valid Unicode; the rest of a longer text is left out. */
export function searchText(typed: string): string {
  const line = typed
    .slice(0, 2 * LONGEST_SEARCH)
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ');
  return Array.from(line).slice(0, LONGEST_SEARCH).join('').trim();
}
