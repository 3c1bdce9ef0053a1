import { defineMessage, type Text, t } from '../../language/t.ts';
import type { Protocol } from '../../listeners/listener.ts';

const PROTOCOLS: [Protocol, name: () => string, about: Text][] = [
  [
    'votifier-v2',
    () => 'Votifier v2',
    defineMessage('NuVotifier and most current plugins. Confirms each vote.'),
  ],
  [
    'votifier-v1',
    () => 'Votifier v1',
    defineMessage('Older plugins, with a public key. Some confirm votes; most close without an answer.'),
  ],
  ['http', () => 'HTTP', defineMessage('For games without Votifier: signed requests to your website.')],
  [
    'fetch',
    () => t('My server fetches its votes'),
    defineMessage(
      'Without an open port: a small program beside your server, or your own plugin, asks for votes.',
    ),
  ],
];

/** The recommended one first. */
export function protocolChoices(): { protocol: Protocol; name: string; about: string }[] {
  return PROTOCOLS.map(([protocol, name, about]) => ({
    protocol,
    name: name(),
    about: t(about),
  }));
}

export function protocolName(protocol: Protocol): string {
  if (protocol === 'fetch') return t('fetched by the server');
  return protocolChoices().find((choice) => choice.protocol === protocol)?.name ?? protocol;
}
