import { defineMessage, filled } from '../../language/t.ts';
import type { Protocol } from '../../listeners/listener.ts';
import { hasNotGreeted, type OtherService, type OutcomeCode } from '../../listeners/outcomes.ts';
import type { Explanation } from './explanation.ts';
import { HTTP_TEXTS, PROVEN_TEXTS, V1_TEXTS } from './explanations-by-protocol.ts';
import { FETCH_EXPLANATIONS, FETCH_TEXTS } from './fetch-explanations.ts';
import { SERVICE_EXPLANATIONS } from './service-explanations.ts';
import { WEBSITE_EXPLANATIONS } from './website-explanations.ts';

const NOTHING_TO_DO = defineMessage('There is nothing to do.');

/** What each outcome means for the owner of the server, and how to correct it; `explain` adapts it to the protocol. */
export const EXPLANATIONS: Record<OutcomeCode, Explanation> = {
  acknowledged: { cause: defineMessage('The listener took the vote and said so.'), advice: NOTHING_TO_DO },
  'sent-not-confirmed': {
    cause: defineMessage(
      'The vote was sent, and the listener closed the connection without an error; many Votifier v1 listeners say no more than that, even when the key is wrong or a plugin that takes votes fails.',
    ),
    advice: defineMessage(
      'If votes do not arrive in the game, compare the public key with the plugin’s own, look for an error in the game server’s log and see that the plugin takes v1, or change to Votifier v2, which can confirm.',
    ),
  },

  'dns-not-found': {
    cause: defineMessage('The listener’s host name has no address.'),
    advice: defineMessage(
      'Check the spelling of the host and its DNS records, or set the listener to its IP address.',
    ),
  },
  'dns-timeout': {
    cause: defineMessage('The name servers of the listener’s host gave no answer in time.'),
    advice: defineMessage(
      'Check that the domain’s name servers work, or set the listener to its IP address.',
    ),
  },
  'connection-refused': {
    cause: defineMessage(
      'The machine answers, but nothing listens on this port, or a firewall rejects the connection.',
    ),
    advice: defineMessage(
      'Check that the game server runs with its vote plugin, that the port is the one of the plugin’s configuration (usually 8192), not the game’s, and that no firewall rejects connections to it.',
    ),
  },
  'refused-over-ipv6': {
    cause: defineMessage(
      'The machine answers over IPv6, but nothing listens on this port there, or a firewall rejects the connection.',
    ),
    advice: defineMessage(
      'Check that the program that takes the votes runs and listens over IPv6 too, and that no firewall rejects it, or remove the IPv6 address (AAAA record) of the host.',
    ),
  },
  'firewall-rejected': {
    cause: defineMessage('A firewall rejects connections to the listener’s port.'),
    advice: defineMessage(
      'Allow the listener’s port in the firewall of the game server’s machine and in the hosting panel, and check the address.',
    ),
  },
  unreachable: {
    cause: defineMessage('There is no way through the network to the listener’s address.'),
    advice: defineMessage(
      'Check the address, that the machine is running, and that its network can be reached from the internet.',
    ),
  },
  'connect-timeout': {
    cause: defineMessage(
      'Nothing answered at the listener’s address and port; mostly a firewall drops the connection.',
    ),
    advice: defineMessage(
      'Open the listener’s port in the firewall and in the hosting panel, forward it in the router, and check the address.',
    ),
  },
  silent: {
    cause: defineMessage(
      'Something took the connection and then said nothing, though a Votifier listener speaks first: it is another service, the vote plugin hangs, or a filter holds the connection back.',
    ),
    advice: defineMessage(
      'Check that the port is the vote plugin’s, not the game’s, look in the game server’s log whether the plugin hangs, and let no proxy or DDoS filter be in front of it.',
    ),
  },
  'closed-before-greeting': {
    cause: defineMessage('The connection was closed before the listener greeted.'),
    advice: defineMessage(
      'Check the game server’s log, and that no proxy, DDoS filter or address limit ends connections to the vote port.',
    ),
  },
  'closed-before-written': {
    cause: defineMessage('The listener greeted and then closed the connection before the vote was sent.'),
    advice: defineMessage('Look for an error of the vote plugin in the game server’s log.'),
  },
  'too-slow': {
    cause: defineMessage('The listener’s greeting began, but did not end in time.'),
    advice: defineMessage('Check the load of the game server and of its network.'),
  },
  'unknown-error': {
    cause: defineMessage('The listener answered with an error of its own.'),
    advice: defineMessage(
      'Look for the listener’s words in the game server’s log: mostly the vote plugin, or one that takes its votes, has failed.',
    ),
  },
  'challenge-refused': {
    cause: defineMessage('The listener did not accept the answer to its own challenge.'),
    advice: defineMessage(
      'Check that no proxy mixes up the connections to the vote port; update the vote plugin if the error continues.',
    ),
  },

  'closed-without-answer': {
    cause: defineMessage(
      'The vote was sent, and the listener closed the connection without an answer, as some listeners do on a wrong token, when a plugin that takes votes fails, or at a limit of the plugin or of a filter; it may have arrived all the same.',
    ),
    advice: defineMessage(
      'Look for an error in the game server’s log first; if there is none, copy the token from the vote plugin’s configuration once more, set the listener again with it, and check the limits of the plugin and of filters.',
    ),
  },
  reset: {
    cause: defineMessage(
      'The vote was sent, and the connection broke before an answer came, so the vote may have arrived.',
    ),
    advice: defineMessage(
      'Check that the game server did not stop at that moment and that no proxy or filter cuts connections to the vote port.',
    ),
  },
  'no-answer': {
    cause: defineMessage('The vote was sent, and no answer came in time, so the vote may have arrived.'),
    advice: defineMessage(
      'Look in the game server’s log for an error of the vote plugin, or for a plugin that takes its votes and hangs or is slow, and check the server’s load.',
    ),
  },
  'garbage-answer': {
    cause: defineMessage(
      'The vote was sent, and the answer is not a Votifier answer, so the vote may have arrived.',
    ),
    advice: defineMessage(
      'Check that the port is the vote plugin’s and that no proxy answers in its place; then update the vote plugin.',
    ),
  },
  'lease-ran-out': {
    cause: defineMessage(
      'Tallyport lost the process that was sending this vote, so the vote may have arrived.',
    ),
    advice: defineMessage('There is nothing to do: the vote is retried automatically.'),
  },
  'stopped-while-waiting': {
    cause: defineMessage(
      'Tallyport was stopped while it waited for the listener’s answer, so the vote may have arrived.',
    ),
    advice: defineMessage('There is nothing to do: the vote is retried automatically.'),
  },

  'bad-signature': {
    cause: defineMessage('The listener refused the signature: its token for our service name is different.'),
    advice: defineMessage(
      'Copy the token for our service name, or for “default” if it has none of its own, from the vote plugin’s configuration once more and set the listener again with it.',
    ),
  },
  'unknown-service': {
    cause: defineMessage('The listener has no token for our service name.'),
    advice: defineMessage(
      'Add a token for our service name, or one for “default”, to the vote plugin’s configuration and set it here.',
    ),
  },
  'key-invalid': {
    cause: defineMessage('The listener could not decrypt the vote: its key is different.'),
    advice: defineMessage(
      'Copy the public key from the vote plugin’s folder once more (rsa/public.key) and set the listener again with it.',
    ),
  },
  'not-votifier': SERVICE_EXPLANATIONS['other-protocol'],
  'v1-only': {
    cause: defineMessage('The listener speaks Votifier v1 only, and a v2 token is set.'),
    advice: defineMessage(
      'Set the listener as Votifier v1 with its public key, or install NuVotifier, which speaks v2.',
    ),
  },
  'v2-only': {
    cause: defineMessage('The listener takes Votifier v2 only, and a v1 public key is set.'),
    advice: defineMessage('Set the listener as Votifier v2 with the token in the plugin’s configuration.'),
  },
  'address-refused': {
    cause: defineMessage('The listener’s host resolves to an address that is not public.'),
    advice: defineMessage(
      'Use the server’s public address; for a listener in your own network, the operator adds its range to ALLOWED_PRIVATE_RANGES.',
    ),
  },
  'repeated-vote-faults': {
    cause: defineMessage('The listener refused several votes in a row, one by one.'),
    advice: defineMessage(
      'Read the reason in the timelines of these votes, correct it, and resume the listener.',
    ),
  },
  'never-acknowledged': {
    cause: defineMessage(
      'The listener has taken no vote with its current settings, and gave no answer to the last one, as happens when a plugin that takes votes hangs or fails, at a limit or filter, and with a wrong token; other votes wait.',
    ),
    advice: defineMessage(
      'Look for an error in the game server’s log first; if there is none, copy the token from the vote plugin’s configuration once more and set the listener again with it; if it is right, resume the listener.',
    ),
  },

  'name-too-long': {
    cause: defineMessage('The listener takes no player name of this length.'),
    advice: defineMessage(
      'Other votes are not affected: this player’s name does not fit the game; if it is a test vote, update the vote plugin.',
    ),
  },
  'frame-too-long': {
    cause: defineMessage('The vote does not fit into one message of this protocol.'),
    advice: defineMessage(
      'Choose a shorter service name, or Votifier v2, which takes longer messages than v1.',
    ),
  },
  'vote-refused': {
    cause: defineMessage('The listener refused this vote, though it takes others.'),
    advice: defineMessage('Read the listener’s message, correct what it names, and resend the vote.'),
  },

  'stopped-before-written': {
    cause: defineMessage('Tallyport was stopped before it sent the vote.'),
    advice: defineMessage('There is nothing to do: the vote is retried automatically.'),
  },
  'outgoing-limited': {
    cause: defineMessage(
      'Tallyport opens only so many connections a minute to an address that has not acknowledged a vote yet, and for one account.',
    ),
    advice: defineMessage(
      'There is nothing to do: the vote is sent automatically within a minute or two, and a listener that acknowledges is no longer limited.',
    ),
  },
  'our-fault': {
    cause: defineMessage('Tallyport itself failed before it sent the vote.'),
    advice: defineMessage(
      'There is nothing to do for the owner: the vote is retried automatically, and the operator finds the error in the log.',
    ),
  },

  ...WEBSITE_EXPLANATIONS,
  ...FETCH_EXPLANATIONS,
};

/** The same with the service name of the listener: a plugin may have a token for each. */
const namedTexts = (service: string): Partial<Record<OutcomeCode, Explanation>> => ({
  'bad-signature': {
    cause: filled(
      defineMessage(
        'The listener refused the signature: its token for our service name “{service}” is different.',
      ),
      { service },
    ),
    advice: filled(
      defineMessage(
        'Copy the token for our service name “{service}”, or for “default” if it has none of its own, from the vote plugin’s configuration once more and set the listener again with it.',
      ),
      { service },
    ),
  },
  'unknown-service': {
    cause: filled(defineMessage('The listener has no token for our service name “{service}”.'), { service }),
    advice: filled(
      defineMessage(
        'Add a token for our service name “{service}”, or one for “default”, to the vote plugin’s configuration and set it here.',
      ),
      { service },
    ),
  },
});

/** An explanation from elsewhere, such as a worker's answer as JSON, with the service name of its listener. */
export function withServiceName<T extends Explanation>(explained: T, serviceName: string | undefined): T {
  if (!serviceName) return explained;
  const named = namedTexts(serviceName);
  const code = (['bad-signature', 'unknown-service'] as const).find(
    (code) => EXPLANATIONS[code].cause === explained.cause,
  );
  return code ? { ...explained, ...named[code] } : explained;
}

/** What is known of a listener whose outcome is explained. */
export type Known = {
  /** It has taken a vote with its current settings: its port is right. */
  hasTaken?: boolean;
  serviceName?: string | undefined;
  /** What answers in its place, if that was detected. */
  service?: OtherService | null | undefined;
};

/** The explanation of an outcome for a listener of this protocol, and and with what else is known of it. */
export function explain(
  code: OutcomeCode,
  protocol: Protocol | undefined,
  { hasTaken = false, serviceName, service }: Known = {},
): Explanation {
  if (protocol === 'http') return HTTP_TEXTS[code] ?? EXPLANATIONS[code];
  if (protocol === 'fetch') return FETCH_TEXTS[code] ?? EXPLANATIONS[code];
  if (service && !hasTaken && hasNotGreeted(code)) return SERVICE_EXPLANATIONS[service];
  const proven = hasTaken ? PROVEN_TEXTS[code] : undefined;
  const named = serviceName ? namedTexts(serviceName)[code] : undefined;
  const own = protocol === 'votifier-v1' ? V1_TEXTS[code] : undefined;
  return proven ?? named ?? own ?? EXPLANATIONS[code];
}
