import { defineMessage } from '../../language/t.ts';
import { type Breaker, hasTakenVotes, type Listener, type Protocol } from '../../listeners/listener.ts';
import type { OutcomeCode } from '../../listeners/outcomes.ts';
import type { Explanation } from './explanation.ts';
import {
  FETCH_TEXTS,
  HTTP_TEXTS,
  PROVEN_TEXTS,
  type ProtocolTexts,
  V1_TEXTS,
} from './explanations-by-protocol.ts';

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
  'http-unavailable': {
    cause: defineMessage(
      'The website answered that it cannot take votes now (HTTP 5xx or 408); the vote may have arrived all the same.',
    ),
    advice: defineMessage('Look into the log of the website or application that takes the votes.'),
  },
  'http-limited': {
    cause: defineMessage(
      'The website limits how many requests it takes (HTTP 429), and this vote was over its limit; it may have arrived all the same.',
    ),
    advice: defineMessage(
      'Raise the limit of the website, or of the proxy or filter in front of it, for this URL.',
    ),
  },
  'http-not-ready': {
    cause: defineMessage(
      'The website answered the challenge that it cannot take votes now (HTTP 5xx or 408); no vote was posted.',
    ),
    advice: defineMessage('Look into the log of the website or application that takes the votes.'),
  },
  'challenge-limited': {
    cause: defineMessage(
      'The website limits how many requests it takes (HTTP 429), and the challenge was over its limit; no vote was posted.',
    ),
    advice: defineMessage(
      'Raise the limit of the website, or of the proxy or filter in front of it, for this URL.',
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
  'http-upgraded': {
    cause: defineMessage(
      'The website answered that it changes the protocol (HTTP 101), which no vote asks for; the vote may have arrived all the same.',
    ),
    advice: defineMessage(
      'Check that the URL leads to what takes the votes, not to a WebSocket, and answer with a status of 200 to 299.',
    ),
  },
  'http-headers-too-long': {
    cause: defineMessage(
      'The headers of the website’s answer are longer than 16 KiB, so it could not be read; the vote may have arrived all the same.',
    ),
    advice: defineMessage(
      'Let the website answer this URL with fewer or shorter headers: mostly cookies or security policies are too long.',
    ),
  },
  'fetch-retry': {
    cause: defineMessage(
      'The program that fetches the votes could not hand this one over, and will fetch it again.',
    ),
    advice: defineMessage(
      'Read its reason and its log; it gets the vote again by the schedule, for 72 hours after it was cast.',
    ),
  },
  'not-fetched': {
    cause: defineMessage('No program fetched votes while the test waited.'),
    advice: defineMessage(
      'Start the relay or the plugin that fetches the votes, check that it has the address and a valid delivery token from “Connect”, and look into its log.',
    ),
  },
  'fetch-unknown': {
    cause: defineMessage(
      'The program that fetches the votes does not know whether it handed this one over, so the vote may have arrived.',
    ),
    advice: defineMessage(
      'Look into its log, and check whether the game server stopped at that moment; the vote can be fetched again as often as you allow.',
    ),
  },
  'fetch-failed': {
    cause: defineMessage('The program that fetches the votes refused this one for good.'),
    advice: defineMessage('Read its reason, correct what it names, and send the vote again.'),
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
    cause: defineMessage('The URL begins with https://, and what answers there does not speak TLS.'),
    advice: defineMessage(
      'Check the port in the URL, enable HTTPS at the website, or begin the URL with http:// if it has none.',
    ),
  },
  'tls-too-old': {
    cause: defineMessage('The website speaks only TLS 1.1 or older, which is not safe any more.'),
    advice: defineMessage('Enable TLS 1.2 or 1.3 at the website or at the proxy in front of it.'),
  },
  'tls-expected': {
    cause: defineMessage(
      'The URL begins with http://, and what answers there speaks TLS; nothing of the vote was read.',
    ),
    advice: defineMessage('Begin the URL with https://.'),
  },
  'certificate-refused': {
    cause: defineMessage('The certificate of the website is not valid.'),
    advice: defineMessage(
      'Let a public authority issue a new certificate, and install it with its intermediate certificates.',
    ),
  },
  'certificate-other-name': {
    cause: defineMessage('The certificate of the website is for another name than the host in the URL.'),
    advice: defineMessage(
      'Set the URL to the name in the certificate, or let the website show a certificate for the host in the URL.',
    ),
  },
  'certificate-expired': {
    cause: defineMessage('The certificate of the website has expired.'),
    advice: defineMessage('Renew the certificate, and restart the website so that it shows the new one.'),
  },
  'certificate-not-yet-valid': {
    cause: defineMessage('The certificate of the website is not valid yet.'),
    advice: defineMessage(
      'Wait until its first day, or install the certificate that is valid now; check the clock of the machine that made it.',
    ),
  },
  'certificate-self-signed': {
    cause: defineMessage(
      'The certificate of the website is self-signed, or signed by an authority of its own.',
    ),
    advice: defineMessage(
      'Install a certificate of a public authority, such as Let’s Encrypt; a self-signed one is not accepted.',
    ),
  },
  'certificate-incomplete': {
    cause: defineMessage(
      'The chain of the website’s certificate is incomplete, or leads to no public authority: no certificate between its own and an authority is sent.',
    ),
    advice: defineMessage(
      'Let the website send the intermediate certificates too (often called the full chain), issued by a public authority.',
    ),
  },
  'http-redirected': {
    cause: defineMessage('The URL answers with a redirect, and votes do not follow redirects.'),
    advice: defineMessage(
      'Set the listener to the URL where the redirect leads; mostly https:// or www. is missing.',
    ),
  },
  'http-sign-in': {
    cause: defineMessage(
      'The URL redirects to a page to sign in, so it wants a session, which votes do not have.',
    ),
    advice: defineMessage(
      'Let the URL need no session: exempt it from the sign-in, and check the signature of each message instead.',
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
  'challenge-upgraded': {
    cause: defineMessage(
      'The website answered the challenge that it changes the protocol (HTTP 101), which Tallyport did not ask for; no vote was posted.',
    ),
    advice: defineMessage(
      'Check that the URL leads to what takes the votes, not to a WebSocket, and answer with a status of 200 to 299.',
    ),
  },
  'challenge-headers-too-long': {
    cause: defineMessage(
      'The headers of the website’s answer to the challenge are longer than 16 KiB, so it could not be read; no vote was posted.',
    ),
    advice: defineMessage(
      'Let the website answer this URL with fewer or shorter headers: mostly cookies or security policies are too long.',
    ),
  },
  'challenge-surrounded': {
    cause: defineMessage(
      'The website’s answer holds the challenge, but beside other text, such as a notice of PHP, a page around it or our whole message; no vote was posted.',
    ),
    advice: defineMessage(
      'Answer with the challenge alone, or with it as “challenge” of a JSON object, and nothing before or after: switch off the output of notices.',
    ),
  },
  'challenge-quoted': {
    cause: defineMessage(
      'The website’s answer is the challenge in quotes, as a JSON string; no vote was posted.',
    ),
    advice: defineMessage(
      'Answer with the challenge without quotes, or with it as “challenge” of a JSON object.',
    ),
  },
  'challenge-compressed': {
    cause: defineMessage(
      'The website’s answer to the challenge is compressed, though Tallyport asked for none; no vote was posted.',
    ),
    advice: defineMessage('Switch the compression off for this URL, or obey Accept-Encoding: identity.'),
  },
  'challenge-utf16': {
    cause: defineMessage('The website’s answer holds the challenge in UTF-16; no vote was posted.'),
    advice: defineMessage('Answer in UTF-8.'),
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
};

const OWN_TEXTS: Partial<Record<Protocol, ProtocolTexts>> = {
  'votifier-v1': V1_TEXTS,
  http: HTTP_TEXTS,
  fetch: FETCH_TEXTS,
};

/**
 * The explanation of an outcome for a listener of this protocol.
 *
 * @param hasTaken - whether the listener has taken a vote with its current settings, which shows that its port is
 *   right
 */
export function explain(code: OutcomeCode, protocol: Protocol | undefined, hasTaken = false): Explanation {
  const isVotifier = protocol !== 'http' && protocol !== 'fetch';
  const proven = hasTaken && isVotifier ? PROVEN_TEXTS[code] : undefined;
  return proven ?? (protocol ? OWN_TEXTS[protocol]?.[code] : undefined) ?? EXPLANATIONS[code];
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
export function listenerReason(listener: Explained): ListenerReason | null {
  const { pause, breaker } = listener;
  if (pause) return reason(pause, pause.at, listener);
  return breaker.openSince ? reason(breaker, breaker.openSince, listener) : null;
}

/** The fields of a listener that its explanations depend on. */
type Explained = Pick<Listener, 'pause' | 'breaker'> & Taken & { protocol?: Protocol };
export type Taken = Partial<Pick<Listener, 'acknowledgedAt' | 'lastDeliveredAt' | 'updatedAt'>>;

/**
 * Whether a listener has taken a vote with its current settings; false if the caller did not read the fields that show
 * it.
 */
export function hasTaken({ acknowledgedAt, lastDeliveredAt = null, updatedAt }: Taken): boolean {
  if (!updatedAt) return !!acknowledgedAt;
  return hasTakenVotes({
    lastDeliveredAt,
    updatedAt,
    ...(acknowledgedAt === undefined ? {} : { acknowledgedAt }),
  });
}

const PAUSED_BY_OWNER: Explanation = {
  cause: defineMessage('Its owner paused it.'),
  advice: defineMessage('Resume it to receive votes again: waiting votes are sent then.'),
};

function reason(
  { code, words, detail }: Pick<Breaker, 'code' | 'words' | 'detail'>,
  since: Date,
  listener: Explained,
): ListenerReason {
  const explanation = code
    ? { code, ...explain(code, listener.protocol, hasTaken(listener)) }
    : PAUSED_BY_OWNER;
  return { ...explanation, ...(words ? { words } : {}), ...(detail ? { detail } : {}), since };
}
