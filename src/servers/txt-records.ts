import { resolverFor } from '../platform/address-guard.ts';
import { SECOND } from '../platform/clock.ts';
import { DeadlineError, within } from '../platform/deadline.ts';

/** What the name servers say of a name's TXT records; `no-answer`: nothing, or that they cannot say. */
type TxtAnswer = { kind: 'records'; records: string[] } | { kind: 'no-answer' };

const LOOK_UP_MS = 4 * SECOND;

/** What the resolver says of a name that has no such record. */
const NONE = new Set(['ENODATA', 'ENOTFOUND']);

/** Looks a name's TXT records up. Never throws, and ends within 4 s; the parts of a long record are joined. */
export async function txtRecords(name: string): Promise<TxtAnswer> {
  const resolver = resolverFor(LOOK_UP_MS);
  try {
    const records = await within(LOOK_UP_MS, resolver.resolveTxt(name));
    return { kind: 'records', records: records.map((parts) => parts.join('')) };
  } catch (error) {
    if (error instanceof DeadlineError) return { kind: 'no-answer' };
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    return NONE.has(code) ? { kind: 'records', records: [] } : { kind: 'no-answer' };
  } finally {
    resolver.cancel();
  }
}
