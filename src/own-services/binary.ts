import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { SECOND } from '../platform/clock.ts';
import type { Variables } from '../platform/environment.ts';
import { ServiceError } from './service-error.ts';

const run = promisify(execFile);

/** A program of this machine that a trial run has shown to work. */
export type Binary = {
  program: 'mongod' | 'redis' | 'valkey';
  path: string;
  /** Three numbers, such as `8.2.6`. */
  version: string;
  /** Where it was found, for users: `on PATH`. */
  source: string;
};

/** The program and the part of its version that determines the data format: `mongod 8.2`. */
export function seriesOf(binary: Pick<Binary, 'program' | 'version'>): string {
  return `${binary.program} ${binary.version.split('.').slice(0, 2).join('.')}`;
}

export async function onPath(name: string, env: Variables): Promise<string | undefined> {
  for (const folder of (env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, name);
    const runs = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return path;
  }
  return undefined;
}

export async function tryOnPath(name: string, kind: 'mongod' | 'redis', env: Variables): Promise<Binary> {
  const path = await onPath(name, env);
  if (!path) throw new Error(`there is no ${name} on PATH`);
  return await tryBinary(path, kind, 'on PATH');
}

/** The kind `redis` also accepts Valkey. Throws when the file does not run here or is another program. */
export async function tryBinary(path: string, kind: 'mongod' | 'redis', source: string): Promise<Binary> {
  const { stdout } = await run(path, ['--version'], { timeout: 30 * SECOND }).catch((error) => {
    const message = String(error.stderr || error.message)
      .trim()
      .split('\n')
      .at(-1);
    throw new Error(`${path} does not run here (${message})`);
  });
  const [, program, version] =
    /^(db|Redis|Valkey)(?: version | server )v=?(\d+\.\d+\.\d+)/m.exec(stdout) ?? [];
  const found = ({ db: 'mongod', Redis: 'redis', Valkey: 'valkey' } as const)[program ?? ''];
  if (version && found && (found === 'mongod') === (kind === 'mongod'))
    return { program: found, path, version, source };
  throw new Error(`${path} is not a ${kind === 'mongod' ? 'mongod' : 'Redis or Valkey server'}`);
}

export type WrittenData = {
  dir: string;
  /** `mongod 8.2` */
  series: string;
};

export type ProgramSource = {
  /** The series of the program at this place, if it is known in advance. */
  series?: string;
  /** Undefined when the program is not there; an error has a short message for users. */
  find(): Promise<Binary | undefined>;
};

type Search = {
  title: string;
  written: WrittenData | undefined;
  /** Ends of sentences for users: how to get the program, and what happens if they move the data away. */
  remedy: string;
  withoutData: string;
  sources: ProgramSource[];
};

/**
 * The first suitable program of the sources, in their order. Only the series that wrote existing data can open it: a
 * newer mongod changes its files so that an older one cannot read them.
 *
 * @throws {ServiceError} when there is none: one sentence with the reason of each source and the remedy
 */
export async function findFirst(search: Search): Promise<Binary> {
  const wanted = search.written?.series;
  const reasons: string[] = [];
  for (const source of search.sources) {
    if (wanted && source.series && source.series !== wanted) continue;
    try {
      const binary = await source.find();
      if (!binary) continue;
      if (!wanted || seriesOf(binary) === wanted) return binary;
      reasons.push(`${binary.path} is ${seriesOf(binary)}`);
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new ServiceError(notFound(search, [...new Set(reasons)].join(', ')));
}

function notFound({ title, written, remedy, withoutData }: Search, reasons: string): string {
  if (!written) return `No ${title} was found: ${reasons}; ${remedy}.`;
  return `The data in ${written.dir} was written by ${written.series}, which alone can open it, but ${reasons}; put ${written.series} on PATH, or move that folder away: ${withoutData}.`;
}
