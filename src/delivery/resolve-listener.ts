import { type Outcome, outcome } from '../listeners/outcomes.ts';
import { AddressError } from '../platform/address-guard.ts';
import { type ResolveOptions, resolveAddress } from '../platform/resolve-address.ts';
import type { OnStep } from './diagnosis/diagnosis-steps.ts';

/** The checked addresses of a listener's host, or the outcome when there is none. */
export async function resolveListener(
  host: string,
  { onStep, ...options }: ResolveOptions & { onStep?: OnStep | undefined },
): Promise<string[] | Outcome> {
  onStep?.('name-resolution');
  try {
    return await resolveAddress(host, { ...options, onResolved: () => onStep?.('address-policy') });
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    if (error.code === 'stopped') return outcome('stopped-before-written', 'none');
    return outcome(error.code, error.code === 'address-refused' ? 'resolved' : 'none');
  }
}
