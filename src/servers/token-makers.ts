import type { ObjectId, WithId } from 'mongodb';
import { defineMessage, t } from '../language/t.ts';
import { AN_OPERATOR } from './actor-names.ts';
import type { ApiToken } from './api-token.ts';
import type { ServersDeps } from './deps.ts';
import { roleOf } from './ownership.ts';
import type { Server } from './server.ts';

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
