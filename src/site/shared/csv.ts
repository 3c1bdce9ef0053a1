import { byLanguage, LOCALES, languageNow } from '../../language/language.ts';

/** The separators that Excel expects in each language. If a comma separates decimals, a semicolon separates cells. */
const FORMS = byLanguage((language) => {
  const parts = new Intl.NumberFormat(LOCALES[language]).formatToParts(0.5);
  const decimal = parts.find(({ type }) => type === 'decimal')?.value ?? '.';
  return { decimal, separator: decimal === ',' ? ';' : ',' };
});

/** A byte order mark at the beginning, without which Excel does not read a file as UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';

/**
 * A table as CSV (RFC 4180) for spreadsheets, in the language of the page: in German, semicolons separate cells. The
 * first line has the names of the columns; `null` is an empty cell. If a spreadsheet would read a text as a formula:
 * the text gets a leading apostrophe (OWASP, "CSV Injection"), because players choose some of the texts.
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
