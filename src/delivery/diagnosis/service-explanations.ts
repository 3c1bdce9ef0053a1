import { defineMessage } from '../../language/t.ts';
import type { OtherService } from '../../listeners/outcomes.ts';
import type { Explanation } from './explanation.ts';

/** The explanation of each service that may answer in place of a Votifier listener, by its fault. */
export const SERVICE_EXPLANATIONS = {
  'http-server': {
    cause: defineMessage('A website answers here, not a vote listener.'),
    advice: defineMessage('Set the port from the vote plugin’s configuration, usually 8192.'),
  },
  'minecraft-server': {
    cause: defineMessage('This is the port that players join on, not the one of the vote plugin.'),
    advice: defineMessage('Set the port from the vote plugin’s configuration, usually 8192.'),
  },
  'tls-server': {
    cause: defineMessage(
      'Something here speaks TLS, which no Votifier does: a website, or a proxy with a certificate.',
    ),
    advice: defineMessage(
      'Set the port from the vote plugin’s configuration, usually 8192, without a proxy in front of it.',
    ),
  },
  'proxy-protocol': {
    cause: defineMessage(
      'A proxy in front of the listener speaks the PROXY protocol, which voting sites do not.',
    ),
    advice: defineMessage(
      'Switch the PROXY protocol off for the vote port (in the plugin, HAProxy or the DDoS protection), or set the port behind it.',
    ),
  },
  'other-protocol': {
    cause: defineMessage('Something other than a Votifier listener answers at this address and port.'),
    advice: defineMessage(
      'Set the port of the vote plugin (usually 8192), not the game’s or a website’s, and let no proxy speak before the listener.',
    ),
  },
} as const satisfies Record<OtherService, Explanation>;
