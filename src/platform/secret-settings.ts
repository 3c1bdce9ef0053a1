import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { getSystemErrorMessage } from 'node:util';
import { AppError } from './app-error.ts';
import type { Variables } from './environment.ts';
import { SECRETS_IN_FILES } from './settings/definitions.ts';

const MAX_KILOBYTES = 16;

export type WithSecretFiles = {
  variables: Record<string, string>;
  /** The files of secrets by the setting's name, including those that cannot be read. */
  files: ReadonlyMap<string, string>;
  /** One line for each file that cannot be used. */
  errors: string[];
  /** The settings whose files cannot be used: they have no value. */
  unread: string[];
};

/** Reads the secrets for which `env` names a file. An empty variable counts as absent. */
export function readSecretFiles(env: Variables): WithSecretFiles {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value) variables[name] = value;
  const files = new Map<string, string>();
  const errors: string[] = [];
  for (const name of SECRETS_IN_FILES) {
    const path = variables[`${name}_FILE`];
    if (!path) continue;
    if (variables[name] !== undefined) {
      errors.push(`${name} and ${name}_FILE are both set: remove one of them`);
      continue;
    }
    // If a secret was put into this variable by mistake, the message must not show it.
    if (!isAbsolute(path) && !/^\.{1,2}\//.test(path)) {
      errors.push(
        `${name}_FILE must be an absolute path, or one that begins with ./, such as /run/secrets/${name.toLowerCase()}`,
      );
      continue;
    }
    files.set(name, path);
    try {
      variables[name] = readSecret(path);
    } catch (error) {
      errors.push(`${name}_FILE (“${path}”) ${reasonOf(error)}`);
    }
  }
  const unread = SECRETS_IN_FILES.filter(
    (name) => variables[`${name}_FILE`] !== undefined && variables[name] === undefined,
  );
  return { variables, files, errors, unread };
}

/** The content of a file cannot be used as a secret. No message contains the content. */
class SecretFileError extends AppError {}

function readSecret(path: string): string {
  const bytes = readBounded(path);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new SecretFileError('is not a text in UTF-8');
  }
  const secret = text.replace(/[\r\n]+$/, '');
  if (secret === '') throw new SecretFileError('is empty');
  if (/\p{Cc}/u.test(secret)) throw new SecretFileError('must have one line of text');
  return secret;
}

function readBounded(path: string): Uint8Array {
  // If the file is a named pipe without a writer, opening it must not block the start.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new SecretFileError('is not a file');
    const buffer = Buffer.alloc(MAX_KILOBYTES * 1_024 + 1);
    const length = readSync(file, buffer);
    if (length === buffer.length) throw new SecretFileError(`has more than ${MAX_KILOBYTES} KB`);
    return buffer.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof SecretFileError) return error.message;
  const { errno, message } = error as NodeJS.ErrnoException;
  return `cannot be read: ${errno === undefined ? message : getSystemErrorMessage(errno)}`;
}
