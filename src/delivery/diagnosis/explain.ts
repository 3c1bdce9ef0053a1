import { defineMessage, filled } from '../../language/t.ts';
import { LONGEST_USUAL_NAME } from '../../listeners/delivery-limits.ts';
import { type Explanation, explanation } from '../../listeners/explanation.ts';
import type { Listener, Protocol } from '../../listeners/listener.ts';
import { OTHER_SERVICES, type OtherService } from '../../listeners/outcomes/other-services.ts';
import {
  GREETS_AS_V2,
  OUTCOME_CODES,
  OUTCOMES,
  type OutcomeCode,
  type OutcomeText,
  outcomeOf,
} from '../../listeners/outcomes.ts';
import type { Server } from '../../servers/server.ts';

/** Inserts the service name into an explanation from a worker, which was made without it. */
export function withServiceName<T extends Explanation>(explained: T, serviceName: string | undefined): T {
  const known = OUTCOME_CODES.find((code) => OUTCOMES[code].text.cause === explained.cause);
  return { ...explained, ...(known && serviceName ? OUTCOMES[known].textWithName?.(serviceName) : {}) };
}

/** What is known of an attempt and of its listener. */
export type Known = OutcomeText & {
  username?: string;
  /** Whether the listener has taken a vote or a test vote with its current settings, so that its port must be right. */
  hasTaken?: boolean;
  serviceName?: string | undefined;
  /** What was detected in the listener's place. */
  service?: OtherService | null | undefined;
};

/**
 * Whether a v1 listener without an answer is slow rather than has another key: it took votes before, or it greets as
 * NuVotifier does, which closes the connection at once if it cannot decrypt a vote.
 */
export function isSlowV1(
  { code, hasTaken, detail }: { code: OutcomeCode; hasTaken: boolean; detail?: string | undefined },
  protocol: Protocol | undefined,
): boolean {
  return protocol === 'votifier-v1' && code === 'no-answer' && (hasTaken || detail === GREETS_AS_V2);
}

function refusedChallenge(code: OutcomeCode, words = ''): Explanation | undefined {
  const status = code === 'http-challenge-refused' && /^HTTP (\d{3})/.exec(words)?.[1];
  if (!status) return undefined;
  const cause = defineMessage('The website refused the challenge with HTTP {status}; no vote was posted.');
  return { ...OUTCOMES[code].text, cause: filled(cause, { status }) };
}

export function explain(
  code: OutcomeCode,
  protocol: Protocol | undefined,
  { hasTaken = false, serviceName, service, username = '', words, detail }: Known = {},
): Explanation {
  const { text, textFor = {}, textWithName, hasNotGreeted } = outcomeOf(code);
  if (protocol === 'http') {
    const proven = hasTaken ? textFor.provenHttp : undefined;
    return refusedChallenge(code, words) ?? proven ?? textFor.http ?? text;
  }
  if (username.length > LONGEST_USUAL_NAME && textFor.longName) return textFor.longName;
  if (protocol === 'fetch') return textFor.fetch ?? text;
  if (service && !hasTaken && hasNotGreeted) return OTHER_SERVICES[service];
  const isV1 = protocol === 'votifier-v1';
  const isSlow = isV1 && (isSlowV1({ code, hasTaken, detail }, protocol) || detail === GREETS_AS_V2);
  return (
    (isSlow ? textFor.slowV1 : undefined) ??
    (hasTaken ? textFor.provenVotifier : undefined) ??
    (serviceName ? textWithName?.(serviceName) : undefined) ??
    (isV1 ? textFor.v1 : undefined) ??
    text
  );
}

export type GameAddress = Pick<Server, 'address' | 'port'>;

export const GAME_PORT = explanation(
  'The listener has the port of the game itself, as it is listed here: players join there, and the vote plugin listens on a port of its own.',
  'Set the port from the vote plugin’s configuration, usually 8192, and open it in the firewall and in the hosting panel.',
);

export function isGamePort(
  { protocol, host, port }: Pick<Listener, 'protocol' | 'host' | 'port'>,
  game: GameAddress,
): boolean {
  const isVotifier = protocol === 'votifier-v1' || protocol === 'votifier-v2';
  return isVotifier && port === game.port && withoutDot(host) === withoutDot(game.address);
}

function withoutDot(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}
