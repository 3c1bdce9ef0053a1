import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WrittenData } from './search.ts';

/**
 * The program that wrote the data in a service's folder; undefined if the folder is new. Only a program of the same
 * series may open the data: a newer mongod changes its files so that an older one cannot read them.
 */
export async function writtenData(dir: string): Promise<WrittenData | undefined> {
  const series = await readFile(join(dir, 'version'), 'utf8').catch(() => undefined);
  return series ? { dir, series: series.trim() } : undefined;
}

/** Makes a service's folder and records the program that will write its data. */
export async function noteWriter(dir: string, series: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await writeFile(join(dir, 'version'), `${series}\n`);
}
