import { SECOND } from '../platform/clock.ts';
import { DeadlineError, within } from '../platform/deadline.ts';
import { resolverFor } from '../platform/resolve-address.ts';

/** `no-answer`: the name servers did not answer or reported a failure. */
type TxtAnswer = { kind: 'records'; records: string[] } | { kind: 'no-answer' };

const LOOK_UP_MS = 4 * SECOND;

/** The resolver's codes for a name without TXT records. */
const NONE = new Set(['ENODATA', 'ENOTFOUND']);

/** Answers within 4 s, joins the parts of long records, and never throws. */
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
