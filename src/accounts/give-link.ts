import type { Logger } from '../log.ts';
import type { OneTimeLink } from './auth.ts';

/** Sends a one-time link to its person. */
export async function giveLink({ log }: { log: Logger }, { kind, person }: OneTimeLink): Promise<void> {
  log.warn({ event: 'account.link_not_sent', kind, email: person.email });
}
