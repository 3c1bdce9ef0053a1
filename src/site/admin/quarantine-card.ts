import type { Attention, HeldVotes } from '../../moderation/needs-attention.ts';
import type { QuarantineCause } from '../../votes/exclusions/vote-exclusion.ts';
import { queryText } from '../shared/form.ts';
import { count, timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { button, card, confirmed, dataTable } from '../shared/parts.ts';
import { adminPath } from './admin-frame.ts';
import { minuteOf } from './utc-fields.ts';

type View = { base: string; now: Date };

/** The cause that the held votes of a group share. */
const CAUSES: Record<QuarantineCause, string> = {
  network: 'One network',
  neighbourhood: 'One IPv4 /16 or IPv6 /32',
  'mail-domain': 'Accounts of one mail domain',
  'new-players': 'New players of one server',
};

/** Held votes, grouped by what made them suspicious. One button decides about a whole group. */
export function quarantineCard(view: View, { rows, more }: Attention['quarantines']): Html | null {
  if (rows.length === 0) return null;
  const { base, now } = view;
  return card({
    title: 'Quarantined votes',
    body: html`<p class="soft">
        Votes of the vote form that look unusual, grouped by the cause. They do not count and are not delivered until
        you decide. You can undo an exclusion. A network is known by a keyed
        hash only: a block of it ends after 30 days.
      </p>
      ${dataTable<HeldVotes>({
        caption: 'Quarantined votes',
        rows,
        empty: '',
        columns: [
          { title: 'Cause', heads: true, cell: ({ servers }) => causeOf(servers[0]) },
          { title: 'Servers', cell: ({ servers }) => servers.map((one) => serverLink(base, one)) },
          {
            title: 'Since',
            cell: ({ servers: [first] }) => (first ? timeAgo(first.quarantine.at, now) : ''),
          },
          { title: 'Votes', kind: 'number', cell: ({ servers }) => count(sumOf(servers, 'votes')) },
          { title: 'Players', kind: 'number', cell: ({ servers }) => count(sumOf(servers, 'players')) },
          { title: 'Decide', cell: (group) => decide(base, group) },
        ],
      })}
      ${more ? html`<p class="soft">There are more. Only the oldest ones are shown.</p>` : ''}`,
  });
}

type OfServer = HeldVotes['servers'][number];

function sumOf(servers: OfServer[], field: 'votes' | 'players'): number {
  return servers.reduce((sum, one) => sum + one[field], 0);
}

function causeOf(first: OfServer | undefined): Content {
  if (!first) return '';
  const { cause, reason } = first.quarantine;
  return html`${cause ? html`<strong>${CAUSES[cause]}.</strong> ` : ''}${reason}`;
}

/** A link to a server of a group, with the number of networks that have voted for it since. */
function serverLink(base: string, { server, quarantine, votes, networks }: OfServer): Html {
  const search = { server: server._id.toHexString(), since: minuteOf(quarantine.since) };
  const path = adminPath(base, `/votes${queryText(search)}`);
  const held = html`<span class="soft">(${count(votes)} held, ${count(networks)} networks)</span>`;
  return html`<a href="${path}"><bdi>${server.name}</bdi></a> ${held} `;
}

function decide(base: string, { origin, servers }: HeldVotes): Content {
  const [first] = servers;
  if (!first) return '';
  const { _id, cause } = first.quarantine;
  const [path, of] =
    origin === null
      ? [`/votes/exclusions/${_id.toHexString()}`, `the votes of ${first.server.name}`]
      : [`/votes/quarantines/${origin}`, `the group ${origin}`];
  const to = (action: string) => adminPath(base, `${path}/${action}`);
  const isNetwork = cause === 'network' || cause === 'neighbourhood';
  return html`<div class="actions">
    ${button({
      to: to(origin === null ? 'undo' : 'lift'),
      text: servers.length > 1 ? 'Count and deliver all' : 'Count and deliver',
      of,
    })}
    ${button({ to: to('exclude'), text: servers.length > 1 ? 'Exclude all' : 'Exclude', kind: 'danger', of })}
    ${
      origin !== null && isNetwork
        ? confirmed({
            text: 'Block this network…',
            of,
            consequence:
              'The pages refuse its votes for 30 days, or until you lift the block. Votes that are held stay held.',
            form: button({ to: to('block'), text: 'Block for 30 days', kind: 'danger', of }),
          })
        : ''
    }
  </div>`;
}
