import { readFile } from 'node:fs/promises';
import type { Protocol } from '../listeners/listener.ts';
import { CommandError, wrongUse } from './failure.ts';
import { sentence, systemReason } from './output-format.ts';

export type SetOptions = {
  protocol: Protocol;
  host?: string;
  port?: number;
  publicKeyFile?: string;
  token?: string;
  url?: string;
  serviceName?: string;
  maxSendings?: number;
  /** False for `--no-resend`. */
  resend?: boolean;
};

/** The options of `NAMES` that each protocol requires; it takes no others of them. */
const NEEDS: Record<Protocol, (keyof typeof NAMES)[]> = {
  'votifier-v1': ['host', 'port', 'publicKeyFile'],
  'votifier-v2': ['host', 'port', 'token'],
  http: ['url'],
  fetch: [],
};

const NAMES = {
  host: '--host',
  port: '--port',
  publicKeyFile: '--public-key-file',
  token: '--token',
  url: '--url',
} as const;

export function requireOptions(_server: string, options: SetOptions): void {
  const { protocol } = options;
  const needed = NEEDS[protocol];
  const names = Object.keys(NAMES) as (keyof typeof NAMES)[];
  const missing = needed.filter((name) => options[name] === undefined);
  const unknown = names.filter((name) => options[name] !== undefined && !needed.includes(name));
  if (missing.length > 0) throw wrongUse(`${protocol} needs ${listed(missing)}.`);
  const taken = needed.length > 0 ? listed(needed) : 'no address, token or key';
  if (unknown.length > 0) throw wrongUse(`${protocol} takes ${taken}, not ${listed(unknown)}.`);
}

function listed(names: (keyof typeof NAMES)[]): string {
  return names.map((name) => NAMES[name]).join(' and ');
}

export async function secretOf({ publicKeyFile, token = '' }: SetOptions): Promise<string> {
  if (publicKeyFile === undefined) return token;
  try {
    return await readFile(publicKeyFile, 'utf8');
  } catch (error) {
    throw new CommandError('file-unreadable', unreadable(publicKeyFile, error));
  }
}

function unreadable(file: string, error: unknown): string {
  switch (error instanceof Error && 'code' in error ? error.code : '') {
    case 'ENOENT':
    case 'ENOTDIR':
      return `There is no file “${file}”: give the path of the plugin’s rsa/public.key.`;
    case 'EISDIR':
      return `“${file}” is a folder: give the path of the file public.key in it.`;
    case 'EACCES':
    case 'EPERM':
      return `This user has no permission to read the file “${file}”.`;
    default:
      return sentence(`The public key cannot be read from “${file}”: ${systemReason(error)}`);
  }
}
