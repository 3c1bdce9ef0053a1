import { defineMessage, filled } from '../../language/t.ts';
import { LONGEST_USUAL_NAME } from '../../listeners/delivery-limits.ts';
import type { Protocol } from '../../listeners/listener.ts';
import {
  GREETS_AS_V2,
  hasNotGreeted,
  type OtherService,
  type OutcomeCode,
  type Said,
} from '../../listeners/outcomes.ts';
import { type Explanation, explanation } from './explanation.ts';
import { EXPLANATIONS, SERVICE_EXPLANATIONS } from './explanations.ts';
import {
  FETCH_TEXTS,
  HTTP_TEXTS,
  PROVEN_HTTP_TEXTS,
  PROVEN_TEXTS,
  V1_TEXTS,
} from './explanations-by-protocol.ts';

/** If a plugin has a token for each service name, these texts say which name the token belongs to. */
const NAMED = {
  'bad-signature': {
    cause: defineMessage(
      'The listener refused the signature: its token for our service name “{service}” is different, or it has none for it.',
    ),
    advice: defineMessage(
      'Copy the token for our service name “{service}”, or for “default” if it has none of its own, from the vote plugin’s configuration once more and set the listener again with it; add one if there is neither, and after any change there, also an earlier one, restart the game server or reload the plugin.',
    ),
  },
  'unknown-service': {
    cause: defineMessage('The listener has no token for our service name “{service}”.'),
    advice: defineMessage(
      'Add a token for our service name “{service}”, or one for “default”, to the vote plugin’s configuration, restart the game server or reload the plugin, and set the token here.',
    ),
  },
};

function namedText(code: keyof typeof NAMED, service: string): Explanation {
  const { cause, advice } = NAMED[code];
  return { cause: filled(cause, { service }), advice: filled(advice, { service }) };
}

/** Inserts the service name into an explanation that was made without it, such as one in a worker's answer. */
export function withServiceName<T extends Explanation>(explained: T, serviceName: string | undefined): T {
  if (!serviceName) return explained;
  const code = (['bad-signature', 'unknown-service'] as const).find(
    (code) => EXPLANATIONS[code].cause === explained.cause,
  );
  return code ? { ...explained, ...namedText(code, serviceName) } : explained;
}

/** If the listener took a vote whose name is longer than the names of Minecraft. */
const TAKEN_WITH_A_LONG_NAME = explanation(
  'The listener took the vote and said so, but its name has over 16 characters, to which some listeners cut it (VotifierPlus, Votifier 1.9).',
  'If the player gets no reward, let them vote with the name that they have in the game.',
);

/** The same if the listener says nothing about a vote. */
const SENT_WITH_A_LONG_NAME = explanation(
  'The vote was sent, and nothing confirms it; its name has over 16 characters, to which some listeners cut it (VotifierPlus, Votifier 1.9).',
  'If the player gets no reward, let them vote with the name that they have in the game.',
);

/** What is known of an attempt and of its listener. */
export type Known = Said & {
  /** The player of the vote. */
  username?: string;
  /** Whether the listener has taken a vote or a test vote with its current settings, so that its port must be right. */
  hasTaken?: boolean;
  serviceName?: string | undefined;
  /** The service that answers in the listener's place, if one was detected. */
  service?: OtherService | null | undefined;
};

/** For Votifier v1 without an answer, if a different key is not the likelier cause (`isSlowV1`). */
const SLOW_V1 = explanation(
  'The vote was sent, and the listener kept the connection open without an answer: a plugin that takes votes is slow or hangs, the server is overloaded, a filter drops the vote or the answer, or its key has changed; it may have arrived all the same.',
  'Look in the game server’s log for a plugin that takes votes and is slow or hangs, and check the server’s load and the filters before it; if there is nothing, compare the public key with the plugin’s own (rsa/public.key).',
);

/** The same if such a listener was paused because it has taken no vote yet. */
const SLOW_V1_PAUSED = explanation(
  'The listener has taken no vote with its current settings, and kept the connection of the last one open without an answer: a plugin that takes votes is slow or hangs, the server is overloaded, or a filter drops the vote or the answer; other votes wait.',
  'Look in the game server’s log for a plugin that takes votes and is slow or hangs, check the server’s load and the filters before it, and resume the listener; if there is nothing, compare the public key with the plugin’s own (rsa/public.key).',
);

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

/** The explanation with the status of a website that refused the challenge: its words begin with it. */
function refusedChallenge(code: OutcomeCode, words = ''): Explanation | undefined {
  const status = code === 'http-challenge-refused' && /^HTTP (\d{3})/.exec(words)?.[1];
  if (!status) return undefined;
  const cause = defineMessage('The website refused the challenge with HTTP {status}; no vote was posted.');
  return { ...EXPLANATIONS[code], cause: filled(cause, { status }) };
}

/** The explanation of an outcome for a listener of this protocol. What is known of the listener may change it. */
export function explain(
  code: OutcomeCode,
  protocol: Protocol | undefined,
  { hasTaken = false, serviceName, service, username = '', words, detail }: Known = {},
): Explanation {
  if (protocol === 'http') {
    const proven = hasTaken ? PROVEN_HTTP_TEXTS[code] : undefined;
    return refusedChallenge(code, words) ?? proven ?? HTTP_TEXTS[code] ?? EXPLANATIONS[code];
  }
  if (username.length > LONGEST_USUAL_NAME) {
    if (code === 'acknowledged') return TAKEN_WITH_A_LONG_NAME;
    if (code === 'sent-not-confirmed') return SENT_WITH_A_LONG_NAME;
  }
  if (protocol === 'fetch') return FETCH_TEXTS[code] ?? EXPLANATIONS[code];
  if (service && !hasTaken && hasNotGreeted(code)) return SERVICE_EXPLANATIONS[service];
  if (isSlowV1({ code, hasTaken, detail }, protocol)) return SLOW_V1;
  if (protocol === 'votifier-v1' && code === 'never-acknowledged' && detail === GREETS_AS_V2)
    return SLOW_V1_PAUSED;
  const proven = hasTaken ? PROVEN_TEXTS[code] : undefined;
  const isNamed = code === 'bad-signature' || code === 'unknown-service';
  const named = serviceName && isNamed ? namedText(code, serviceName) : undefined;
  const own = protocol === 'votifier-v1' ? V1_TEXTS[code] : undefined;
  return proven ?? named ?? own ?? EXPLANATIONS[code];
}
