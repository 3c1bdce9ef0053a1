import type { OtherService, OutcomeCode } from '../../listeners/outcomes.ts';
import { type Explanation, explanation } from './explanation.ts';
import { WEBSITE_EXPLANATIONS } from './website-explanations.ts';

/** If another service answers in place of a Votifier listener: the explanation, by the fault code of that service. */
export const SERVICE_EXPLANATIONS: Record<OtherService, Explanation> = {
  'http-server': explanation(
    'A website answers here, not a vote listener.',
    'Set the port from the vote plugin’s configuration, usually 8192; if it is this one, another program has taken it, and the plugin’s log says “not able to bind”.',
  ),
  'minecraft-server': explanation(
    'This is the port that players join on, not the one of the vote plugin.',
    'Set the port from the vote plugin’s configuration, usually 8192.',
  ),
  'tls-server': explanation(
    'Something here speaks TLS, which no Votifier does: a website, or a proxy with a certificate.',
    'Set the port from the vote plugin’s configuration, usually 8192, without a proxy in front of it.',
  ),
  'proxy-protocol': explanation(
    'A proxy in front of the listener speaks the PROXY protocol, which voting sites do not.',
    'Switch the PROXY protocol off for the vote port (in the plugin, HAProxy or the DDoS protection), or set the port behind it.',
  ),
  'other-protocol': explanation(
    'Something other than a Votifier listener answers at this address and port.',
    'Set the port of the vote plugin (usually 8192), not the game’s or a website’s, and let no proxy speak before the listener; if it is the plugin’s port, another program has taken it, and the plugin’s log says “not able to bind”.',
  ),
};

/** What each outcome means for a server's owner, and how to correct it. Some protocols have other texts (`explain`). */
export const EXPLANATIONS: Record<OutcomeCode, Explanation> = {
  acknowledged: explanation(
    'The listener took the vote and said so.',
    'There is nothing to do; if the game does not show the vote, look at the plugin that takes it, or at the server behind the proxy.',
  ),
  'sent-not-confirmed': explanation(
    'The vote was sent, and the listener closed the connection without an error; many Votifier v1 listeners say no more than that, even when the key is wrong, a plugin that takes votes fails, or a proxy puts a PROXY header before the vote.',
    'If votes do not arrive in the game, compare the public key with the plugin’s own (restart the game server if it is the same), look for an error in the game server’s log, see that the plugin takes v1 and that no proxy sends the PROXY protocol, or change to Votifier v2, which can confirm.',
  ),

  'dns-not-found': explanation(
    'The listener’s host name has no address.',
    'Check the spelling of the host and its DNS records, or set the listener to its IP address.',
  ),
  'dns-timeout': explanation(
    'The name servers of the listener’s host gave no answer in time.',
    'Check that the domain’s name servers work, or set the listener to its IP address.',
  ),
  'connection-refused': explanation(
    'The machine answers, but nothing listens at this address and port, or a firewall rejects the connection.',
    'Check that the game server runs, that its log does not say “not able to bind”, that the vote plugin listens at 0.0.0.0 on this port (usually 8192, not the game’s), and that no firewall rejects connections to it.',
  ),
  'refused-over-ipv6': explanation(
    'The machine answers over IPv6, but nothing listens at this address and port there, or a firewall rejects the connection.',
    'Check that the program that takes the votes runs and listens over IPv6 too, and that no firewall rejects it, or remove the IPv6 address (AAAA record) of the host.',
  ),
  'firewall-rejected': explanation(
    'A firewall rejects connections to the listener’s port.',
    'Allow the listener’s port in the firewall of the game server’s machine and in the hosting panel, and check the address.',
  ),
  unreachable: explanation(
    'There is no way through the network to the listener’s address.',
    'Check the address, that the machine is running, and that its network can be reached from the internet.',
  ),
  'connect-timeout': explanation(
    'Nothing answered at the listener’s address and port; mostly a firewall drops the connection.',
    'Open the listener’s port in the firewall and in the hosting panel, forward it in the router, and check the address.',
  ),
  silent: explanation(
    'Something took the connection and then said nothing, though a Votifier listener speaks first: it is another service, the vote plugin hangs, or a filter holds the connection back.',
    'Check that the port is the vote plugin’s, not the game’s, look in the game server’s log whether the plugin hangs, and let no proxy or DDoS filter be in front of it.',
  ),
  'closed-before-greeting': explanation(
    'The connection was closed before the listener greeted: mostly it is the port of a container or tunnel with nothing behind it, or a filter or limit ends it.',
    'Check that the game server runs with its vote plugin, that the container or tunnel leads to the plugin’s port, and that no proxy, DDoS filter or address limit ends connections to it.',
  ),
  'closed-before-written': explanation(
    'The listener greeted and then closed the connection before the vote was sent.',
    'Look for an error of the vote plugin in the game server’s log.',
  ),
  'too-slow': explanation(
    'The listener’s greeting began, but did not end in time.',
    'Check the load of the game server and of its network.',
  ),
  'unknown-error': explanation(
    'The listener answered with an error of its own.',
    'Look for the listener’s words in the game server’s log: mostly the vote plugin, or one that takes its votes, has failed.',
  ),
  'challenge-refused': explanation(
    'The listener did not accept the answer to its own challenge.',
    'Check that no proxy mixes up the connections to the vote port; update the vote plugin if the error continues.',
  ),

  'closed-without-answer': explanation(
    'The vote was sent, and the listener closed the connection without an answer, as some listeners do on a wrong token or without one for our service name, when a plugin that takes votes fails, at a limit of the plugin or of a filter, or behind a proxy that puts a PROXY header before the vote; it may have arrived all the same.',
    'Look for an error in the game server’s log first; if there is none, set the listener again with the token for our service name or “default”, add one if there is neither, and restart the game server; then check limits, filters, another vote plugin on the port, and the PROXY protocol.',
  ),
  reset: explanation(
    'The vote was sent, and the connection broke before an answer came, so the vote may have arrived.',
    'Check that the game server did not stop at that moment and that no proxy or filter cuts connections to the vote port.',
  ),
  'no-answer': explanation(
    'The vote was sent, and no answer came in time, as when a plugin that takes votes hangs or is slow, or a filter drops the vote or the answer, so the vote may have arrived.',
    'Look in the game server’s log for an error of the vote plugin, or for a plugin that takes its votes and hangs or is slow, check the server’s load, and let no filter hold back what is sent or answered.',
  ),
  'garbage-answer': explanation(
    'The vote was sent, and the answer is not a Votifier answer, so the vote may have arrived.',
    'Check that the port is the vote plugin’s and that no proxy answers in its place; then update the vote plugin.',
  ),
  'lease-ran-out': explanation(
    'Tallyport lost the process that was sending this vote, so the vote may have arrived.',
    'There is nothing to do: the vote is retried automatically.',
  ),
  'stopped-while-waiting': explanation(
    'Tallyport was stopped while it waited for the listener’s answer, so the vote may have arrived.',
    'There is nothing to do: the vote is retried automatically.',
  ),

  'bad-signature': explanation(
    'The listener refused the signature: its token for our service name is different, or it has none for it.',
    'Copy the token for our service name, or for “default” if it has none of its own, from the vote plugin’s configuration once more and set the listener again with it; add one if there is neither, and after any change there, also an earlier one, restart the game server or reload the plugin.',
  ),
  'unknown-service': explanation(
    'The listener has no token for our service name.',
    'Add a token for our service name, or one for “default”, to the vote plugin’s configuration, restart the game server or reload the plugin, and set the token here.',
  ),
  'key-invalid': explanation(
    'The listener could not decrypt the vote: its key is different.',
    'Copy the public key from the vote plugin’s folder once more (rsa/public.key) and set the listener again with it; if it is the same already, restart the game server or reload the plugin, which may still use an earlier one.',
  ),
  'not-votifier': SERVICE_EXPLANATIONS['other-protocol'],
  'v1-only': explanation(
    'The listener speaks Votifier v1 only, and a v2 token is set.',
    'Set the listener as Votifier v1 with its public key, or install NuVotifier, which speaks v2.',
  ),
  'v2-only': explanation(
    'The listener takes Votifier v2 only, and a v1 public key is set.',
    'Set the listener as Votifier v2 with the token in the plugin’s configuration.',
  ),
  'address-refused': explanation(
    'The listener’s host resolves to an address that is not public.',
    'Use the server’s public address; for a listener in your own network, the operator adds its range to ALLOWED_PRIVATE_RANGES.',
  ),
  'repeated-vote-faults': explanation(
    'The listener refused several votes in a row, one by one.',
    'Read the reason in the timelines of these votes, correct it, and resume the listener.',
  ),
  'never-acknowledged': explanation(
    'The listener has taken no vote with its current settings, and gave no answer to the last one, as happens when a plugin that takes votes hangs or fails, at a limit, filter or proxy, and with a wrong token or none for our service name; other votes wait.',
    'Look for an error in the game server’s log first; if there is none, check the token for our service name or “default”, add one if there is neither, restart the game server, and resume the listener.',
  ),

  'name-too-long': explanation(
    'The listener takes no player name of this length.',
    'Other votes are not affected: this player’s name does not fit the game; if it is a test vote, update the vote plugin.',
  ),
  'frame-too-long': explanation(
    'The vote does not fit into one message of this protocol.',
    'Choose a shorter service name, or Votifier v2, which takes longer messages than v1.',
  ),
  'vote-refused': explanation(
    'The listener refused this vote, though it takes others.',
    'Read the listener’s message, correct what it names, and resend the vote.',
  ),

  'stopped-before-written': explanation(
    'Tallyport was stopped before it sent the vote.',
    'There is nothing to do: the vote is retried automatically.',
  ),
  'outgoing-limited': explanation(
    'Tallyport opens only so many connections a minute to an address that has not acknowledged a vote yet, and for one account.',
    'There is nothing to do: the vote is sent automatically within a minute or two, and a listener that acknowledges is no longer limited.',
  ),
  'our-fault': explanation(
    'Tallyport itself failed before it sent the vote.',
    'There is nothing to do for the owner: the vote is retried automatically, and the operator finds the error in the log.',
  ),

  ...WEBSITE_EXPLANATIONS,

  'fetch-retry': explanation(
    'The program that fetches the votes could not hand this one over, and will fetch it again.',
    'Read its reason and its log; it gets the vote again by the schedule, for 72 hours after it was cast.',
  ),
  'not-fetched': explanation(
    'No program fetched votes while the test waited.',
    'Start the relay or the plugin that fetches the votes, check that it has the address and a valid delivery token from “Connect”, and look into its log.',
  ),
  'fetch-unknown': explanation(
    'The program that fetches the votes does not know whether it handed this one over, so the vote may have arrived.',
    'Look into its log, and check whether the game server stopped at that moment; the vote can be fetched again as often as you allow.',
  ),
  'fetch-failed': explanation(
    'The program that fetches the votes refused this one for good.',
    'Read its reason, correct what it names, and send the vote again.',
  ),
};
