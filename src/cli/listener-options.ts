import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { AddressError, resolveAddress } from '../address-guard.ts';
import type { Config } from '../config.ts';
import type { Protocol } from '../delivery/listener.ts';
import { isTokenShaped } from '../servers/token-text.ts';
import { CommandError, wrongUse } from './failure.ts';
import { sentence, systemReason } from './words.ts';

/** What is typed after `listener set <server>`. */
export type SetOptions = {
  protocol: Protocol;
  host: string;
  port: number;
  publicKeyFile?: string;
  token?: string;
  serviceName?: string;
};

/**
 * Sees that the secret is the one that the protocol takes.
 *
 * @throws {CommandError} `wrong-use`; `token-malformed` for a token of our own API
 */
export function requireSecret(_server: string, { protocol, publicKeyFile, token }: SetOptions): void {
  const [wanted, given, other] =
    protocol === 'votifier-v1'
      ? (['--public-key-file', publicKeyFile, token] as const)
      : (['--token', token, publicKeyFile] as const);
  if (given === undefined) throw wrongUse(`${protocol} needs ${wanted}.`);
  if (other !== undefined) throw wrongUse(`${protocol} takes ${wanted} alone.`);
  if (token !== undefined && isTokenShaped(token.trim())) {
    throw new CommandError(
      'token-malformed',
      'This is an API token of Tallyport, not the vote plugin’s token: copy the one in the plugin’s own configuration.',
    );
  }
}

/**
 * The token, or the content of the public key's file.
 *
 * @throws {CommandError} `file-unreadable`
 */
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
      return `There is no file «${file}»: give the path of the plugin’s rsa/public.key.`;
    case 'EISDIR':
      return `«${file}» is a folder: give the path of the file public.key in it.`;
    case 'EACCES':
    case 'EPERM':
      return `The file «${file}» may not be read by this user.`;
    default:
      return sentence(`The public key cannot be read from «${file}»: ${systemReason(error)}`);
  }
}

/**
 * Why no vote will be sent to a listener's address, as this environment allows it; null when nothing is known
 * against it. A name is not looked up: what it means is decided each time a vote is sent.
 */
export async function hostWarning(
  host: string,
  { ALLOWED_PRIVATE_RANGES }: Pick<Config, 'ALLOWED_PRIVATE_RANGES'>,
): Promise<string | null> {
  if (isIP(host) === 0) return null;
  try {
    await resolveAddress(host, { allowedPrivateRanges: ALLOWED_PRIVATE_RANGES, timeoutMs: 0 });
    return null;
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    return `${error.message}: no vote is sent to it unless the operator adds its range to ALLOWED_PRIVATE_RANGES.`;
  }
}
