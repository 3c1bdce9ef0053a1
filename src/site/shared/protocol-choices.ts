import { t } from '../../language/t.ts';
import type { Protocol } from '../../listeners/listener.ts';

/** The recommended one first. */
export function protocolChoices(): { protocol: Protocol; name: string; about: string }[] {
  return [
    {
      protocol: 'votifier-v2',
      name: 'Votifier v2',
      about: t('NuVotifier and most current plugins. Confirms each vote.'),
    },
    {
      protocol: 'votifier-v1',
      name: 'Votifier v1',
      about: t('Older plugins, with a public key. Some confirm votes; most close without an answer.'),
    },
    {
      protocol: 'http',
      name: 'HTTP',
      about: t('For games without Votifier: signed requests to your website.'),
    },
    {
      protocol: 'fetch',
      name: t('My server fetches its votes'),
      about: t(
        'Without an open port: a small program beside your server, or your own plugin, asks for votes.',
      ),
    },
  ];
}

export function protocolName(protocol: Protocol): string {
  if (protocol === 'fetch') return t('fetched by the server');
  return protocolChoices().find((choice) => choice.protocol === protocol)?.name ?? protocol;
}
