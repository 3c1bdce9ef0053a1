import type { WithId } from 'mongodb';
import {
  type HeldOnServer,
  type HeldVotes,
  heldVotes,
  RECENT_NAME_DAYS,
} from '../../../moderation/held-evidence.ts';
import { MINUTE } from '../../../platform/clock.ts';
import { type Block, isEffective } from '../../../votes/blocks/block-list.ts';
import { ORIGIN_BLOCKED_DAYS } from '../../../votes/blocks/change-blocks.ts';
import { COUNTED_OPEN, type HeldDecision, MOST_DECIDED } from '../../../votes/exclusions/decide-held.ts';
import { MOST_HELD_READ } from '../../../votes/exclusions/held-votes.ts';
import type { QuarantineCause } from '../../../votes/exclusions/vote-exclusion.ts';
import { emptyLine } from '../../shared/empty-card.ts';
import { queryText } from '../../shared/form.ts';
import { count, counted, localTime, time, timeAgo } from '../../shared/format.ts';
import { type Content, type Html, html } from '../../shared/html.ts';
import { button, confirmed, dataTable } from '../../shared/parts.ts';
import { utcFieldValue } from '../admin-fields.ts';
import { adminPath } from '../admin-frame.ts';
import { heldForms, heldResult, openCount } from './held-decisions.ts';
import { type Inbox, inboxPath, joinedIds, type TabOf } from './inbox.ts';
import { inboxItem, keyed, keysHint, listPage, manyButton, manyForm } from './inbox-parts.ts';

const CAUSES: Record<QuarantineCause, string> = {
  network: 'One network',
  neighbourhood: 'One IPv4 /16 or IPv6 /32',
  'mail-domain': 'Accounts of one mail domain',
  'new-players': 'New players of one server',
};

const NAMES_SHOWN = 8;

/** One button decides about a group on all servers, at most the newest `MOST_DECIDED`; the others stay in the list. */
export function heldTab(inbox: Inbox): TabOf {
  const { deps, base } = inbox;
  heldForms(inbox);
  return async (_request, query) => {
    const now = deps.clock.now();
    const { from } = query;
    const { rows, next } = await heldVotes(deps, { from });
    const blocks = await blocksOf(inbox, rows);
    const view = { base, now, blocks };
    const path = inboxPath(base, 'held');
    const asOf = html`<p class="soft small">As of ${localTime(now)}. <a href="${path}">Refresh</a></p>`;
    const body = html`${await heldResult(inbox, query)}
      ${
        rows.length === 0
          ? emptyLine(from || next ? 'No item begins on this page.' : 'No votes are held.')
          : html`<p class="soft">
                Votes of the vote form that look unusual. They do not count and are not delivered until you decide. A
                decision covers the votes of an item on all its servers; votes that come later stay held.
              </p>
              ${keysHint({ a: 'count and deliver', x: 'exclude' })} ${asOf}
              ${rows.map((group) => groupItem(view, group))}
              ${manyForm({
                to: adminPath(base, '/attention/held'),
                hidden: { seen: now.toISOString() },
                buttons: html`${manyButton({ value: 'lift', text: 'Count and deliver selected', key: 'a' })}
                  ${manyButton({ value: 'exclude', text: 'Exclude selected', key: 'x' })}`,
              })}`
      }`;
    return listPage(base, 'held', body, { from, next, count: rows.length });
  };
}

type Blocks = Map<string, WithId<Block>>;
type View = { base: string; now: Date; blocks: Blocks };

async function blocksOf({ deps }: Inbox, groups: HeldVotes[]): Promise<Blocks> {
  const origins = groups.flatMap(({ origin }) => origin ?? []);
  if (origins.length === 0) return new Map();
  const found = await deps.blocks.find({ kind: 'origin', value: { $in: origins }, isActive: true }).toArray();
  const now = deps.clock.now();
  return new Map(found.filter((one) => isEffective(one, now)).map((one) => [one.value, one]));
}

function groupItem(view: View, group: HeldVotes): Html {
  const { quarantines, ids, servers } = group;
  const on = servers >= COUNTED_OPEN ? `${openCount(servers)} servers` : counted(servers, 'server');
  const [first] = quarantines;
  if (!first) return html``;
  const { cause, reason, at } = first.quarantine;
  const title = `${cause ? CAUSES[cause] : 'Unusual votes'}: ${votesText(group)} for ${on}`;
  const newest = quarantines.flatMap(({ names }) => names[0]?.newest ?? []).toSorted((a, b) => +b - +a)[0];
  return inboxItem({
    id: ids[0]?.toHexString() ?? '',
    select: { value: joinedIds(ids), of: title },
    title,
    at: heldAt(at, newest, view.now),
    body: html`<p>${reason}</p>
      ${partLine(group)} ${evidenceTable(view, title, quarantines)} ${namesLine(quarantines)}`,
    actions: actionsOf(view, group, title),
  });
}

function partLine({ quarantines, servers }: HeldVotes): Content {
  const all = openCount(servers);
  const shown =
    quarantines.length < servers
      ? `The table and the names are those of the newest ${count(quarantines.length)} of ${all} servers.`
      : '';
  const covered =
    servers > MOST_DECIDED
      ? `One press decides about the newest ${count(MOST_DECIDED)} of ${all}; then the others are listed.`
      : '';
  const text = [shown, covered].filter(Boolean).join(' ');
  return text && html`<p class="soft">${text}</p>`;
}

/** When the newest quarantine began; and the newest vote, if that was over a minute later. */
function heldAt(begun: Date, newestVote: Date | undefined, now: Date): Content {
  if (!newestVote || newestVote.getTime() - begun.getTime() < MINUTE) return timeAgo(begun, now);
  return html`since ${timeAgo(begun, now)}, newest ${timeAgo(newestVote, now)}`;
}

function votesText({ quarantines, servers }: HeldVotes): string {
  const votes = quarantines.reduce((sum, one) => sum + one.votes, 0);
  const isMore = quarantines.length < servers || quarantines.some((one) => one.votes >= MOST_HELD_READ);
  return isMore ? `${count(votes)} or more votes` : counted(votes, 'vote');
}

function evidenceTable({ base }: View, title: string, rows: HeldOnServer[]): Html {
  return dataTable<HeldOnServer>({
    caption: `Evidence: ${title}`,
    rows,
    empty: '',
    columns: [
      { title: 'Server', heads: true, cell: (one) => serverLink(base, one) },
      { title: 'Held votes', kind: 'number', cell: ({ votes }) => count(votes) },
      { title: 'Names', kind: 'number', cell: ({ names }) => count(names.length) },
      { title: 'Names are known', cell: ages },
      { title: 'Networks of these names', cell: networks },
      {
        title: 'Players seen',
        kind: 'number',
        cell: ({ playersSeen }) => (playersSeen === null ? 'unknown' : `up to ${count(playersSeen)}`),
      },
    ],
  });
}

function serverLink(base: string, { server, quarantine }: HeldOnServer): Html {
  const search = { server: server._id.toHexString(), since: utcFieldValue(quarantine.since) };
  return html`<a href="${adminPath(base, `/votes${queryText(search)}`)}"><bdi>${server.name}</bdi></a>`;
}

function ages({ ages: { of, firstTime, recent, older }, names }: HeldOnServer): Content {
  const parts = [
    firstTime > 0 ? `${count(firstTime)} not yet` : '',
    recent > 0 ? `${count(recent)} under ${RECENT_NAME_DAYS} days` : '',
    older > 0 ? `${count(older)} for longer` : '',
  ];
  const some = of < names.length ? html` <span class="soft">(the newest ${count(of)})</span>` : '';
  return html`${parts.filter(Boolean).join(', ')}${some}`;
}

function networks({ networks: { all, ofPlayers } }: HeldOnServer): Content {
  if (all === 0) return 'unknown';
  return html`${count(ofPlayers)} <span class="soft">of ${count(all)} that voted since</span>`;
}

function namesLine(quarantines: HeldOnServer[]): Html {
  const names = quarantines.flatMap((one) => one.names).toSorted((a, b) => +b.newest - +a.newest);
  const all = [...new Map(names.map(({ usernameKey, username }) => [usernameKey, username])).values()];
  const shown = all.slice(0, NAMES_SHOWN).map((name, i) => html`${i > 0 ? ', ' : ''}<bdi>${name}</bdi>`);
  const more = all.length - shown.length;
  return html`<p><span class="soft">Names:</span> ${shown}${more > 0 ? ` and ${count(more)} more` : ''}</p>`;
}

function actionsOf({ base, now, blocks }: View, group: HeldVotes, of: string) {
  const { origin, quarantines, ids, servers } = group;
  const part = ` ${count(MOST_DECIDED)} of ${openCount(servers)}`;
  const all = servers > MOST_DECIDED ? part : servers > 1 ? ' all' : '';
  const decide = (decision: HeldDecision, text: string, kind: 'primary' | 'quiet') =>
    button({
      to: adminPath(base, '/attention/held'),
      text: `${text}${all}`,
      hidden: { decision, seen: now.toISOString(), item: joinedIds(ids) },
      kind,
      of,
    });
  return html`${keyed('a', decide('lift', 'Count and deliver', 'primary'))}
    ${keyed('x', decide('exclude', 'Exclude', 'quiet'))}
    ${blockAction({ base, blocks }, origin, quarantines[0], of)}`;
}

function blockAction(
  { base, blocks }: Pick<View, 'base' | 'blocks'>,
  origin: string | null,
  first: HeldOnServer | undefined,
  of: string,
): Content {
  const cause = first?.quarantine.cause;
  if (origin === null || (cause !== 'network' && cause !== 'neighbourhood')) return '';
  const block = blocks.get(origin);
  if (block)
    return html`<span class="soft">Blocked until ${block.endsAt ? time(block.endsAt) : 'lifted'}.</span>`;
  return confirmed({
    text: 'Block network…',
    of,
    consequence: `The pages refuse its votes for ${ORIGIN_BLOCKED_DAYS} days, or until you lift the block. A network is known by a keyed hash only. Votes that are held stay held.`,
    form: button({
      to: adminPath(base, '/attention/held/block'),
      text: `Block for ${ORIGIN_BLOCKED_DAYS} days`,
      hidden: { origin },
      kind: 'danger',
      of,
    }),
  });
}
