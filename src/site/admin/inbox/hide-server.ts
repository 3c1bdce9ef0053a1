import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { hideServer, unhideServer } from '../../../servers/moderate-server.ts';
import { isId } from '../../../servers/slug.ts';
import { OPERATOR } from '../../route-options.ts';
import { fieldText, UNTOUCHED } from '../../shared/form.ts';
import { formRoute, refused } from '../../shared/form-route.ts';
import { type Content, type Html, html } from '../../shared/html.ts';
import { button } from '../../shared/parts.ts';
import { hiddenFields, idField, reasonFields } from '../admin-fields.ts';
import { adminPath, serverLink } from '../admin-frame.ts';
import { type Inbox, type InboxTab, inboxPath } from './inbox.ts';
import { resultNotice } from './inbox-parts.ts';

const tabField = z.enum(['reports', 'servers']);

/** They redirect to the tab from which they were sent. */
export function hidingForms({ app, deps, base, numbers }: Inbox): void {
  formRoute(app, {
    path: '/attention/hide',
    access: OPERATOR,
    schema: z.object({
      server: idField,
      tab: tabField,
      reason: fieldText,
      internalReason: z.string().optional(),
    }),
    run: async ({ by, data: { server, tab, ...reasons } }) => {
      const hidden = await hideServer(deps, new ObjectId(server), reasons, by);
      numbers.forget();
      return hidden ? inboxPath(base, tab, { done: 'hidden', server }) : noServer();
    },
  });

  formRoute(app, {
    path: '/attention/unhide',
    access: OPERATOR,
    schema: z.object({ server: idField, tab: tabField }),
    run: async ({ by, data: { server, tab } }) => {
      const shown = await unhideServer(deps, new ObjectId(server), by);
      return shown ? inboxPath(base, tab, { done: 'unhidden', server }) : noServer();
    },
  });
}

const noServer = () => refused(404, 'This server does not exist, or was removed.');

type Named = { _id: ObjectId; name: string };

export function hideAction(base: string, tab: z.output<typeof tabField>, { _id, name }: Named): Html {
  const id = _id.toHexString();
  return html`<details class="confirm">
    <summary class="button quiet">Hide server…<span class="for-readers"> ${name}</span></summary>
    <form method="post" action="${adminPath(base, '/attention/hide')}" class="confirm-body stack">
      <p>The server is removed from the ranking and public lists. Its API, votes and listener keep working.</p>
      ${hiddenFields({ server: id, tab })}
      ${reasonFields({
        typed: UNTOUCHED,
        forOwner: { name: 'reason', reader: 'the owner', required: true },
        internal: { name: 'internalReason' },
        of: id,
      })}
      <button class="danger" type="submit">Hide server</button>
    </form>
  </details>`;
}

export async function hidingResult(
  { deps, base }: Inbox,
  tab: InboxTab,
  { done, server = '' }: Record<string, string>,
): Promise<Content> {
  if ((done !== 'hidden' && done !== 'unhidden') || !isId(server)) return '';
  const found = await deps.servers.findOne({ _id: new ObjectId(server) }, { projection: { name: 1 } });
  if (!found) return '';
  const name = serverLink(base, found);
  if (done === 'unhidden') return resultNotice('good', html`${name} is listed again.`);
  const to = adminPath(base, '/attention/unhide');
  const undo = button({ to, text: 'Undo', hidden: { server, tab }, of: `hiding ${found.name}` });
  return resultNotice('good', html`${name} is hidden.`, undo);
}
