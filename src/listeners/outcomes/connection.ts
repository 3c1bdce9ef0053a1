import { explanation } from '../explanation.ts';
import type { OutcomeDefinition } from './outcome-definition.ts';

/** The listener was not reached. */
export const CONNECTION_OUTCOMES = {
  'dns-not-found': {
    class: 'transient',
    fault: 'dns-not-found',
    step: 'name-resolution',
    text: explanation(
      'The listener’s host name has no address.',
      'Check the spelling of the host and its DNS records, or set the listener to its IP address.',
    ),
    textFor: {
      http: explanation(
        'The host in the URL does not resolve to an address.',
        'Check the spelling of the host in the URL and its DNS records.',
      ),
    },
  },
  'dns-timeout': {
    class: 'transient',
    fault: 'dns-not-found',
    step: 'name-resolution',
    text: explanation(
      'The name servers of the listener’s host gave no answer in time.',
      'Check that the domain’s name servers work, or set the listener to its IP address.',
    ),
    textFor: {
      http: explanation(
        'The name servers of the host in the URL gave no answer in time.',
        'Check that the domain’s name servers work.',
      ),
    },
  },
  'address-refused': {
    class: 'configuration',
    fault: 'address-refused',
    step: 'address-policy',
    text: explanation(
      'The listener’s host resolves to an address that is not public.',
      'Use the server’s public address; for a listener in your own network, the operator adds its range to ALLOWED_PRIVATE_RANGES.',
    ),
    textFor: {
      http: explanation(
        'The host in the URL resolves to an address that is not public.',
        'Use a public address of the website; for one in your own network, the operator adds its range to ALLOWED_PRIVATE_RANGES.',
      ),
    },
  },
  'connection-refused': {
    class: 'transient',
    fault: 'connection-refused',
    step: 'connecting',
    text: explanation(
      'The machine answers, but nothing listens at this address and port, or a firewall rejects the connection.',
      'Check that the game server runs, that its log does not say “not able to bind”, that the vote plugin listens at 0.0.0.0 on this port (usually 8192, not the game’s), and that no firewall rejects connections to it.',
    ),
    textFor: {
      provenVotifier: explanation(
        'The machine answers, but nothing listens any more on the port that has taken votes before, or a firewall rejects the connection.',
        'Check that the game server runs with its vote plugin, whose log does not say “not able to bind”, and that no firewall rejects connections to the port.',
      ),
      http: explanation(
        'The machine answers, but nothing listens on the port in the URL, or a firewall rejects the connection.',
        'Check that the website runs, that it listens on the port in the URL, and that no firewall rejects connections to it.',
      ),
      provenHttp: explanation(
        'The machine answers, but nothing listens any more on the port in the URL, or a firewall rejects the connection.',
        'Check that the website runs, and that no firewall rejects connections to it.',
      ),
    },
  },
  'refused-over-ipv6': {
    class: 'transient',
    fault: 'connection-refused',
    step: 'connecting',
    text: explanation(
      'The machine answers over IPv6, but nothing listens at this address and port there, or a firewall rejects the connection.',
      'Check that the program that takes the votes runs and listens over IPv6 too, and that no firewall rejects it, or remove the IPv6 address (AAAA record) of the host.',
    ),
  },
  'firewall-rejected': {
    class: 'transient',
    fault: 'firewall-rejected',
    step: 'connecting',
    text: explanation(
      'A firewall rejects connections to the listener’s port.',
      'Allow the listener’s port in the firewall of the game server’s machine and in the hosting panel, and check the address.',
    ),
    textFor: {
      http: explanation(
        'A firewall rejects connections to the port in the URL.',
        'Allow the port in the website’s firewall and at its hosting provider, and check the host in the URL.',
      ),
    },
  },
  unreachable: {
    class: 'transient',
    fault: 'unreachable',
    step: 'connecting',
    text: explanation(
      'There is no way through the network to the listener’s address.',
      'Check the address, that the machine is running, and that its network can be reached from the internet.',
    ),
    textFor: {
      http: explanation(
        'There is no way through the network to the website’s address.',
        'Check the host in the URL, that the machine is running, and that its network can be reached from the internet.',
      ),
    },
  },
  'connect-timeout': {
    class: 'transient',
    fault: 'connect-timeout',
    step: 'connecting',
    text: explanation(
      'Nothing answered at the listener’s address and port; mostly a firewall drops the connection.',
      'Open the listener’s port in the firewall and in the hosting panel, forward it in the router, and check the address.',
    ),
    textFor: {
      provenVotifier: explanation(
        'Nothing answered at the listener’s address and port, which has taken votes before: the game server hangs or is overloaded, or its machine is off; more rarely a firewall drops the connection.',
        'Check the game server’s load, and its log for a hang, and restart it if it hangs; then check the firewall and the hosting panel.',
      ),
      http: explanation(
        'Nothing answered at the website’s address and port; mostly a firewall drops the connection.',
        'Open the port in the website’s firewall and at its hosting provider, and check host and port in the URL.',
      ),
      provenHttp: explanation(
        'Nothing answered at the website’s address and port, which has taken votes before: the website hangs or is overloaded, or its machine is off; more rarely a firewall drops the connection.',
        'Check the website’s load and log, and restart it if it hangs; then check the firewall and its hosting provider.',
      ),
    },
  },
} as const satisfies Record<string, OutcomeDefinition>;
