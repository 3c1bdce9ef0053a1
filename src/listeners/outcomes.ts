import { ANSWER_OUTCOMES } from './outcomes/answers.ts';
import { CONNECTION_OUTCOMES } from './outcomes/connection.ts';
import { FETCH_OUTCOMES } from './outcomes/fetch.ts';
import type { OtherService } from './outcomes/other-services.ts';
import type { OutcomeClass, OutcomeDefinition } from './outcomes/outcome-definition.ts';
import { OF_LATER_VERSION, TALLYPORT_OUTCOMES } from './outcomes/tallyport.ts';
import { VOTIFIER_OUTCOMES } from './outcomes/votifier.ts';
import { WEBSITE_OUTCOMES } from './outcomes/websites.ts';

const DEFINITIONS = {
  ...CONNECTION_OUTCOMES,
  ...ANSWER_OUTCOMES,
  ...VOTIFIER_OUTCOMES,
  ...WEBSITE_OUTCOMES,
  ...FETCH_OUTCOMES,
  ...TALLYPORT_OUTCOMES,
};

export type OutcomeCode = keyof typeof DEFINITIONS;

/** Codes are stable: the database, metrics and `--json` contain them. */
export const OUTCOMES: Readonly<Record<OutcomeCode, OutcomeDefinition>> = DEFINITIONS;
export const OUTCOME_CODES = Object.keys(OUTCOMES) as OutcomeCode[];

/** A stored code may be one of a later version. */
export function outcomeOf(code: OutcomeCode): OutcomeDefinition {
  return OUTCOMES[code] ?? OF_LATER_VERSION;
}

export type Fault = Extract<(typeof DEFINITIONS)[OutcomeCode], { fault: string }>['fault'] | OtherService;

/** If the token or key is wrong, many listeners send no answer. */
export function isSilent({ code, words }: Pick<Outcome, 'code' | 'words'>): boolean {
  return !words && outcomeOf(code).isSilent === true;
}

/** In order. `written`: the first byte of the frame was handed to the socket. */
export const STEPS = ['none', 'resolved', 'connected', 'greeted', 'written', 'acknowledged'] as const;
export type Step = (typeof STEPS)[number];

export type Outcome = {
  code: OutcomeCode;
  class: OutcomeClass;
  reached: Step;
  /** The listener's message, at most 200 printable characters. */
  words?: string;
  /** What Tallyport found, such as the target of a redirect or a TLS error. */
  detail?: string;
  /** HTTP's Retry-After; at most an hour. */
  retryAfterMs?: number;
};

export function outcome(code: OutcomeCode, reached: Step, words?: string): Outcome {
  return { code, class: OUTCOMES[code].class, reached, ...(words ? { words } : {}) };
}

export function saidIn({
  words,
  detail,
}: {
  words?: string | null | undefined;
  detail?: string | null | undefined;
}): OutcomeText {
  return { ...(words ? { words } : {}), ...(detail ? { detail } : {}) };
}
export type OutcomeText = Pick<Outcome, 'words' | 'detail'>;

/** Of an attempt without an answer at a v1 listener, such as NuVotifier. */
export const GREETS_AS_V2 = 'It greets as Votifier v2.';
