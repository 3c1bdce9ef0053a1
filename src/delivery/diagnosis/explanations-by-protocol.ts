import { defineMessage } from '../../language/t.ts';
import type { OutcomeCode } from '../../listeners/outcomes.ts';
import type { Explanation } from './explanation.ts';

/** Explanations that differ for one protocol. */
export type ProtocolTexts = Partial<Record<OutcomeCode, Explanation>>;

/** For Votifier v1, which has a key instead of a token and usually sends no answer. */
export const V1_TEXTS: ProtocolTexts = {
  'closed-without-answer': {
    cause: defineMessage(
      'The vote was sent, and the listener, which confirmed votes before, closed the connection without an answer, as when its key has changed or a plugin failed; it may have arrived all the same.',
    ),
    advice: defineMessage(
      'Compare the public key with the plugin’s own (rsa/public.key) and set the listener again with it; if it is right, look for an error of a plugin that takes votes in the game server’s log, and resume the listener if it is paused.',
    ),
  },
  'no-answer': {
    cause: defineMessage(
      'The vote was sent, and the listener kept the connection open without an answer, as some listeners do when they cannot decrypt a vote or when a plugin that takes votes hangs; it may have arrived all the same.',
    ),
    advice: defineMessage(
      'Compare the public key with the plugin’s own (rsa/public.key) and set the listener again with it; if it is right, look for an error of the vote plugin in the game server’s log.',
    ),
  },
  'never-acknowledged': {
    cause: defineMessage(
      'The listener has taken no vote with its current settings, and gave no answer to the last one, as happens with a wrong public key, when a plugin that takes votes hangs or fails, and at a filter; other votes wait.',
    ),
    advice: defineMessage(
      'Compare the public key with the plugin’s own (rsa/public.key) and set the listener again with it; if it is right, look for an error in the game server’s log, and resume the listener.',
    ),
  },
};

/** For an HTTP listener: a website with a URL, with neither a vote plugin nor a token. */
export const HTTP_TEXTS: ProtocolTexts = {
  'vote-refused': {
    cause: defineMessage('The website refused this vote (HTTP 4xx).'),
    advice: defineMessage(
      'Look into the website’s log for the reason of its status, correct it, and resend the vote.',
    ),
  },
  'dns-not-found': {
    cause: defineMessage('The host in the URL does not resolve to an address.'),
    advice: defineMessage('Check the spelling of the host in the URL and its DNS records.'),
  },
  'dns-timeout': {
    cause: defineMessage('The name servers of the host in the URL gave no answer in time.'),
    advice: defineMessage('Check that the domain’s name servers work.'),
  },
  'address-refused': {
    cause: defineMessage('The host in the URL resolves to an address that is not public.'),
    advice: defineMessage(
      'Use a public address of the website; for one in your own network, the operator adds its range to ALLOWED_PRIVATE_RANGES.',
    ),
  },
  'connection-refused': {
    cause: defineMessage(
      'The machine answers, but nothing listens on the port in the URL, or a firewall rejects the connection.',
    ),
    advice: defineMessage(
      'Check that the website runs, that it listens on the port in the URL, and that no firewall rejects connections to it.',
    ),
  },
  'firewall-rejected': {
    cause: defineMessage('A firewall rejects connections to the port in the URL.'),
    advice: defineMessage(
      'Allow the port in the website’s firewall and at its hosting provider, and check the host in the URL.',
    ),
  },
  unreachable: {
    cause: defineMessage('There is no way through the network to the website’s address.'),
    advice: defineMessage(
      'Check the host in the URL, that the machine is running, and that its network can be reached from the internet.',
    ),
  },
  'connect-timeout': {
    cause: defineMessage(
      'Nothing answered at the website’s address and port; mostly a firewall drops the connection.',
    ),
    advice: defineMessage(
      'Open the port in the website’s firewall and at its hosting provider, and check host and port in the URL.',
    ),
  },
  silent: {
    cause: defineMessage('The website took the connection and did not finish the TLS handshake in time.'),
    advice: defineMessage('Check that the port in the URL speaks https, and the load of the website.'),
  },
  'closed-before-greeting': {
    cause: defineMessage(
      'The connection was closed before the vote was sent, in the TLS handshake or before it.',
    ),
    advice: defineMessage(
      'Check that the port in the URL speaks https, and that no filter before the website ends the connection.',
    ),
  },
  'closed-before-written': {
    cause: defineMessage('The website closed the connection before the vote was sent.'),
    advice: defineMessage(
      'Look into the website’s log, and check that no filter or address limit before it ends the connection.',
    ),
  },
  'too-slow': {
    cause: defineMessage('The website took the challenge and did not answer it in time; no vote was posted.'),
    advice: defineMessage('Let the website answer a challenge at once, and check its load.'),
  },
  'closed-without-answer': {
    cause: defineMessage(
      'The vote was posted, and the website closed the connection without an answer, so the vote may have arrived.',
    ),
    advice: defineMessage('Look for an error in the log of the website or application that takes the votes.'),
  },
  reset: {
    cause: defineMessage(
      'The vote was posted, and the connection broke before an answer came, so the vote may have arrived.',
    ),
    advice: defineMessage(
      'Check that the website did not stop at that moment, and that no proxy before it cuts connections.',
    ),
  },
  'no-answer': {
    cause: defineMessage('The vote was posted, and no answer came in time, so the vote may have arrived.'),
    advice: defineMessage('Let the website answer before it does what a vote causes, and check its load.'),
  },
  'garbage-answer': {
    cause: defineMessage(
      'The vote was posted, and what came back is not an HTTP answer, so the vote may have arrived.',
    ),
    advice: defineMessage(
      'Check that the port in the URL is the website’s, and that no proxy answers in its place.',
    ),
  },
  'never-acknowledged': {
    cause: defineMessage(
      'The website has taken no vote with its current settings, and gave no answer to the last one; other votes wait.',
    ),
    advice: defineMessage(
      'Look into the website’s log, compare the secret there with the listener’s, and resume the listener when that is corrected.',
    ),
  },
};

/** For a Votifier listener that acknowledged a vote with its current settings, which shows that its port is right. */
export const PROVEN_TEXTS: ProtocolTexts = {
  'connection-refused': {
    cause: defineMessage(
      'The machine answers, but nothing listens any more on the port that has taken votes before, or a firewall rejects the connection.',
    ),
    advice: defineMessage(
      'Check that the game server runs with its vote plugin, and that no firewall rejects connections to the port.',
    ),
  },
  silent: {
    cause: defineMessage(
      'The listener took the connection and then said nothing, though it has taken votes before: the vote plugin hangs, or a filter holds the connection back.',
    ),
    advice: defineMessage(
      'Look in the game server’s log whether the vote plugin hangs, check the server’s load, and let no proxy or DDoS filter hold connections back.',
    ),
  },
};
