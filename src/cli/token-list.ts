import type { WithId } from 'mongodb';
import { emailsOf } from '../servers/actor-names.ts';
import { type ApiToken, kindOf, scopesOf } from '../servers/api-token.ts';
import { isOld, listTokens } from '../servers/api-tokens.ts';
import type { Answer } from './answer.ts';
import { requireServer } from './find.ts';
import { invocation } from './invocation.ts';
import { iso, when } from './output-format.ts';
import type { Session } from './session.ts';
import { table } from './table.ts';

/** `token list`: the tokens of a server. */
export async function listServerTokens(session: Session, text: string): Promise<Answer> {
  const server = await requireServer(session, text, { removed: true });
  const tokens = await listTokens(session, server._id);
  const now = session.clock.now();
  const emails = await emailsOf(
    session,
    tokens.flatMap(({ issuedBy }) => (issuedBy ? [issuedBy] : [])),
  );
  const makerOf = ({ issuedBy, byOperator }: ApiToken) =>
    issuedBy
      ? (emails.get(issuedBy.toHexString()) ?? issuedBy.toHexString())
      : byOperator
        ? 'operator'
        : null;
  const old = tokens.filter((token) => isOld(token, now)).length;
  const rows = tokens.map((token) => [
    token._id.toHexString(),
    token.name,
    kindOf(token) === 'api' ? scopesOf(token).join(',') : kindOf(token),
    `${token.prefix}…`,
    tokenState(token, now),
    when(token.createdAt, now),
    makerOf(token) ?? 'not recorded',
    isOld(token, now) ? 'never (old)' : when(token.expiresAt, now),
    when(token.lastUsedAt, now),
  ]);
  return {
    json: { tokens: tokens.map((token) => ({ ...tokenJson(token, now), made_by: makerOf(token) })) },
    text: `${table(
      ['TOKEN ID', 'NAME', 'FOR', 'BEGINS', 'STATE', 'MADE', 'MADE BY', 'EXPIRES', 'LAST USED'],
      rows,
      `${server.slug} has no token yet. Make one: ${invocation(`token issue ${server.slug}`, session.terminal.env)}`,
    )}${old === 0 ? '' : oldWarning(server.slug, old, session)}`,
  };
}

function oldWarning(slug: string, old: number, { terminal }: Session): string {
  const tokens = old === 1 ? '1 valid token is' : `${old} valid tokens are`;
  return `\n\n${tokens} over a year old and never expire${old === 1 ? 's' : ''}. Replace or revoke: ${invocation(`token rotate ${slug} TOKEN_ID`, terminal.env)}`;
}

/** The state of a token at `now`. */
export function tokenState({ revokedAt, expiresAt }: ApiToken, now: Date): 'valid' | 'expired' | 'revoked' {
  if (revokedAt) return 'revoked';
  return expiresAt && expiresAt <= now ? 'expired' : 'valid';
}

function tokenJson(token: WithId<ApiToken>, now: Date): Record<string, unknown> {
  return {
    token_id: token._id.toHexString(),
    name: token.name,
    kind: kindOf(token),
    scopes: kindOf(token) === 'api' ? scopesOf(token) : [],
    prefix: token.prefix,
    state: tokenState(token, now),
    created_at: iso(token.createdAt),
    expires_at: iso(token.expiresAt),
    is_old: isOld(token, now),
    revoked_at: iso(token.revokedAt),
    last_used_at: iso(token.lastUsedAt),
  };
}
