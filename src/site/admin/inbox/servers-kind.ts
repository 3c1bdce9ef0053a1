import type { WithId } from 'mongodb';
import type { User } from '../../../accounts/user.ts';
import { acceptNewServers, listNewServers, unacceptServers } from '../../../servers/moderate-server.ts';
import type { OwnershipProofMethod, Server } from '../../../servers/server.ts';
import { count, counted, timeAgo } from '../../shared/format.ts';
import { gameName } from '../../shared/game-names.ts';
import { type Html, html } from '../../shared/html.ts';
import { button } from '../../shared/parts.ts';
import { publicPath } from '../../shared/server-paths.ts';
import { adminPath, serverLink } from '../admin-frame.ts';
import type { Inbox, InboxItem, InboxView, KindOfItem } from './inbox.ts';
import { hideAction, type ItemDecisions, itemDecisions } from './inbox-decisions.ts';
import { evidence, keyed } from './inbox-parts.ts';

/** The servers on a page, and the most that one decision accepts. */
const ROWS = 20;

const PROOFS: Record<OwnershipProofMethod, string> = {
  message: 'code in the server’s message',
  dns: 'DNS record',
  operator: 'by an operator',
};

export function serversKind(inbox: Inbox): KindOfItem {
  const { deps, base } = inbox;
  return {
    ...itemDecisions(inbox, DECISIONS),
    read: async (list) => {
      const { rows, next } = await listNewServers(deps, { from: list.from, limit: list.limit ?? ROWS });
      const view = { ...list, base, owners: await ownersOf(inbox, rows) };
      return { items: rows.map((row) => serverItem(view, row)), next, about: ABOUT };
    },
    empty: 'No new servers.',
  };
}

const ABOUT = 'Owners listed these servers. They are public; accepting one takes it off this list.';

const DECISIONS: ItemDecisions = {
  tab: 'servers',
  most: ROWS,
  items: 'servers',
  decision: {
    name: 'accept',
    text: 'Accept',
    run: (deps, ids, acceptanceId, by) => acceptNewServers(deps, { ids, acceptanceId }, by),
    said: (changed) => `${counted(changed, 'server')} accepted.`,
    missed: (missed) => `Another operator decided first about ${counted(missed, 'server')}.`,
    of: 'accepting',
  },
  undo: {
    name: 'unaccept',
    run: (deps, ids, acceptanceId, by) => unacceptServers(deps, { ids, acceptanceId }, by),
    said: (changed) => `${counted(changed, 'server')} in the list again.`,
  },
};

type Owner = WithId<Pick<User, 'email' | 'createdAt'>>;
type View = InboxView & { base: string; owners: Map<string, Owner> };

async function ownersOf({ deps }: Inbox, rows: Server[]): Promise<Map<string, Owner>> {
  const ids = rows.flatMap(({ ownerId }) => ownerId ?? []);
  const found = await deps.users
    .find({ _id: { $in: ids } }, { projection: { email: 1, createdAt: 1 } })
    .toArray();
  return new Map(found.map((user) => [user._id.toHexString(), user]));
}

function serverItem(view: View, server: WithId<Server>): InboxItem {
  const { base, now, to } = view;
  const { _id, name, listedAt, game } = server;
  const accept = button({
    to: to('/servers'),
    text: 'Accept',
    hidden: { decision: 'accept', item: _id.toHexString(), seen: now.toISOString() },
    kind: 'primary',
    of: name,
  });
  return {
    kind: 'servers',
    id: _id.toHexString(),
    at: listedAt,
    select: { value: _id.toHexString(), of: name },
    what: game ? `New, ${gameName(game)}` : 'New server',
    where: html`<bdi>${name}</bdi>`,
    title: html`<bdi>${name}</bdi>`,
    since: html`Listed ${timeAgo(listedAt, now)}`,
    body: serverFacts(view, server),
    actions: html`${keyed('a', accept)} ${keyed('x', hideAction(view, 'servers', server))}
      <a href="${base}${publicPath(server)}">Public page<span class="for-readers"> of ${name}</span></a>`,
  };
}

function serverFacts({ base, now, owners }: View, server: WithId<Server>): Html {
  const { address, port, game, ownerId, proof, current, probe, profile } = server;
  const owner = ownerId && owners.get(ownerId.toHexString());
  const { shortText } = profile ?? {};
  return html`${shortText ? html`<blockquote class="quote" dir="auto">${shortText}</blockquote>` : ''} ${evidence(
    [
      ['Server', serverLink(base, server)],
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
    ],
  )}`;
}
