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
import { MOST_DECIDED } from '../../../votes/exclusions/decide-held.ts';
import { MOST_HELD_READ } from '../../../votes/exclusions/held-votes.ts';
import type { QuarantineCause } from '../../../votes/exclusions/vote-exclusion.ts';
import { queryText } from '../../shared/form.ts';
import { count, counted, time, timeAgo } from '../../shared/format.ts';
import { type Content, type Html, html } from '../../shared/html.ts';
import { button, confirmed } from '../../shared/parts.ts';
import { hiddenFields, reasonedDecision, utcFieldValue } from '../admin-fields.ts';
import { adminPath } from '../admin-frame.ts';
import { heldForms, heldResult, openCount } from './held-decisions.ts';
import { type Inbox, type InboxItem, type InboxView, joinedIds, type KindOfItem } from './inbox.ts';
import { evidence, keyed, manyButton, manyForm } from './inbox-parts.ts';

const CAUSES: Record<QuarantineCause, string> = {
  network: 'One network',
  neighbourhood: 'One IPv4 /16 or IPv6 /32',
  'mail-domain': 'Accounts of one mail domain',
  'new-players': 'New players of one server',
};

const NAMES_SHOWN = 8;

/** One button decides about a group on all servers, at most the newest `MOST_DECIDED`; the others stay in the list. */
export function heldKind(inbox: Inbox): KindOfItem {
  const { deps, base } = inbox;
  heldForms(inbox);
  return {
    result: (query) => heldResult(inbox, query),
    read: async (list) => {
      const { from, limit } = list;
      const { rows, next } = await heldVotes(deps, { from, ...(limit ? { limit } : {}) });
      const view = { ...list, base, blocks: await blocksOf(inbox, rows) };
      return { items: rows.flatMap((group) => groupItem(view, group)), next, about: ABOUT };
    },
    empty: 'No votes are held.',
    many: ({ to, now }) =>
      manyForm({
        kind: 'held',
        to: to('/held'),
        hidden: { seen: now.toISOString() },
        buttons: html`${manyButton({ value: 'lift', text: 'Count and deliver', key: 'a' })}
          ${keyed('x', exclusion({ opens: 'Exclude…', of: 'held-many', isShared: true }))}`,
      }),
  };
}

const ABOUT = html`Votes of the vote form that look unusual. They do not count and are not delivered until you decide. A
  decision covers the votes of an item on all its servers; votes that come later stay held.`;

type Blocks = Map<string, WithId<Block>>;
type View = InboxView & { base: string; blocks: Blocks };

async function blocksOf({ deps }: Inbox, groups: HeldVotes[]): Promise<Blocks> {
  const origins = groups.flatMap(({ origin }) => origin ?? []);
  if (origins.length === 0) return new Map();
  const found = await deps.blocks.find({ kind: 'origin', value: { $in: origins }, isActive: true }).toArray();
  const now = deps.clock.now();
  return new Map(found.filter((one) => isEffective(one, now)).map((one) => [one.value, one]));
}

function groupItem(view: View, group: HeldVotes): InboxItem[] {
  const { quarantines, ids, servers } = group;
  const [first] = quarantines;
  if (!first) return [];
  const { cause, reason, at } = first.quarantine;
  const many = `${openCount(servers)} servers`;
  const where = servers > 1 ? many : html`<bdi>${first.server.name}</bdi>`;
  const of = `${votesText(group)} held for ${servers > 1 ? many : first.server.name}`;
  const newest = quarantines.flatMap(({ names }) => names[0]?.newest ?? []).toSorted((a, b) => +b - +a)[0];
  return [
    {
      kind: 'held',
      id: ids[0]?.toHexString() ?? '',
      at,
      select: { value: joinedIds(ids), of },
      what: html`${votesText(group)}, ${cause ? CAUSES[cause].toLowerCase() : 'unusual'}`,
      where,
      title: html`${votesText(group)} held for ${where}`,
      since: html`${cause ? CAUSES[cause] : 'Unusual votes'}, ${heldAt(at, newest, view.now)}`,
      body: html`<p>${reason}</p>${partLine(group)} ${evidenceOf(view, quarantines)}`,
      actions: actionsOf(view, group, of),
    },
  ];
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

function evidenceOf({ base }: View, quarantines: HeldOnServer[]): Html {
  const [first, ...others] = quarantines;
  if (first && others.length === 0)
    return evidence([
      ['Server', serverLink(base, first)],
      ...evidenceOn(first),
      ['Names', namesText(quarantines)],
    ]);
  const servers = quarantines.map((one): [Html, Content] => [
    serverLink(base, one),
    html`${counted(one.votes, 'vote')}. ${evidenceOn(one).map(([name, value]) => html`${name}: ${value}. `)}`,
  ]);
  return evidence([...servers, ['Names', namesText(quarantines)]]);
}

function evidenceOn(one: HeldOnServer): [string, Content][] {
  const { names, playersSeen } = one;
  return [
    [names.length === 1 ? '1 name' : `${count(names.length)} names`, ages(one)],
    ['Their networks', networks(one)],
    ['Players seen', playersSeen === null ? 'unknown' : `up to ${count(playersSeen)}`],
  ];
}

function serverLink(base: string, { server, quarantine }: HeldOnServer): Html {
  const search = { server: server._id.toHexString(), since: utcFieldValue(quarantine.since) };
  return html`<a href="${adminPath(base, `/votes${queryText(search)}`)}"><bdi>${server.name}</bdi></a>`;
}

function ages({ ages: { of, firstTime, recent, older }, names }: HeldOnServer): Content {
  const parts = [
    firstTime > 0 ? `${count(firstTime)} new` : '',
    recent > 0 ? `${count(recent)} known under ${RECENT_NAME_DAYS} days` : '',
    older > 0 ? `${count(older)} known for longer` : '',
  ];
  const some = of < names.length ? html` <span class="soft">(the newest ${count(of)})</span>` : '';
  return html`${parts.filter(Boolean).join(', ')}${some}`;
}

function networks({ networks: { all, ofPlayers } }: HeldOnServer): Content {
  if (all === 0) return 'unknown';
  return html`${count(ofPlayers)} <span class="soft">of ${count(all)} that voted since</span>`;
}

function namesText(quarantines: HeldOnServer[]): Html {
  const names = quarantines.flatMap((one) => one.names).toSorted((a, b) => +b.newest - +a.newest);
  const all = [...new Map(names.map(({ usernameKey, username }) => [usernameKey, username])).values()];
  const shown = all.slice(0, NAMES_SHOWN).map((name, i) => html`${i > 0 ? ', ' : ''}<bdi>${name}</bdi>`);
  const more = all.length - shown.length;
  return html`${shown}${more > 0 ? ` and ${count(more)} more` : ''}`;
}

function actionsOf(view: View, group: HeldVotes, of: string) {
  const { now, to } = view;
  const { quarantines, ids, servers } = group;
  const part = ` ${count(MOST_DECIDED)} of ${openCount(servers)}`;
  const all = servers > MOST_DECIDED ? part : servers > 1 ? ' all' : '';
  const hidden = { seen: now.toISOString(), item: joinedIds(ids) };
  const lift = button({
    to: to('/held'),
    text: `Count and deliver${all}`,
    hidden: { decision: 'lift', ...hidden },
    kind: 'primary',
    of,
  });
  const opens = html`Exclude${all}…<span class="for-readers"> ${of}</span>`;
  const reason = quarantines[0]?.quarantine.reason;
  const exclude = exclusion({ opens, of: ids[0]?.toHexString() ?? '', ...(reason ? { reason } : {}) });
  return html`${keyed('a', lift)}
    ${keyed('x', html`<form method="post" action="${to('/held')}">${hiddenFields(hidden)}${exclude}</form>`)}
    ${blockAction(view, group.origin, quarantines[0], of)}`;
}

type Opening = Pick<Parameters<typeof reasonedDecision>[0], 'opens' | 'of' | 'isShared' | 'reason'>;

const exclusion = (opening: Opening) =>
  reasonedDecision({ ...opening, button: 'Exclude', value: 'exclude', reader: 'the servers’ owners' });

function blockAction(
  { to, blocks }: View,
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
      to: to('/held/block'),
      text: `Block for ${ORIGIN_BLOCKED_DAYS} days`,
      hidden: { origin },
      kind: 'danger',
      of,
    }),
  });
}
