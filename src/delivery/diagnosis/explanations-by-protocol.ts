import type { OutcomeCode } from '../../listeners/outcomes.ts';
import { type Explanation, explanation } from './explanation.ts';

/** Explanations that differ for one protocol. */
export type ProtocolTexts = Partial<Record<OutcomeCode, Explanation>>;

/** For Votifier v1: it has a key instead of a token, and most listeners send no answer. */
export const V1_TEXTS: ProtocolTexts = {
  'closed-without-answer': explanation(
    'The vote was sent, and the listener, which confirmed votes before, closed the connection without an answer, as when its key has changed or a plugin failed; it may have arrived all the same.',
    'Compare the public key with the plugin’s own (rsa/public.key) and set the listener again with it; if it is right, look for an error of a plugin that takes votes in the game server’s log, and resume the listener if it is paused.',
  ),
  'no-answer': explanation(
    'The vote was sent, and the listener kept the connection open without an answer, as some listeners do when they cannot decrypt a vote or when a plugin that takes votes hangs; it may have arrived all the same.',
    'Compare the public key with the plugin’s own (rsa/public.key) and set the listener again with it; if it is the same already, restart the game server or reload the plugin, which may still use an earlier one, and look for an error of the vote plugin in its log.',
  ),
  'never-acknowledged': explanation(
    'The listener has taken no vote with its current settings, and gave no answer to the last one, as happens with a wrong public key, when a plugin that takes votes hangs or fails, and at a filter; other votes wait.',
    'Compare the public key with the plugin’s own (rsa/public.key) and set the listener again with it; if it is right, look for an error in the game server’s log, and resume the listener.',
  ),
};

/** For an HTTP listener: a website with a URL. It has neither a vote plugin nor a token. */
export const HTTP_TEXTS: ProtocolTexts = {
  acknowledged: explanation('The listener took the vote and said so.', 'There is nothing to do.'),
  'vote-refused': explanation(
    'The website refused this vote, though it has taken others.',
    'Look into the website’s log for the reason of its status, correct it, and resend the vote.',
  ),
  'dns-not-found': explanation(
    'The host in the URL does not resolve to an address.',
    'Check the spelling of the host in the URL and its DNS records.',
  ),
  'dns-timeout': explanation(
    'The name servers of the host in the URL gave no answer in time.',
    'Check that the domain’s name servers work.',
  ),
  'address-refused': explanation(
    'The host in the URL resolves to an address that is not public.',
    'Use a public address of the website; for one in your own network, the operator adds its range to ALLOWED_PRIVATE_RANGES.',
  ),
  'connection-refused': explanation(
    'The machine answers, but nothing listens on the port in the URL, or a firewall rejects the connection.',
    'Check that the website runs, that it listens on the port in the URL, and that no firewall rejects connections to it.',
  ),
  'firewall-rejected': explanation(
    'A firewall rejects connections to the port in the URL.',
    'Allow the port in the website’s firewall and at its hosting provider, and check the host in the URL.',
  ),
  unreachable: explanation(
    'There is no way through the network to the website’s address.',
    'Check the host in the URL, that the machine is running, and that its network can be reached from the internet.',
  ),
  'connect-timeout': explanation(
    'Nothing answered at the website’s address and port; mostly a firewall drops the connection.',
    'Open the port in the website’s firewall and at its hosting provider, and check host and port in the URL.',
  ),
  silent: explanation(
    'The website took the connection and did not finish the TLS handshake in time.',
    'Check that the port in the URL speaks https, and the load of the website.',
  ),
  'closed-before-greeting': explanation(
    'The connection was closed before the vote was sent, in the TLS handshake or before it.',
    'Check that the port in the URL speaks https, and that no filter before the website ends the connection.',
  ),
  'closed-before-written': explanation(
    'The website closed the connection before the vote was sent.',
    'Look into the website’s log, and check that no filter or address limit before it ends the connection.',
  ),
  'too-slow': explanation(
    'The website took the challenge and did not answer it in time; no vote was posted.',
    'Let the website answer a challenge at once, and check its load.',
  ),
  'closed-without-answer': explanation(
    'The vote was posted, and the website closed the connection without an answer, so the vote may have arrived.',
    'Look for an error in the log of the website or application that takes the votes.',
  ),
  reset: explanation(
    'The vote was posted, and the connection broke before an answer came, so the vote may have arrived.',
    'Check that the website did not stop at that moment, and that no proxy before it cuts connections.',
  ),
  'no-answer': explanation(
    'The vote was posted, and no answer came in time, so the vote may have arrived.',
    'Let the website answer before it does what a vote causes, and check its load.',
  ),
  'garbage-answer': explanation(
    'The vote was posted, and what came back is not an HTTP answer, so the vote may have arrived.',
    'Check that the port in the URL is the website’s, and that no proxy answers in its place.',
  ),
  'never-acknowledged': explanation(
    'The website has taken no vote with its current settings, and gave no answer to the last one; other votes wait.',
    'Look into the website’s log, compare the secret there with the listener’s, and resume the listener when that is corrected.',
  ),
};

/** For a website that has taken a vote or a test vote with its current settings. */
export const PROVEN_HTTP_TEXTS: ProtocolTexts = {
  'connect-timeout': explanation(
    'Nothing answered at the website’s address and port, which has taken votes before: the website hangs or is overloaded, or its machine is off; more rarely a firewall drops the connection.',
    'Check the website’s load and log, and restart it if it hangs; then check the firewall and its hosting provider.',
  ),
  'connection-refused': explanation(
    'The machine answers, but nothing listens any more on the port in the URL, or a firewall rejects the connection.',
    'Check that the website runs, and that no firewall rejects connections to it.',
  ),
};

/** For a Votifier listener that has taken a vote or a test vote with its current settings, so its port is right. */
export const PROVEN_TEXTS: ProtocolTexts = {
  'connection-refused': explanation(
    'The machine answers, but nothing listens any more on the port that has taken votes before, or a firewall rejects the connection.',
    'Check that the game server runs with its vote plugin, whose log does not say “not able to bind”, and that no firewall rejects connections to the port.',
  ),
  'connect-timeout': explanation(
    'Nothing answered at the listener’s address and port, which has taken votes before: the game server hangs or is overloaded, or its machine is off; more rarely a firewall drops the connection.',
    'Check the game server’s load, and its log for a hang, and restart it if it hangs; then check the firewall and the hosting panel.',
  ),
  silent: explanation(
    'The listener took the connection and then said nothing, though it has taken votes before: the vote plugin hangs, or a filter holds the connection back.',
    'Look in the game server’s log whether the vote plugin hangs, check the server’s load, and let no proxy or DDoS filter hold connections back.',
  ),
};

/** For a listener that fetches: a relay or a plugin takes the votes and reports the results. */
export const FETCH_TEXTS: ProtocolTexts = {
  acknowledged: explanation(
    'The program that fetches the votes handed this one over, and the game server confirmed it.',
    'There is nothing to do; if the game does not show the vote, look at the plugin that takes it, or at the server behind the proxy.',
  ),
  'sent-not-confirmed': explanation(
    'The program that fetches the votes handed this one to a plugin that confirms nothing, such as Votifier v1.',
    'If votes do not arrive in the game, compare the public key that it uses with the plugin’s own, and look for an error in the game server’s log.',
  ),
  'lease-ran-out': explanation(
    'The vote was fetched, but the program that fetched it did not report in time what became of it, so the vote may have arrived.',
    'Look into the log of the program that fetches the votes, and check whether the game server stopped at that moment; the vote can be fetched again as often as you allow.',
  ),
};
