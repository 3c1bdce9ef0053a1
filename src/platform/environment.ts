import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { AppError } from './app-error.ts';

export type Variables = Record<string, string | undefined>;

export const DEFAULT_DATA_DIR = '.data';

/** Before a command that is shown to the operator, so that it finds the same data. */
export function inDataDir({ DATA_DIR = '' }: { DATA_DIR?: string | undefined }): string {
  return DATA_DIR === '' || DATA_DIR === DEFAULT_DATA_DIR ? '' : `DATA_DIR=${quoted(DATA_DIR)} `;
}

/** For a shell. */
export function quoted(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** With the variables of `.env` in the working directory that the environment lacks. */
export function ownEnvironment(): Variables {
  return { ...variablesOfEnvFile(), ...process.env };
}

export function variablesOfEnvFile(): Variables {
  if (process.env.NODE_ENV === 'test') return {};
  try {
    return parseEnv(readFileSync('.env', 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new ConfigError([`.env cannot be read: ${error instanceof Error ? error.message : error}`]);
  }
}

/** `errors` has one readable line for each error. */
export class ConfigError extends AppError {
  readonly errors: string[];

  constructor(errors: string[]) {
    super(
      `The configuration has ${errors.length === 1 ? 'an error' : `${errors.length} errors`}:\n${errors.map((error) => `  ${error}`).join('\n')}`,
    );
    this.errors = errors;
  }
}
