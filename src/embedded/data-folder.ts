import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WrittenData } from './search.ts';

/**
 * What wrote the data of a service's folder, or undefined when it is new. A newer mongod changes its files so
 * that the older one cannot read them again, so data stays with the version that wrote it.
 */
export async function writtenData(dir: string): Promise<WrittenData | undefined> {
  const series = await readFile(join(dir, 'version'), 'utf8').catch(() => undefined);
  return series ? { dir, series: series.trim() } : undefined;
}

/** Notes down what is about to write the data of a service's folder; makes the folder. */
export async function noteWriter(dir: string, series: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writeFile(join(dir, 'version'), `${series}\n`);
}
