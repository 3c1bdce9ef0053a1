import { ObjectId } from 'mongodb';
import { z } from 'zod';
import type { AppDeps } from '../../../process/app-deps.ts';
import { hideServer, unhideServer } from '../../../servers/moderate-server.ts';
import { isId } from '../../../servers/slug.ts';
import { hashedId } from '../../../votes/exclusions/request-exclusion.ts';
import { OPERATOR } from '../../route-options.ts';
import { fieldText, UNTOUCHED } from '../../shared/form.ts';
import { formRoute, refused } from '../../shared/form-route.ts';
import { type Content, type Html, html } from '../../shared/html.ts';
import { button } from '../../shared/parts.ts';
import { hiddenFields, idField, reasonFields } from '../admin-fields.ts';
import { type NamedServer, serverLink } from '../admin-frame.ts';
import {
  backToList,
  formAddress,
  type Inbox,
  type InboxView,
  isOfAll,
  joinedIds,
  type KindName,
  type KindOfItem,
  numberOrZero,
  pickedIds,
} from './inbox.ts';
import { manyButton, manyForm, resultNotice } from './inbox-parts.ts';

type Decision = {
  name: string;
  /** `pressId` is that of the decision, also for its undo. Returns the ids that have the wanted state by it. */
  run(deps: AppDeps, ids: ObjectId[], pressId: ObjectId, by: string): Promise<ObjectId[]>;
  said(changed: number): string;
};

export type ItemDecisions = {
  tab: KindName;
  most: number;
  /** In the plural, for sentences: `reports`. */
  items: string;
  decision: Decision & {
    /** The text of the button for the selected items. */
    text: string;
    of: string;
    /** The sentence about items that other operators decided first. */
    missed(missed: number): string;
  };
  undo: Decision;
};

/** A kind whose items are decided about by one press, or hidden. Registers the form of the decision and its undo. */
export function itemDecisions(inbox: Inbox, decisions: ItemDecisions): Pick<KindOfItem, 'result' | 'many'> {
  const { tab, decision } = decisions;
  decisionForm(inbox, decisions);
  return {
    result: async (query) => [
      decisionResult(inbox.base, decisions, query),
      await hidingResult(inbox, tab, query),
    ],
    many: ({ to, now }) =>
      manyForm({
        kind: tab,
        to: to(`/${tab}`),
        hidden: { seen: now.toISOString() },
        buttons: manyButton({ value: decision.name, text: decision.text, key: 'a' }),
      }),
  };
}

function decisionForm({ app, deps, base, numbers }: Inbox, decisions: ItemDecisions): void {
  const { tab, most, decision, undo } = decisions;
  formRoute(app, {
    path: `/attention/${tab}`,
    access: OPERATOR,
    schema: z.object({ decision: z.enum([decision.name, undo.name]), seen: z.iso.datetime() }),
    run: async ({ request, by, data }) => {
      const { seen } = data;
      const ids = pickedIds(request, most);
      if (ids.length === 0) return backToList(request, base, tab, { done: 'none' });
      const { run } = data.decision === decision.name ? decision : undo;
      const changed = await run(deps, ids, pressId(tab, by, seen), by);
      numbers.forget();
      const missed = ids.length - changed.length;
      return backToList(request, base, tab, { done: data.decision, ids: joinedIds(changed), missed, seen });
    },
  });
}

/** The press of a button on the page as it was at `seen`: if its answer is lost, the same press comes again. */
function pressId(tab: KindName, by: string, seen: string): ObjectId {
  return hashedId(JSON.stringify([tab, by, seen]));
}

function decisionResult(
  base: string,
  { tab, items, decision, undo }: ItemDecisions,
  query: Record<string, string>,
): Content {
  const { done, ids = '', seen = '' } = query;
  if (done === 'none') return resultNotice('attention', `Select the ${items} first.`);
  const changed = ids === '' ? 0 : ids.split('-').length;
  if (done === undo.name) return resultNotice('good', undo.said(changed));
  if (done !== decision.name) return '';
  const missed = numberOrZero(query.missed);
  const text = `${decision.said(changed)}${missed ? ` ${decision.missed(missed)}` : ''}`;
  const undoing = button({
    to: formAddress(base, isOfAll(query))(`/${tab}`),
    text: 'Undo',
    hidden: { decision: undo.name, item: ids, seen },
    of: decision.of,
  });
  return resultNotice(missed ? 'attention' : 'good', text, changed > 0 ? undoing : '');
}

const tabField = z.enum(['reports', 'servers']);

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
    run: async ({ request, by, data: { server, tab, ...reasons } }) => {
      const hidden = await hideServer(deps, new ObjectId(server), reasons, by);
      numbers.forget();
      return hidden ? backToList(request, base, tab, { done: 'hidden', server }) : noServer();
    },
  });

  formRoute(app, {
    path: '/attention/unhide',
    access: OPERATOR,
    schema: z.object({ server: idField, tab: tabField }),
    run: async ({ request, by, data: { server, tab } }) => {
      const shown = await unhideServer(deps, new ObjectId(server), by);
      return shown ? backToList(request, base, tab, { done: 'unhidden', server }) : noServer();
    },
  });
}

export const noServer = () => refused(404, 'This server does not exist, or was removed.');

export function hideAction(
  { to }: InboxView,
  tab: z.output<typeof tabField>,
  { _id, name }: NamedServer,
): Html {
  const id = _id.toHexString();
  return html`<details class="confirm">
    <summary class="button quiet">Hide server…<span class="for-readers"> ${name}</span></summary>
    <form method="post" action="${to('/hide')}" class="confirm-body stack">
      <p>The server is removed from the ranking and public lists. Its API, votes and listener keep working.</p>
      ${hiddenFields({ server: id, tab })}
      ${reasonFields({
        typed: UNTOUCHED,
        forOwner: { name: 'reason', reader: 'the owner', required: true },
        internal: { name: 'internalReason' },
        of: `${tab}-${id}`,
      })}
      <button class="danger" type="submit">Hide server</button>
    </form>
  </details>`;
}

async function hidingResult(
  { deps, base }: Inbox,
  tab: KindName,
  query: Record<string, string>,
): Promise<Content> {
  const { done, server = '' } = query;
  if ((done !== 'hidden' && done !== 'unhidden') || !isId(server)) return '';
  const found = await deps.servers.findOne({ _id: new ObjectId(server) }, { projection: { name: 1 } });
  if (!found) return '';
  const name = serverLink(base, found);
  if (done === 'unhidden') return resultNotice('good', html`${name} is listed again.`);
  const to = formAddress(base, isOfAll(query))('/unhide');
  const undo = button({ to, text: 'Undo', hidden: { server, tab }, of: `hiding ${found.name}` });
  return resultNotice('good', html`${name} is hidden.`, undo);
}
