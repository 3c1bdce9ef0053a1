import { forEachLanguage, languageNow, localeOf } from '../../language/language.ts';

/** Excel expects a semicolon between cells where a comma separates decimals. */
const formIn = forEachLanguage((language) => {
  const parts = new Intl.NumberFormat(localeOf(language)).formatToParts(0.5);
  const decimal = parts.find(({ type }) => type === 'decimal')?.value ?? '.';
  return { decimal, separator: decimal === ',' ? ';' : ',' };
});

/** Without it, Excel does not read a file as UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';

/**
 * CSV (RFC 4180) for spreadsheets, in the form of the page's language. A text that a spreadsheet would read as a
 * formula gets a leading apostrophe (OWASP, "CSV Injection"), because players choose some of the texts.
 */
export function csv(columns: string[], rows: (string | number | null)[][]): string {
  const { separator, decimal } = formIn(languageNow());
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
