import { AddressError, type ResolveOptions, resolveAddress } from '../address-guard.ts';
import { type Outcome, outcome } from './outcomes.ts';

/** The checked addresses of a listener's host, or how the attempt ended for want of one. */
export async function resolveListener(host: string, options: ResolveOptions): Promise<string[] | Outcome> {
  try {
    return await resolveAddress(host, options);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    if (error.code === 'stopped') return outcome('stopped-before-written', 'none');
    return outcome(error.code, error.code === 'address-refused' ? 'resolved' : 'none');
  }
}
