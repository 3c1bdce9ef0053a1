import { ERROR_CODES, type ErrorCode, isOfPages, VOTE_FORM_CODES } from '../../src/http/error-codes.ts';
import { type Generated, code as inCode, part, table } from './generated.ts';

const FILE = 'docs/errors.md';

function codes(): string {
  const rows = Object.entries(ERROR_CODES).map(([code, { status, meaning }]) => [
    String(status),
    inCode(code),
    meaning,
  ]);
  const ofPages = (Object.keys(ERROR_CODES) as ErrorCode[]).filter(isOfPages).map(inCode);
  const pages = `Only pages and \`/readyz\` answer with ${ofPages.join(', ')}.`;
  return `${table(['Status', 'Code', 'Meaning'], rows)}\n\n${pages}`;
}

function codesOfVoteForm(): string {
  const byStatus = Map.groupBy(Object.entries(VOTE_FORM_CODES), ([, status]) => status);
  const rows = [...byStatus].map(([status, of]) => [
    String(status),
    of.map(([code]) => inCode(code)).join(', '),
  ]);
  return table(['Status', 'Codes'], rows);
}

/** The tables of codes, and the list of all codes that there ever were with their status: nothing removes one of it. */
export const ERROR_CODE_TABLES: Generated[] = [
  part(FILE, 'codes', codes),
  part(FILE, 'codes of the vote form', codesOfVoteForm),
  {
    file: 'test/http/published-codes.json',
    make(now) {
      const statuses = Object.entries(ERROR_CODES).map(([code, { status }]) => [code, status]);
      const published = { ...Object.fromEntries(statuses), ...VOTE_FORM_CODES, ...JSON.parse(now || '{}') };
      return `${JSON.stringify(published, null, 2)}\n`;
    },
  },
];
