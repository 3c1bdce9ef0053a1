import type { WithId } from 'mongodb';
import type { User } from '../../../accounts/user.ts';
import { acceptNewServers, listNewServers, unacceptServers } from '../../../servers/moderate-server.ts';
import type { OwnershipProofMethod, Server } from '../../../servers/server.ts';
import { emptyLine } from '../../shared/empty-card.ts';
import { count, counted, timeAgo } from '../../shared/format.ts';
import { gameName } from '../../shared/game-names.ts';
import { type Html, html } from '../../shared/html.ts';
import { button, facts } from '../../shared/parts.ts';
import { publicPath } from '../../shared/server-paths.ts';
import { adminPath, serverLink } from '../admin-frame.ts';
import type { Inbox, TabOf } from './inbox.ts';
import {
  hideAction,
  hidingResult,
  type ItemDecisions,
  itemDecisionsForm,
  itemDecisionsResult,
} from './inbox-decisions.ts';
import { inboxItem, keyed, keysHint, listPage, manyButton, manyForm } from './inbox-parts.ts';

/** The servers on a page, and the most that one decision accepts. */
const ROWS = 20;

const PROOFS: Record<OwnershipProofMethod, string> = {
  message: 'code in the server’s message',
  dns: 'DNS record',
  operator: 'by an operator',
};

export function serversTab(inbox: Inbox): TabOf {
  const { deps, base } = inbox;
  itemDecisionsForm(inbox, DECISIONS);
  return async (_request, query) => {
    const { from } = query;
    const { rows, next } = await listNewServers(deps, { from, limit: ROWS });
    const owners = await ownersOf(inbox, rows);
    const view = { base, now: deps.clock.now(), owners };
    const many = manyForm({
      to: adminPath(base, '/attention/servers'),
      buttons: manyButton({ value: 'accept', text: 'Accept selected', key: 'a' }),
    });
    const body = html`${itemDecisionsResult(base, DECISIONS, query)} ${await hidingResult(inbox, 'servers', query)}
      ${
        rows.length === 0
          ? emptyLine('No new servers.')
          : html`<p class="soft">Owners listed these servers. They are public; accepting one takes it off this list.</p>
              ${keysHint({ a: 'accept', x: 'hide' })} ${rows.map((row) => serverItem(view, row))} ${many}`
      }`;
    return listPage(base, 'servers', body, { from, next, count: rows.length });
  };
}

const DECISIONS: ItemDecisions = {
  tab: 'servers',
  most: ROWS,
  items: 'servers',
  decision: {
    name: 'accept',
    run: acceptNewServers,
    said: (changed) => `${counted(changed, 'server')} accepted.`,
    missed: (missed) => `Another operator decided first about ${counted(missed, 'server')}.`,
    of: 'accepting',
  },
  undo: {
    name: 'unaccept',
    run: unacceptServers,
    said: (changed) => `${counted(changed, 'server')} in the list again.`,
  },
};

type Owner = WithId<Pick<User, 'email' | 'createdAt'>>;
type View = { base: string; now: Date; owners: Map<string, Owner> };

async function ownersOf({ deps }: Inbox, rows: Server[]): Promise<Map<string, Owner>> {
  const ids = rows.flatMap(({ ownerId }) => ownerId ?? []);
  const found = await deps.users
    .find({ _id: { $in: ids } }, { projection: { email: 1, createdAt: 1 } })
    .toArray();
  return new Map(found.map((user) => [user._id.toHexString(), user]));
}

function serverItem(view: View, server: WithId<Server>): Html {
  const { base, now } = view;
  const { _id, name, listedAt } = server;
  const accept = button({
    to: adminPath(base, '/attention/servers'),
    text: 'Accept',
    hidden: { decision: 'accept', item: _id.toHexString() },
    kind: 'primary',
    of: name,
  });
  return inboxItem({
    id: _id.toHexString(),
    select: { value: _id.toHexString(), of: name },
    title: html`${serverLink(base, server)}`,
    at: html`listed ${timeAgo(listedAt, now)}`,
    body: serverFacts(view, server),
    actions: html`${keyed('a', accept)} ${keyed('x', hideAction(base, 'servers', server))}
      <a class="button quiet" href="${base}${publicPath(server)}">Public page<span
        class="for-readers"> of ${name}</span></a>`,
  });
}

function serverFacts({ base, now, owners }: View, server: WithId<Server>): Html {
  const { address, port, game, ownerId, proof, current, probe, profile } = server;
  const owner = ownerId && owners.get(ownerId.toHexString());
  return facts([
    ['Address', html`<span class="mono">${address}:${String(port)}</span>`],
    ['Game', game ? gameName(game) : ''],
    [
      'Owner',
      owner
        ? html`<a href="${adminPath(base, `/users/${owner._id.toHexString()}`)}">${owner.email}</a>,
          account made ${timeAgo(owner.createdAt, now)}`
        : '',
    ],
    ['Proof of ownership', proof ? PROOFS[proof.method] : 'none'],
    [
      'Players now',
      probe.checkedAt ? `${count(current.onlinePlayers)} (${probe.status})` : 'not checked yet',
    ],
    ['Message', current.motd ? html`<bdi>${current.motd}</bdi>` : ''],
    ['Short text', profile?.shortText ? html`<bdi>${profile.shortText}</bdi>` : ''],
  ]);
}
