import { SECOND } from '../../platform/clock.ts';
import { isLoopback } from '../../platform/config-values.ts';
import { printable } from '../../platform/printable.ts';
import type { Findings } from '../../process/redis-findings.ts';
import { NO_REFERRER, sendsNoReferrer } from '../../site/same-origin.ts';

const TIMEOUT_MS = 5 * SECOND;

/**
 * Opens the site at `PUBLIC_URL`, as visitors do, and looks for what a proxy changes in its answers. If it cannot be
 * opened from here, that is no error: a container network may not lead back to the proxy, or the site runs nowhere yet.
 */
export async function checkPublicUrl(url: string): Promise<Findings> {
  const found = { facts: [], warnings: [], errors: [] };
  const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(
    (error: Error) => error,
  );
  if (answer instanceof Error) {
    if (isLoopback(new URL(url).hostname)) return { ...found, facts: [`Nothing answers at ${url} yet.`] };
    const { cause } = answer as { cause?: Error };
    const reason = printable(cause?.message || answer.message);
    return {
      ...found,
      warnings: [`${url} cannot be opened from here (${reason}): what a proxy changes was not checked.`],
    };
  }
  await answer.body?.cancel();
  const facts = [`${url} answers with ${answer.status}.`];
  if (sendsNoReferrer(answer.headers.get('referrer-policy')))
    return { ...found, facts, warnings: [NO_REFERRER] };
  const unchecked = `${url} answers with ${answer.status}, so what a proxy changes was not checked.`;
  return { ...found, facts, warnings: answer.ok ? [] : [unchecked] };
}
