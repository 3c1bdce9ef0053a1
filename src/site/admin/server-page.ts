import { html } from 'hono/html';
import type { WithId } from 'mongodb';
import type { User } from '../../accounts/user.ts';
import { listenerReason } from '../../delivery/diagnosis/explanations.ts';
import { playersSource } from '../../history/current-status.ts';
import { type Listener, type ListenerState, lastDelivery, listenerState } from '../../listeners/listener.ts';
import { COUNTED } from '../../moderation/needs-attention.ts';
import type { Platform } from '../../process/platform.ts';
import type { Server } from '../../servers/server.ts';
import { slugsOf } from '../../servers/server-slugs.ts';
import { OPEN_WORK } from '../../votes/vote.ts';
import { protocolName } from '../dashboard/listener-form.ts';
import { LISTENER_TONES } from '../dashboard/listener-state.ts';
import { gameName } from '../dashboard/server-fields.ts';
import { PARTS, serverPath } from '../dashboard/server-frame.ts';
import type { Typed } from '../form.ts';
import type { Content, Html } from '../html.ts';
import type { Page } from '../layout.ts';
import { badge, button, card, facts, notice, textArea, textField } from '../parts.ts';
import { publicPath } from '../server-paths.ts';
import { count, decimal, time, timeAgo } from '../words.ts';
import { adminFrame, adminPath, adminServerPath } from './admin-frame.ts';
import { stateBadges } from './server-badges.ts';

const SAYS = {
  hidden: 'It is hidden: it leaves the ranking within seconds.',
  shown: 'It is listed again and gets its place with the next ranking.',
  'premium-on': 'It is premium now.',
  'premium-off': 'It is not premium any more.',
  transferred: 'It has its new owner.',
  removed: 'It is removed for ever.',
};

type View = { base: string; server: WithId<Server>; now: Date; typed: Typed };

/** The admin area's page of one server, removed ones too: how it stands and what operators can do to it. */
export async function serverPage(
  platform: Platform,
  base: string,
  server: WithId<Server>,
  typed: Typed,
): Promise<Page> {
  const { _id: serverId, ownerId } = server;
  const open = { serverId, 'delivery.queuedAt': { $gt: new Date(0) } };
  const [owner, listener, waiting] = await Promise.all([
    ownerId ? platform.users.findOne({ _id: ownerId }) : null,
    platform.listeners.findOne({ serverId }),
    platform.votes.countDocuments(open, { hint: OPEN_WORK, limit: COUNTED }),
  ]);
  const now = platform.clock.now();
  const view = { base, server, now, typed };
  return {
    title: server.name,
    says: SAYS,
    body: adminFrame({
      base,
      part: '/servers',
      head: html`<div class="page-head">
        <div>
          <p class="small"><a href="${adminPath(base, '/servers')}">Servers</a></p>
          <h1><bdi>${server.name}</bdi></h1>
        </div>
        <span class="actions">${stateBadges(server, now)}</span>
      </div>`,
      body: html`${remarks(view)}
        <div class="columns">
          ${card({ title: 'Facts', body: serverFacts(view, owner) })}
          ${card({ title: 'Vote listener', body: listenerFacts(listener, waiting, now) })}
        </div>
        ${card({ title: 'Look closer', body: links(view) })}
        ${server.removedAt ? '' : card({ title: 'What you can do', body: actions(view) })}`,
    }),
  };
}

/** What an operator should know before anything else. */
function remarks({ server, now }: View): Content {
  const { hiddenAt, hiddenReason, playersDiffer, unusualVotes } = server;
  return [
    hiddenAt &&
      notice(
        'attention',
        html`Hidden ${timeAgo(hiddenAt, now)}: “<bdi>${hiddenReason}</bdi>” Its owner sees this.`,
      ),
    unusualVotes &&
      notice(
        'attention',
        `It took ${count(unusualVotes.votes)} votes in 24 hours; the most players in 7 days were ${count(unusualVotes.players)}, reports believed up to 50.`,
      ),
    playersDiffer &&
      notice(
        'attention',
        html`${timeAgo(playersDiffer.at, now)} it had reported ${count(playersDiffer.reported)} players and answered our probe with ${count(playersDiffer.probed)}.`,
      ),
  ].filter(Boolean) as Content;
}

function serverFacts({ base, server, now }: View, owner: User | null): Html {
  const { current, daily, ranked } = server;
  const reported = playersSource(server) === 'reports' ? ' reported' : '';
  // Listed today, it has no whole day yet, and zeros would be wrong of it.
  const inDays = daily.peakPlayers
    ? `; at most ${count(daily.peakPlayers)} and ${decimal(daily.averagePlayers)} on average in 7 days`
    : '';
  const earlier = slugsOf(server).filter((slug) => slug !== server.slug);
  return facts([
    ['Owner', ownerText(base, server, owner)],
    ['Address', html`<span class="mono">${server.address}:${server.port}</span>`],
    ['Game', gameName(server.game) || 'none: it is not probed'],
    ['Slug', html`<span class="mono">${server.slug}</span>`],
    ['Earlier slugs', earlier.length > 0 && html`<span class="mono">${earlier.join(', ')}</span>`],
    ['Id', html`<span class="mono">${server._id.toHexString()}</span>`],
    ['Listed', time(server.listedAt)],
    ['Removed', server.removedAt ? time(server.removedAt) : null],
    ['Rank', server.hiddenAt ? 'none while hidden' : count(server.rankPosition)],
    ['Votes in 30 days', ranked ? count(ranked.votesCount) : 'counted with the next ranking'],
    ['Players', `${count(current.onlinePlayers)} of ${count(current.maxPlayers)}${reported}${inDays}`],
    ['Last checked', current.checkedAt ? timeAgo(current.checkedAt, now) : 'never'],
  ]);
}

function ownerText(base: string, { ownerEmail }: Server, owner: User | null): Content {
  if (owner) {
    const users = adminPath(base, `/users?search=${encodeURIComponent(owner.email)}`);
    return html`<bdi>${owner.name}</bdi>, <a href="${users}">${owner.email}</a>${owner.suspendedAt ? html` ${badge('bad', 'suspended')}` : ''}`;
  }
  return ownerEmail ? `${ownerEmail}, who has not signed in yet` : 'nobody';
}

const LISTENER_WORDS: Record<ListenerState, string> = {
  active: 'takes votes',
  unverified: 'has not repeated the challenge yet',
  paused: 'paused',
  unreachable: 'unreachable',
};

function listenerFacts(listener: Listener | null, waiting: number, now: Date): Html {
  if (!listener) return html`<p class="soft">None is set: votes count and are not forwarded.</p>`;
  const state = listenerState(listener);
  const reason = listenerReason(listener);
  const { protocol, url, host, port } = listener;
  const last = lastDelivery(listener);
  const unsaid = last?.confirmed === false ? ', not confirmed' : '';
  return facts([
    ['State', badge(LISTENER_TONES[state], LISTENER_WORDS[state])],
    ['Since', reason && timeAgo(reason.since, now)],
    ['Why', reason?.cause],
    ['It said', reason?.words && html`“<bdi>${reason.words}</bdi>”`],
    ['Found', reason?.detail],
    ['What helps', reason?.mend],
    ['Protocol', protocolName(protocol)],
    ['Where', html`<span class="mono">${url ?? `${host}:${port}`}</span>`],
    ['Votes waiting', waiting >= COUNTED ? `${count(COUNTED)} or more` : count(waiting)],
    ['Last delivery', last ? html`${timeAgo(last.at, now)}${unsaid}` : 'none with these settings'],
  ]);
}

/** The admin area's lists of this server, and what its owner sees. */
function links({ base, server }: View): Html {
  const id = server._id.toHexString();
  const owners = server.removedAt
    ? []
    : PARTS.map(([part, text]) => ({ href: serverPath(base, server, part), text }));
  return html`<div class="actions">
      <a class="button quiet" href="${adminPath(base, `/votes?server=${id}`)}">Votes and exclusions</a>
      <a class="button quiet" href="${adminPath(base, `/audit?server=${id}`)}">Audit log</a>
      ${server.removedAt ? '' : html`<a class="button quiet" href="${base}${publicPath(server)}">Public page</a>`}
    </div>
    ${owners.length > 0 ? html`<p>What its owner sees:</p><ul class="plain links">${owners.map(({ href, text }) => html`<li><a href="${href}">${text}</a></li>`)}</ul>` : ''}`;
}

function actions(view: View): Html {
  return html`<div class="actions top">
    ${premium(view)} ${hiding(view)} ${transfer(view)} ${removal(view)}
  </div>`;
}

function premium({ base, server }: View): Html {
  return button({
    to: adminServerPath(base, server, '/premium'),
    hidden: { premium: server.isPremium ? 'off' : 'on' },
    text: server.isPremium ? 'End premium' : 'Make premium',
  });
}

/** A form that opens at a press, and by itself where it came back with a error. */
function formPart(part: {
  text: string;
  error: string | undefined;
  consequence: Content;
  to: string;
  field: Html;
  press: string;
  kind?: 'danger';
}): Html {
  const { text, error, consequence, to, field, press, kind } = part;
  return html`<details class="confirm" ${error ? 'open' : ''}>
    <summary class="button quiet">${text}</summary>
    <div class="confirm-body"><p>${consequence}</p><form method="post" action="${to}" class="stack">
      ${field}
      <button ${kind ? html`class="${kind}"` : ''} type="submit">${press}</button>
    </form></div>
  </details>`;
}

function hiding({ base, server, typed }: View): Html {
  if (server.hiddenAt) return button({ to: adminServerPath(base, server, '/unhide'), text: 'List it again' });
  return formPart({
    text: 'Hide…',
    error: typed.errors.reason,
    consequence:
      'It leaves the ranking and the public lists. Its API, votes and listener go on; its owner sees the reason.',
    to: adminServerPath(base, server, '/hide'),
    field: textArea({
      name: 'reason',
      label: 'Why',
      rows: 2,
      maxlength: 500,
      required: true,
      value: typed.values.reason ?? '',
      error: typed.errors.reason,
    }),
    press: 'Hide it',
  });
}

function transfer({ base, server, typed }: View): Html {
  return formPart({
    text: 'Give to somebody else…',
    error: typed.errors.email,
    consequence:
      'The new owner sees and changes everything of it, the old one nothing any more. API tokens go on working: the new owner should rotate them.',
    to: adminServerPath(base, server, '/transfer'),
    field: textField({
      name: 'email',
      label: 'E-mail address of the new owner',
      type: 'email',
      required: true,
      maxlength: 254,
      value: typed.values.email ?? '',
      error: typed.errors.email,
    }),
    press: 'Give it',
  });
}

function removal({ base, server, typed }: View): Html {
  return formPart({
    text: 'Remove…',
    error: typed.errors.slug,
    consequence:
      'This cannot be undone. Its tokens are refused, its waiting votes fail, its id and slug are never used again.',
    to: adminServerPath(base, server, '/remove'),
    field: textField({
      name: 'slug',
      label: `Type ${server.slug} to confirm`,
      required: true,
      spellcheck: false,
      autocomplete: 'off',
      value: typed.values.slug ?? '',
      error: typed.errors.slug,
    }),
    press: 'Remove it for ever',
    kind: 'danger',
  });
}
