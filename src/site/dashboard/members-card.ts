import type { ObjectId, WithId } from 'mongodb';
import { defineMessage, type Text, t } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { ApiToken } from '../../servers/api-token.ts';
import { isValid, listTokens } from '../../servers/api-tokens.ts';
import { REVOKED_WITHIN_SECONDS } from '../../servers/authenticate-token.ts';
import type { MemberRole, Server } from '../../servers/server.ts';
import { timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { button, type Column, card, checkbox, confirmed, dataTable } from '../shared/parts.ts';

export const ROLE_TEXTS: Record<MemberRole, Text> = {
  full: defineMessage('full'),
  read: defineMessage('read only'),
};

type MemberRow = {
  userId: ObjectId;
  role: MemberRole | 'owner';
  /** When the user became a member; null for the owner. */
  at: Date | null;
  /** The e-mail address, or a placeholder text. */
  email: string;
  /** The valid tokens that this user created. */
  tokens: ApiToken[];
};

/** The owner and the members of a server. */
export async function readMembers(
  deps: AppDeps,
  { _id, ownerId, members }: WithId<Server>,
): Promise<MemberRow[]> {
  const users = [
    ...(ownerId ? [{ userId: ownerId, role: 'owner' as const, at: null }] : []),
    ...(members ?? []),
  ];
  const ids = users.map(({ userId }) => userId);
  const [found, tokens] = await Promise.all([
    deps.users.find({ _id: { $in: ids } }, { projection: { email: 1 } }).toArray(),
    listTokens(deps, _id),
  ]);
  const now = deps.clock.now();
  return users.map((user) => ({
    ...user,
    email: found.find((one) => one._id.equals(user.userId))?.email ?? t('a deleted account'),
    tokens: tokens.filter((one) => isValid(one, now) && one.issuedBy?.equals(user.userId)),
  }));
}

/**
 * The card of the users who manage a server. `path` is the path of the members' page; `mayChange` says whether the
 * signed-in user may change the members.
 */
export function membersCard(path: string, rows: MemberRow[], mayChange: boolean, now: Date): Html {
  const actions: Column<MemberRow> = { title: t('Actions'), cell: (row) => memberActions(path, row) };
  return card({
    title: t('Members'),
    body: dataTable<MemberRow>({
      caption: t('Members'),
      rows,
      columns: [
        { title: t('User'), heads: true, kind: 'address', cell: ({ email }) => email },
        { title: t('Role'), cell: ({ role }) => (role === 'owner' ? t('owner') : t(ROLE_TEXTS[role])) },
        { title: t('Since'), cell: ({ at }) => (at ? timeAgo(at, now) : '') },
        ...(mayChange ? [actions] : []),
      ],
      empty: t('This server has no owner and no members.'),
    }),
  });
}

function memberActions(membersPath: string, { userId, role, email, tokens }: MemberRow): Content {
  if (role === 'owner') return '';
  const path = `${membersPath}/${userId.toHexString()}`;
  const other = role === 'full' ? 'read' : 'full';
  const change = button({
    to: `${path}/role`,
    text: other === 'full' ? t('Give full access') : t('Make read only'),
    hidden: { role: other },
    of: email,
  });
  const consequence = losesTokens(tokens);
  return html`<div class="actions">
    ${
      tokens.length === 0 || other === 'full'
        ? change
        : confirmed({ text: t('Make read only…'), of: email, consequence, form: change })
    }
    ${confirmed({
      text: t('Remove'),
      of: email,
      consequence: html`${t('The member no longer sees this server.')} ${consequence}`,
      form: removal(path, email, tokens),
    })}
  </div>`;
}

/** A warning with the member's tokens: they are revoked if the member is made read-only, or removed without `keep`. */
function losesTokens(tokens: ApiToken[]): Content {
  if (tokens.length === 0) return t('The member has made no valid token.');
  return html`${t('These tokens, which the member made, stop working within {seconds} seconds:', {
    seconds: REVOKED_WITHIN_SECONDS,
  })}
    ${tokens.map(({ name }, index) => html`${index > 0 ? ', ' : ''}<bdi>${name}</bdi>`)}.`;
}

function removal(path: string, email: string, tokens: ApiToken[]): Html {
  const keep = checkbox({
    name: 'keep',
    id: `keep-${path.split('/').at(-1)}`,
    label: t('Keep these tokens: they become yours'),
    hint: t('The member may still know them.'),
  });
  return html`<form method="post" action="${path}/remove" class="stack">
    ${tokens.length === 0 ? '' : keep}
    <button class="danger" type="submit">${t('Remove member')}<span class="for-readers"> ${email}</span></button>
  </form>`;
}
