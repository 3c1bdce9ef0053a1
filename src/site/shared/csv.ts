/**
 * A table as CSV (RFC 4180). The first line names the columns; `null` is an empty cell.
 *
 * Text that a spreadsheet would read as a formula gets a leading apostrophe (OWASP, "CSV Injection"), because players
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
