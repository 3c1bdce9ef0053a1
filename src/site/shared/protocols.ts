import { defineMessage, type Text } from '../../language/t.ts';
import type { Protocol } from '../../listeners/listener.ts';

/** The protocols to choose from; the recommended one first. */
export const PROTOCOLS: [Protocol, name: string, about: Text][] = [
  ['votifier-v2', 'Votifier v2', defineMessage('NuVotifier and most current plugins. Confirms each vote.')],
  [
    'votifier-v1',
    'Votifier v1',
    defineMessage('Older plugins, with a public key. Some confirm votes; most close without an answer.'),
  ],
  ['http', 'HTTP', defineMessage('For games without Votifier: signed requests to your website.')],
];

/** The usual name of a protocol: `Votifier v2`. */
export function protocolName(protocol: Protocol): string {
  return PROTOCOLS.find(([value]) => value === protocol)?.[1] ?? protocol;
}
