/**
 * A table as a file (RFC 4180): the first line names the columns. `null` is an empty cell.
 *
 * A text that a spreadsheet would take for a formula gets an apostrophe before it (OWASP, "CSV Injection"): players
 * choose their names.
 */
export function csv(columns: string[], rows: (string | number | null)[][]): string {
  return [columns, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

function cell(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
