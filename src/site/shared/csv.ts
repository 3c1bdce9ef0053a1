import { languageNow } from '../../language/language.ts';

/** How Excel reads a file in a language: what separates its cells, and its decimals. */
const FORMS = { en: { separator: ',', decimal: '.' }, de: { separator: ';', decimal: ',' } } as const;

/** Excel reads UTF-8 only if the file begins with a byte order mark. */
const BYTE_ORDER_MARK = '\ufeff';

/**
 * A table as CSV (RFC 4180) for a spreadsheet in the language of the page: German ones separate cells by semicolons. The
 * first line names the columns; `null` is an empty cell.
 *
 * Text that a spreadsheet would read as a formula gets a leading apostrophe (OWASP, "CSV Injection"), because players
 * choose their names.
 */
export function csv(columns: string[], rows: (string | number | null)[][]): string {
  const { separator, decimal } = FORMS[languageNow()];
  const lines = [columns, ...rows].map(
    (row) => `${row.map((one) => cell(one, decimal)).join(separator)}\r\n`,
  );
  return BYTE_ORDER_MARK + lines.join('');
}

function cell(value: string | number | null, decimal: string): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value).replace('.', decimal);
  const safe = /^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : value;
  return /[",;\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
