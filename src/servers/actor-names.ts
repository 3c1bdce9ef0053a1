import type { ObjectId, WithId } from 'mongodb';
import { defineMessage, sourceText, t } from '../language/t.ts';
import type { ApiToken } from './api-token.ts';
import type { ServersDeps } from './deps.ts';
import { roleOf } from './ownership.ts';
import type { Server } from './server.ts';

/**
 * Shown in place of an operator's e-mail address. The text is the key of its translation, and invitations store it, so
 * it must not change.
 */
export const AN_OPERATOR = sourceText('an operator');

/**
 * The user who did something. `by` is the e-mail address that the user had then, or `cli` for the command line. `byId`
 * is absent for `cli` and in entries of older versions.
 */
export type Actor = { by: string; byId?: ObjectId | null | undefined };

/**
 * Returns a function that names an actor for the owner and the members of a server: by e-mail address if the actor is
 * one of them, otherwise as "an operator" or "somebody without access to this server".
 */
export async function actorNames(
  { users }: ServersDeps,
  { ownerId, members }: Pick<WithId<Server>, 'ownerId' | 'members'>,
  actors: Actor[],
): Promise<(actor: Actor) => string> {
  const ids = actors.flatMap(({ byId }) => byId ?? []);
  const emails = [...new Set(actors.flatMap(({ by, byId }) => (byId ? [] : by)))];
  const found =
    actors.length === 0
      ? []
      : await users
          .find(
            { $or: [{ _id: { $in: ids } }, { email: { $in: emails } }] },
            { projection: { email: 1, role: 1 } },
          )
          .toArray();
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

/**
 * Returns a function that names the creator of a token for the owner and the members of the server: by e-mail address
 * if the creator is one of them. Tokens of older versions do not say who created them.
 */
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

/** The e-mail addresses of users, by user id. */
export async function emailsOf({ users }: ServersDeps, ids: ObjectId[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const found = await users.find({ _id: { $in: ids } }, { projection: { email: 1 } }).toArray();
  return new Map(found.map(({ _id, email }) => [_id.toHexString(), email]));
}
