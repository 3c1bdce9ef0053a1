import { defineMessage } from '../../language/t.ts';
import type { Explanation } from './explanation.ts';
import { EXPLANATIONS } from './explanations.ts';

/**
 * The faults that a diagnosis finds, explained for a Votifier listener; for an HTTP listener `explain` is used. The codes
 * are stable: `--json` output contains them.
 */
export const FAULTS = {
  'dns-not-found': {
    cause: defineMessage('The host name of the listener does not resolve to an address.'),
    mend: defineMessage(
      'Check the spelling of the host and its DNS records, or set the listener to its IP address.',
    ),
  },
  'address-refused': EXPLANATIONS['address-refused'],
  'connection-refused': EXPLANATIONS['connection-refused'],
  'firewall-rejected': EXPLANATIONS['firewall-rejected'],
  unreachable: EXPLANATIONS.unreachable,
  'connect-timeout': {
    cause: defineMessage(
      'Nothing answered at this address and port: mostly a firewall drops the connection.',
    ),
    mend: defineMessage(
      'Open the port in the firewall and in the hosting panel, forward it in the router, and check the address.',
    ),
  },
  silent: {
    cause: defineMessage(
      'Something took the connection and says nothing, not even to a browser, a TLS client or a Minecraft client.',
    ),
    mend: defineMessage(
      'Check that the port is the vote plugin’s and restart the game server; a plugin that hangs keeps its port open.',
    ),
  },
  'http-server': {
    cause: defineMessage('A website answers here, not a vote listener.'),
    mend: defineMessage('Set the port from the vote plugin’s configuration, usually 8192.'),
  },
  'http-unverified': EXPLANATIONS['http-unverified'],
  'minecraft-server': {
    cause: defineMessage('This is the port that players join on, not the one of the vote plugin.'),
    mend: defineMessage('Set the port from the vote plugin’s configuration, usually 8192.'),
  },
  'tls-server': {
    cause: defineMessage(
      'Something here speaks TLS, which no Votifier does: a website, or a proxy with a certificate.',
    ),
    mend: defineMessage(
      'Set the port from the vote plugin’s configuration, usually 8192, without a proxy in front of it.',
    ),
  },
  'proxy-protocol': {
    cause: defineMessage(
      'A proxy in front of the listener speaks the PROXY protocol, which voting sites do not.',
    ),
    mend: defineMessage(
      'Switch the PROXY protocol off for the vote port (in the plugin, HAProxy or the DDoS protection), or set the port behind it.',
    ),
  },
  'other-protocol': {
    cause: defineMessage('Another service answers at this address and port.'),
    mend: defineMessage('Read its reply to see which, and set the port of the vote plugin, usually 8192.'),
  },
  'v1-only': EXPLANATIONS['v1-only'],
  'v2-only': EXPLANATIONS['v2-only'],
  'key-invalid': EXPLANATIONS['key-invalid'],
  'token-malformed': {
    cause: defineMessage('The text that is set as the token is not a valid token.'),
    mend: defineMessage(
      'Copy the token from the vote plugin’s configuration once more and set the listener again with it.',
    ),
  },
  'bad-signature': {
    cause: defineMessage('The listener refused the signature: its token or secret is different.'),
    mend: EXPLANATIONS['bad-signature'].mend,
  },
  'unknown-service': EXPLANATIONS['unknown-service'],
  'challenge-refused': EXPLANATIONS['challenge-refused'],
  'name-too-long': {
    cause: defineMessage('The listener takes no message of this length.'),
    mend: defineMessage(
      'Choose a shorter service name, or update the vote plugin: the test vote’s own name fits every game.',
    ),
  },
  'closed-without-answer': EXPLANATIONS['closed-without-answer'],
  'listener-error': EXPLANATIONS['unknown-error'],
  'vote-refused': EXPLANATIONS['vote-refused'],
  'garbage-answer': {
    cause: defineMessage('The answer of the listener is neither a success nor a known error.'),
    mend: defineMessage(
      'Read its reply and look for the same words in the game server’s log; then update the vote plugin.',
    ),
  },
  'too-slow': {
    cause: defineMessage('The listener’s greeting or its answer to the vote was not complete in time.'),
    mend: defineMessage(
      'Check the load of the game server and of its network, and its log for errors of the vote plugin.',
    ),
  },
} as const satisfies Record<string, Explanation>;

export type Fault = keyof typeof FAULTS;
