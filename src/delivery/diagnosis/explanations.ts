import { defineMessage } from '../../language/t.ts';
import type { Breaker, Listener, Protocol } from '../../listeners/listener.ts';
import type { OutcomeCode } from '../../listeners/outcomes.ts';
import type { Explanation } from './explanation.ts';
import { HTTP_TEXTS, V1_TEXTS } from './explanations-by-protocol.ts';

const NOTHING_TO_DO = defineMessage('There is nothing to do.');

/** What each outcome means for the owner of the server, and how to correct it; `explain` adapts it to the protocol. */
export const EXPLANATIONS: Record<OutcomeCode, Explanation> = {
  acknowledged: { cause: defineMessage('The listener took the vote and said so.'), advice: NOTHING_TO_DO },
  'sent-not-confirmed': {
    cause: defineMessage(
      'The vote was sent, and the listener closed the connection without an error; many Votifier v1 listeners say no more than that, even when the key is wrong.',
    ),
    advice: defineMessage(
      'If votes do not arrive in the game, compare the public key with the plugin’s own and see that the plugin takes v1, or change to Votifier v2, which can confirm.',
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
    cause: defineMessage('The machine answers, but nothing listens on this port.'),
    advice: defineMessage(
      'Check that the game server runs with its vote plugin, and that the port is the one of the plugin’s configuration (usually 8192), not the game’s.',
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
      'Something took the connection and then said nothing; a Votifier listener speaks first.',
    ),
    advice: defineMessage(
      'Check that the port is the vote plugin’s, not the game’s, and that no proxy or DDoS filter is in front of it.',
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
  'http-unavailable': {
    cause: defineMessage(
      'The listener answered that it cannot take votes now (HTTP 5xx, 429 or 408); the vote may have arrived all the same.',
    ),
    advice: defineMessage('Look into the log of the website or application that takes the votes.'),
  },
  'http-not-ready': {
    cause: defineMessage(
      'The website answered the challenge that it cannot take votes now (HTTP 5xx, 429 or 408); no vote was posted.',
    ),
    advice: defineMessage('Look into the log of the website or application that takes the votes.'),
  },

  'closed-without-answer': {
    cause: defineMessage(
      'The vote was sent, and the listener closed the connection without an answer, as some listeners do on a wrong token; it may have arrived all the same.',
    ),
    advice: defineMessage(
      'Copy the token from the vote plugin’s configuration once more and set the listener again with it; if it is right, look into the game server’s log.',
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
      'Look for an error of the vote plugin in the game server’s log, and check the server’s load.',
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
    cause: defineMessage('The listener refused the signature: its token is different.'),
    advice: defineMessage(
      'Copy the token from the vote plugin’s configuration once more and set the listener again with it.',
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
  'not-votifier': {
    cause: defineMessage('Something other than a Votifier listener answers at this address and port.'),
    advice: defineMessage(
      'Set the port of the vote plugin (usually 8192), not the game’s or a website’s, and let no proxy speak before the listener.',
    ),
  },
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
  'not-http': {
    cause: defineMessage('Something that does not speak HTTP answers at this address and port.'),
    advice: defineMessage(
      'Check the port in the URL: it is the website’s, not the game’s and not Votifier’s.',
    ),
  },
  'tls-failed': {
    cause: defineMessage(
      'The URL begins with https://, and what answers there does not speak TLS 1.2 or newer.',
    ),
    advice: defineMessage('Check the port in the URL, or enable HTTPS at the website.'),
  },
  'certificate-refused': {
    cause: defineMessage(
      'The certificate of the website is not valid for its name, has expired, or is not signed by a trusted authority.',
    ),
    advice: defineMessage(
      'Renew or complete the certificate, with the intermediate ones; a self-signed one is not accepted.',
    ),
  },
  'http-redirected': {
    cause: defineMessage('The URL answers with a redirect, and votes do not follow redirects.'),
    advice: defineMessage(
      'Set the listener to the URL where the redirect leads; mostly https:// or www. is missing.',
    ),
  },
  'http-forbidden': {
    cause: defineMessage(
      'The website refuses the request (HTTP 401 or 403): it does not accept our signature, or a filter blocks it.',
    ),
    advice: defineMessage(
      'Compare the secret there with the listener’s, make a new one if in doubt, and let the filter pass this URL.',
    ),
  },
  'http-not-found': {
    cause: defineMessage('There is nothing at this URL (HTTP 404 or 410).'),
    advice: defineMessage(
      'Check the path of the URL, and that the application which takes the votes is installed there.',
    ),
  },
  'http-method-refused': {
    cause: defineMessage('This URL takes no POST requests (HTTP 405 or 501), and votes are posted.'),
    advice: defineMessage(
      'Check the path of the URL, and that the application there takes POST requests; then resume the listener.',
    ),
  },
  'http-votes-refused': {
    cause: defineMessage(
      'The website refuses votes: it has acknowledged none with its current settings, or refused two in a row; other votes wait.',
    ),
    advice: defineMessage(
      'Look into the website’s log for the reason, correct it, send a test vote, and resume the listener.',
    ),
  },
  'http-unverified': {
    cause: defineMessage(
      'The website answered a signed challenge and did not repeat it, so it may not want votes; none was posted.',
    ),
    advice: defineMessage(
      'Answer a message of the type listener.challenge with its challenge, as the documentation of the HTTP listener shows, then send a test vote and resume the listener.',
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
      'The listener has taken no vote with its current settings, and gave no answer to the last one, as happens with a wrong token; other votes wait.',
    ),
    advice: defineMessage(
      'Copy the token from the vote plugin’s configuration once more and set the listener again with it; if it is right, resume the listener.',
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
};

/** The explanation of an outcome for a listener of this protocol. */
export function explain(code: OutcomeCode, protocol: Protocol | undefined): Explanation {
  const own =
    protocol === 'http' ? HTTP_TEXTS[code] : protocol === 'votifier-v1' ? V1_TEXTS[code] : undefined;
  return own ?? EXPLANATIONS[code];
}

/** Why a listener is not active, since when, and what to do about it. */
export type ListenerReason = Explanation & {
  /** Absent when its owner paused it. */
  code?: OutcomeCode;
  /** The listener's message, if it sent one. */
  words?: string;
  /** What Tallyport itself found. */
  detail?: string;
  since: Date;
};

/** Why a listener is paused or unreachable; null when it is active. */
export function listenerReason({
  pause,
  breaker,
  protocol,
}: Pick<Listener, 'pause' | 'breaker'> & { protocol?: Protocol }): ListenerReason | null {
  if (pause) return reason(pause, pause.at, protocol);
  return breaker.openSince ? reason(breaker, breaker.openSince, protocol) : null;
}

const PAUSED_BY_OWNER: Explanation = {
  cause: defineMessage('Its owner paused it.'),
  advice: defineMessage('Resume it to receive votes again: waiting votes are sent then.'),
};

function reason(
  { code, words, detail }: Pick<Breaker, 'code' | 'words' | 'detail'>,
  since: Date,
  protocol: Protocol | undefined,
): ListenerReason {
  const explanation = code ? { code, ...explain(code, protocol) } : PAUSED_BY_OWNER;
  return { ...explanation, ...(words ? { words } : {}), ...(detail ? { detail } : {}), since };
}
