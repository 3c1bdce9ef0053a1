import { defineMessage, type Text, t } from '../../language/t.ts';
import { AN_OPERATOR } from '../../servers/actor-names.ts';
import type { invitationsOf, openInvitations } from '../../servers/members.ts';
import type { MemberRole } from '../../servers/server.ts';
import type { Typed } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { button, card, dataTable, optionsOf } from '../shared/parts.ts';
import { ROLE_TEXTS } from './members-card.ts';

const ROLE_OPTIONS: [MemberRole, Text][] = [
  ['full', defineMessage('Full: changes everything but members, owner and removal')],
  ['read', defineMessage('Read only: sees the dashboard and changes nothing')],
];

type Shown = {
  /** The path of the members' page. */
  path: string;
  open: ReturnType<typeof openInvitations>;
  /** Whether this listing sends invitations by mail. */
  isMailed: boolean;
  typed: Typed;
  now: Date;
};

/** The card with the open invitations to a server, and the form to invite a user. */
export function inviteCard({ path, open, isMailed, typed, now }: Shown): Html {
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
    <div class="row">
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
      ${fields.select('role', {
        label: t('Role'),
        value: 'read',
        options: optionsOf(ROLE_OPTIONS),
      })}
    </div>
    <button type="submit">${t('Invite')}</button>
  </form>`;
}

/** The open invitations of a user, for the list of the user's servers. */
export function receivedInvitations(
  base: string,
  invitations: Awaited<ReturnType<typeof invitationsOf>>,
): Content {
  return invitations.map(({ server, role, by }) => {
    const path = `${base}/dashboard/invitations/${server._id.toHexString()}`;
    const sentence = t('{by} invites you to manage <bdi>{server}</bdi> ({role}).', {
      by: by === AN_OPERATOR ? t(AN_OPERATOR) : by,
      server: server.name,
      role: t(ROLE_TEXTS[role]),
    });
    return card({
      title: t('Invitation'),
      body: html`<p>${sentence}</p>
        <div class="actions">
          ${button({ to: `${path}/accept`, text: t('Accept'), kind: 'primary', of: server.name })}
          ${button({ to: `${path}/decline`, text: t('Decline'), of: server.name })}
        </div>`,
    });
  });
}
