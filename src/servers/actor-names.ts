import type { ObjectId, WithId } from 'mongodb';
import { defineMessage, sourceText, t } from '../language/t.ts';
import type { ApiToken } from './api-token.ts';
import type { ServersDeps } from './deps.ts';
import { roleOf } from './ownership.ts';
import type { Server } from './server.ts';

/** In place of an operator's e-mail address. Invitations store this text, so it must not change. */
export const AN_OPERATOR = sourceText('an operator');

/**
 * `by`: the e-mail address that the user had then, or `cli`. `byId` is absent for `cli` and in entries of older
 * versions.
 */
export type Actor = { by: string; byId?: ObjectId | null | undefined };

/**
 * The returned function names an actor for the owner and the members of a server: by e-mail address only if the actor
 * is one of them.
 */
export async function actorNames(
  { users }: ServersDeps,
  { ownerId, members }: Pick<WithId<Server>, 'ownerId' | 'members'>,
  actors: Actor[],
): Promise<(actor: Actor) => string> {
  const ids = actors.flatMap(({ byId }) => byId ?? []);
  const emails = [...new Set(actors.flatMap(({ by, byId }) => (byId ? [] : by)))];
  const known = { $or: [{ _id: { $in: ids } }, { email: { $in: emails } }] };
  const projection = { email: 1, role: 1 };
  const found = actors.length === 0 ? [] : await users.find(known, { projection }).toArray();
  const withAccess = [ownerId, ...(members ?? []).map(({ userId }) => userId)];
  return ({ by, byId }) => {
    const user = found.find(({ _id, email }) => (byId ? byId.equals(_id) : email === by));
    if (user && withAccess.some((id) => id?.equals(user._id))) return user.email;
    return by === 'cli' || user?.role === 'operator'
      ? t(AN_OPERATOR)
      : t('somebody without access to this server');
  };
}

const NOT_RECORDED = defineMessage('not recorded');

/** As `actorNames`, for the creators of tokens. Tokens of older versions do not say who created them. */
export async function makerNames(
  deps: ServersDeps,
  server: Pick<WithId<Server>, 'ownerId' | 'members'>,
  tokens: Pick<ApiToken, 'issuedBy'>[],
): Promise<(token: Pick<ApiToken, 'issuedBy' | 'byOperator'>) => string> {
  const ids = tokens.flatMap(({ issuedBy }) => (issuedBy && roleOf(server, issuedBy) ? [issuedBy] : []));
  const emails = await emailsOf(deps, ids);
  return ({ issuedBy, byOperator }) => {
    if (issuedBy) return emails.get(issuedBy.toHexString()) ?? t('somebody without access to this server');
    return byOperator ? t(AN_OPERATOR) : t(NOT_RECORDED);
  };
}

export async function emailsOf({ users }: ServersDeps, ids: ObjectId[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const found = await users.find({ _id: { $in: ids } }, { projection: { email: 1 } }).toArray();
  return new Map(found.map(({ _id, email }) => [_id.toHexString(), email]));
}
