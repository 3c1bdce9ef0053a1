import { REPORT_INTERVAL_MINUTES } from '../history/take-reports.ts';
import { SECOND } from '../platform/clock.ts';
import { OPERATION_TIMEOUT_MS } from '../platform/mongo.ts';
import { COOLDOWN_HOURS } from '../votes/cast/cooldown.ts';
import type { ProofOfWorkError } from '../votes/web/proof-of-work.ts';
import { BODY_KIB, DONE_KIB, HEADER_KIB, MOST_FIELDS } from './request-limits.ts';

export const READ_API_OFF = 'The operators have switched off the API without a token.';

/** `ofPages`: only pages and `/readyz` answer with it, the API never. */
type Meaning = { status: number; meaning: string; ofPages?: true };

/**
 * The values of `code` in JSON error bodies; the vote form has more (`VOTE_FORM_CODES`). A code never changes and is
 * never reused; a later version may add codes.
 */
export const ERROR_CODES = {
  malformed: { status: 400, meaning: 'A field, a parameter or the request itself is malformed.' },
  'too-many-fields': { status: 400, meaning: `The form or the query has more than ${MOST_FIELDS} fields.` },
  unauthorized: { status: 401, meaning: 'No valid token of this server was sent.' },
  forbidden: { status: 403, meaning: 'The user may not do this.', ofPages: true },
  'scope-missing': {
    status: 403,
    meaning: 'The token lacks the scope that the call needs, or is of another kind.',
  },
  'listing-paused': {
    status: 403,
    meaning: 'The owner has paused the listing of the server: it takes no votes until it begins again.',
  },
  'not-found': { status: 404, meaning: 'There is nothing at this address.' },
  disabled: { status: 404, meaning: READ_API_OFF },
  'no-goal': { status: 404, meaning: 'The server has no vote goal.' },
  'method-not-allowed': { status: 405, meaning: 'The address exists and does not take this method.' },
  'request-timeout': { status: 408, meaning: 'The request took too long to arrive.' },
  conflict: {
    status: 409,
    meaning: 'The state changed, or was already what the request asks for.',
    ofPages: true,
  },
  'claims-off': {
    status: 409,
    meaning: 'The vote listener of the server rewards votes: they cannot be claimed.',
  },
  'too-large': {
    status: 413,
    meaning: `The body is larger than ${BODY_KIB} KiB; ${DONE_KIB} KiB for \`deliveries/done\`.`,
  },
  'unsupported-media-type': { status: 415, meaning: 'The body is not JSON, or is compressed.' },
  'expectation-failed': { status: 417, meaning: 'The `Expect` header has an unknown value.' },
  'idempotency-key-reused': {
    status: 422,
    meaning: 'The Idempotency-Key was used with another username.',
  },
  'fetch-not-set': { status: 422, meaning: 'The server does not fetch its votes.' },
  cooldown: { status: 429, meaning: `The player voted for this server in the last ${COOLDOWN_HOURS} hours.` },
  'too-early': {
    status: 429,
    meaning: `The server reported its status in the last ${REPORT_INTERVAL_MINUTES} minutes.`,
  },
  'too-many-requests': {
    status: 429,
    meaning: 'A limit of the pages, of a claim key, of taking votes or of calls without a token is used up.',
  },
  'headers-too-large': { status: 431, meaning: `The headers are larger than ${HEADER_KIB} KiB.` },
  internal: { status: 500, meaning: 'An error of the listing.' },
  unavailable: {
    status: 503,
    meaning: 'A page cannot be shown at the moment, or the process is not ready.',
    ofPages: true,
  },
  overloaded: { status: 503, meaning: 'There is too much to do, or too many requests on one connection.' },
  stopping: { status: 503, meaning: 'The process is stopping.' },
  'clock-wrong': { status: 503, meaning: 'The clock of the process differs from the database’s.' },
  'database-unavailable': {
    status: 503,
    meaning: `The database does not answer within ${OPERATION_TIMEOUT_MS / SECOND} seconds.`,
  },
  'database-not-ready': { status: 503, meaning: 'The database is not prepared yet.' },
  'queues-unavailable': {
    status: 503,
    meaning: 'Redis does not answer, so the queues cannot be shown.',
    ofPages: true,
  },
  'result-unknown': {
    status: 503,
    meaning: 'The vote may have been counted: repeat it with the same Idempotency-Key, or call check-vote.',
  },
} as const satisfies Record<string, Meaning>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** The status of each error that only the vote form has. Its codes do not change either. */
export const VOTE_FORM_CODES = {
  'proof-missing': 400,
  'proof-malformed': 400,
  'proof-forged': 400,
  'proof-wrong': 400,
  'proof-expired': 400,
  'proof-for-another-server': 400,
  'proof-for-another-player': 400,
  'proof-for-another-network': 400,
  'web-votes-off': 403,
  'identity-not-proven': 403,
  'vote-not-accepted': 403,
  'proof-used': 409,
  'too-many-players': 429,
} as const satisfies Record<ProofOfWorkError, number> & Record<string, number>;

export type VoteFormCode = keyof typeof VOTE_FORM_CODES;

/** Errors of Fastify or a plugin have only a status. Of the codes with the status 429 or 503, they get these. */
const GENERAL = { 429: 'too-many-requests', 503: 'unavailable' } as const;

export function codesOf(status: number): ErrorCode[] {
  return (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => ERROR_CODES[code].status === status);
}

export function isOfPages(code: ErrorCode): boolean {
  return 'ofPages' in ERROR_CODES[code];
}

export function codeOfStatus(status: number): ErrorCode {
  if (status === 429 || status === 503) return GENERAL[status];
  return codesOf(status)[0] ?? (status < 500 ? 'malformed' : 'internal');
}
