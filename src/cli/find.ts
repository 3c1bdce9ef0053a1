import { ObjectId, UUID, type WithId } from 'mongodb';
import type { AppDeps } from '../process/app-deps.ts';
import { findServer } from '../servers/listed-servers.ts';
import type { Server } from '../servers/server.ts';
import { CommandError } from './failure.ts';
import { invocation } from './invocation.ts';
import type { Session } from './session.ts';

/** The actor of the command line's changes in the audit log. */
export const BY = 'cli';

/** @throws {CommandError} `server-not-found` */
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

/** The server was removed after the command had found it. */
export function noLongerListed(text: string): CommandError {
  return new CommandError('server-not-found', `The server “${text}” is no longer listed.`);
}

export function noListenerError({ terminal }: Session, { slug }: Server): CommandError {
  return new CommandError(
    'no-listener',
    `${slug} has no vote listener. Set one: ${invocation('listener set --help', terminal.env)}`,
  );
}

export function objectIdOf(text: string): ObjectId | null {
  return /^[0-9a-f]{24}$/i.test(text) ? new ObjectId(text) : null;
}

export function uuidOf(text: string): UUID | null {
  return UUID.isValid(text) ? new UUID(text) : null;
}

/** The slugs of servers, by id in hex. */
export async function slugsById({ servers }: AppDeps, ids: ObjectId[]): Promise<Map<string, string>> {
  const found = await servers.find({ _id: { $in: ids } }, { projection: { slug: 1 } }).toArray();
  return new Map(found.map(({ _id, slug }) => [_id.toHexString(), slug]));
}
