import { type Explanation, explanation } from '../explanation.ts';

/** What may answer instead of a Votifier listener. Codes are stable: the database and `--json` contain them. */
export const OTHER_SERVICES = {
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
} as const satisfies Record<string, Explanation>;
export type OtherService = keyof typeof OTHER_SERVICES;

export function isOtherService(fault: string | null | undefined): fault is OtherService {
  return !!fault && Object.hasOwn(OTHER_SERVICES, fault);
}
