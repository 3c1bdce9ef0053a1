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

/** Every outcome of an attempt. Codes are stable: the database, metrics and `--json` contain them. */
export const OUTCOMES: Readonly<Record<OutcomeCode, OutcomeDefinition>> = DEFINITIONS;
export const OUTCOME_CODES = Object.keys(OUTCOMES) as OutcomeCode[];

/** What is known of a stored code. Beside a later version, or after it was taken back, it may be one of that version. */
export function outcomeOf(code: OutcomeCode): OutcomeDefinition {
  return OUTCOMES[code] ?? OF_LATER_VERSION;
}

/** What a diagnosis can name as wrong. */
export type Fault = Extract<(typeof DEFINITIONS)[OutcomeCode], { fault: string }>['fault'] | OtherService;

/** Whether an attempt ended without an answer. If the token or key is wrong, many listeners send no answer. */
export function isSilent({ code, words }: Pick<Outcome, 'code' | 'words'>): boolean {
  return !words && outcomeOf(code).isSilent === true;
}

/** How far an attempt got, in order. `written`: the first byte of the frame was handed to the socket. */
export const STEPS = ['none', 'resolved', 'connected', 'greeted', 'written', 'acknowledged'] as const;
export type Step = (typeof STEPS)[number];

/** The outcome of one attempt. */
export type Outcome = {
  code: OutcomeCode;
  class: OutcomeClass;
  /** How far the attempt got. */
  reached: Step;
  /** The listener's message, at most 200 printable characters; absent when it sent none. */
  words?: string;
  /** What Tallyport itself found, such as the target of a redirect or the error message of its TLS library. */
  detail?: string;
  /** The delay that the listener requested, in milliseconds (HTTP's Retry-After); at most an hour. */
  retryAfterMs?: number;
};

/** Makes an outcome; its class follows from its code. */
export function outcome(code: OutcomeCode, reached: Step, words?: string): Outcome {
  return { code, class: OUTCOMES[code].class, reached, ...(words ? { words } : {}) };
}

/** The listener's message and what Tallyport found, without absent or empty fields. */
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

/** The detail of an attempt without an answer at a v1 listener that greeted as one of v2, such as NuVotifier. */
export const GREETS_AS_V2 = 'It greets as Votifier v2.';
