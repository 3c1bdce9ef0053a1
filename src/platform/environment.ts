import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { AppError } from './app-error.ts';

/** Environment variables, from which a configuration is read or which a child process gets. */
export type Variables = Record<string, string | undefined>;

/** The default of `DATA_DIR`. */
export const DEFAULT_DATA_DIR = '.data';

/** A copy of this process's environment, with the additional variables of `.env` in the working directory. */
export function ownEnvironment(): Variables {
  return { ...variablesOfEnvFile(), ...process.env };
}

/** The variables of `.env` in the working directory; empty in tests, or if there is no such file. */
export function variablesOfEnvFile(): Variables {
  if (process.env.NODE_ENV === 'test') return {};
  try {
    return parseEnv(readFileSync('.env', 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new ConfigError([`.env cannot be read: ${error instanceof Error ? error.message : error}`]);
  }
}

/** The environment is invalid. `errors` has one readable line for each error. */
export class ConfigError extends AppError {
  readonly errors: string[];

  constructor(errors: string[]) {
    super(
      `The configuration has ${errors.length === 1 ? 'an error' : `${errors.length} errors`}:\n${errors.map((error) => `  ${error}`).join('\n')}`,
    );
    this.errors = errors;
  }
}
