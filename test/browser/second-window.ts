import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ownEnvironment } from '../../src/platform/environment.ts';

/**
 * The half of the pages that a run checks in the second window too. The hash of the commit chooses it, so one commit
 * always gives the same half, and some commits give every page. Without git, the version of the package chooses.
 * `SWEEP=all` takes all.
 */
export function halfOf<T>(pages: T[]): { half: T[]; which: string } {
  if (ownEnvironment().SWEEP === 'all') return { half: pages, which: 'all pages (SWEEP=all)' };
  const root = new URL('../..', import.meta.url);
  const commit = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout?.trim();
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string };
  const chooser = commit ? `commit ${commit}` : `version ${version}`;
  const rest = (createHash('sha256').update(chooser).digest()[0] ?? 0) % 2;
  const which = `the ${rest === 0 ? 'odd' : 'even'} half of the pages, chosen by ${chooser}; SWEEP=all takes all`;
  return { half: pages.filter((_, index) => index % 2 === rest), which };
}
