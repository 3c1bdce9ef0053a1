import type { WithId } from 'mongodb';
import { defineMessage, type Text, t } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { ApiToken } from '../../servers/api-token.ts';
import { isValid, listTokens } from '../../servers/api-tokens.ts';
import { REVOKED_WITHIN_SECONDS } from '../../servers/authenticate-token.ts';
import type { openInvitations } from '../../servers/members.ts';
import type { MemberRole, Server } from '../../servers/server.ts';
import type { Typed } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { button, type Column, card, checkbox, confirmed, dataTable } from '../shared/parts.ts';
import { radios } from '../shared/radios.ts';

export const ROLE_TEXTS: Record<MemberRole, Text> = {
  full: defineMessage('full'),
  read: defineMessage('read only'),
};

type MemberRow = Awaited<ReturnType<typeof readMembers>>[number];

/** The owner and the members, each with the address or a placeholder, and the valid tokens that they made. */
export async function readMembers(deps: AppDeps, { _id, ownerId, members }: WithId<Server>) {
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

/** `mayChange`: whether the signed-in user may change the members. */
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

/** The tokens are revoked if the member is made read-only, or removed without `keep`. */
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

const ROLE_ABOUT: Record<MemberRole, Text> = {
  read: defineMessage('Sees the dashboard and changes nothing'),
  full: defineMessage('Changes everything but members, owner and removal'),
};
const ROLE_NAMES: Record<MemberRole, Text> = {
  read: defineMessage('Read only'),
  full: defineMessage('Full'),
};
const ROLES: MemberRole[] = ['read', 'full'];

/** `isMailed`: whether this listing sends invitations by mail. */
export function inviteCard(
  path: string,
  open: ReturnType<typeof openInvitations>,
  isMailed: boolean,
  typed: Typed,
  now: Date,
): Html {
  return card({
    title: t('Invite'),
    body: html`${dataTable({
      caption: t('Open invitations'),
      rows: open,
      columns: [
        { title: t('E-mail address'), heads: true, kind: 'address', cell: ({ email }) => email },
        { title: t('Role'), cell: ({ role }) => t(ROLE_TEXTS[role]) },
        { title: t('Invited'), cell: ({ at }) => timeAgo(at, now) },
        {
          title: t('Actions'),
          cell: ({ email }) =>
            button({ to: `${path}/withdraw`, text: t('Withdraw'), hidden: { email }, of: email }),
        },
      ],
      empty: t('No open invitations.'),
    })}
    ${inviteForm(path, isMailed, typed)}`,
  });
}

function inviteForm(path: string, isMailed: boolean, typed: Typed): Html {
  const fields = fieldsOf(typed);
  return html`<form method="post" action="${path}" class="stack">
    ${fields.text('email', {
      label: t('E-mail address'),
      type: 'email',
      required: true,
      maxlength: 254,
      hint: isMailed
        ? t(
            'We mail the address. Whoever signs in with it, confirmed, finds the invitation under “Your servers”.',
          )
        : t(
            'This listing sends no mail: tell the person to sign in. An operator must have confirmed the address.',
          ),
    })}
    ${radios({
      name: 'role',
      label: t('Role'),
      value: typed.values.role ?? 'read',
      error: typed.errors.role,
      options: ROLES.map((role) => ({ value: role, text: t(ROLE_NAMES[role]), about: t(ROLE_ABOUT[role]) })),
    })}
    <button type="submit">${t('Invite')}</button>
  </form>`;
}
