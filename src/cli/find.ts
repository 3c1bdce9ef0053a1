import { ObjectId, UUID, type WithId } from 'mongodb';
import type { AppDeps } from '../process/app-deps.ts';
import { findServer } from '../servers/listed-servers.ts';
import type { Server } from '../servers/server.ts';
import { CommandError } from './failure.ts';
import { invocation } from './invocation.ts';
import type { Session } from './session.ts';

/** The actor of the command line's changes in the audit log. */
export const BY = 'cli';

/**
 * @param removed - `true` finds removed servers too
 * @throws {CommandError} `server-not-found` when there is no such server
 */
export async function requireServer(
  deps: AppDeps,
  text: string,
  { removed = false } = {},
): Promise<WithId<Server>> {
  const server = await findServer(deps, text, { removed });
  if (!server) {
    const where = removed ? 'There is no server' : 'No server is listed';
    throw new CommandError('server-not-found', `${where} with the id or slug “${text}”.`);
  }
  return server;
}

/** The error of a command that needs a listener if the server has none. */
export function noListenerError({ terminal }: Session, { slug }: Server): CommandError {
  return new CommandError(
    'no-listener',
    `${slug} has no vote listener. Set one: ${invocation('listener set --help', terminal.env)}`,
  );
}

/** `text` as an ObjectId; null if it is none. */
export function objectIdOf(text: string): ObjectId | null {
  return /^[0-9a-f]{24}$/i.test(text) ? new ObjectId(text) : null;
}

/** `text` as a UUID; null if it is none. */
export function uuidOf(text: string): UUID | null {
  return UUID.isValid(text) ? new UUID(text) : null;
}
