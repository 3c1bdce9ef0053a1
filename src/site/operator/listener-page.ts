import { html } from 'hono/html';
import { z } from 'zod';
import { DAY, HOUR, MINUTE, SECOND } from '../../clock.ts';
import { COUNTED_AT_MOST } from '../../delivery/count-votes.ts';
import type { ListenerOverview, VotesFrom } from '../../delivery/listener-overview.ts';
import { DELIVERY_STATES, type DeliveryState } from '../../votes/vote.ts';
import { counting, layout, moment, type Page } from './pages.ts';

/** What stands behind the `?` of a listener's page; what cannot be read counts as absent. */
export const listenerPageQuery = z.object({
  state: z.enum(DELIVERY_STATES).optional().catch(undefined),
  /** `1764230400000.3`: after the three votes of that moment. */
  from: z
    .string()
    .regex(/^-?\d{1,15}\.\d{1,7}$/)
    .transform((text) => {
      const [at, seen] = text.split('.').map(Number);
      return { at: new Date(at ?? 0), seen: seen ?? 0 };
    })
    .optional()
    .catch(undefined),
});

/** How a listener fares and the newest of its votes. */
export function listenerPage(page: {
  deskPath: string;
  overview: ListenerOverview;
  listenerId: string;
  state: DeliveryState | undefined;
  now: Date;
}): Page {
  const { deskPath, overview, now } = page;
  const { server } = overview;
  return layout(
    deskPath,
    `Listener of ${server.name}`,
    html`<main class="desk">
      <header>
        <div>
          <p class="soft"><a href="${deskPath}">Operator desk</a> · <a href="${deskPath}/queues">Queues</a></p>
          <h1>Vote listener of ${server.name}</h1>
          <p class="soft">${server.slug}${server.removed ? ', removed from the listing' : ''} · ${server.id}</p>
        </div>
      </header>
      ${standing(overview, now)}
      <section class="card">
        <h2>Votes</h2>
        ${filters(page)} ${votesTable(overview)} ${nextPage(page)}
      </section>
    </main>`,
  );
}

/** There is no such listener. */
export function noListenerPage(deskPath: string): Page {
  return layout(
    deskPath,
    'No such listener',
    html`<main class="desk">
      <header><h1>No such listener</h1></header>
      <p>It was removed, or set anew under another id; its votes are kept.</p>
      <p><a href="${deskPath}">Operator desk</a> · <a href="${deskPath}/queues">Queues</a></p>
    </main>`,
  );
}

function standing({ listener, reason, waiting, oldestWaiting }: ListenerOverview, now: Date): Page {
  const { host, port, protocol, breaker, lastDeliveredAt, state } = listener;
  const row = (label: string, value: unknown) =>
    html`<tr>
      <th scope="row">${label}</th>
      <td>${value}</td>
    </tr>`;
  return html`<section class="card">
    <h2>${state === 'active' ? 'Active' : `${state === 'paused' ? 'Paused' : 'Unreachable'} since ${reason ? at(reason.since) : ''}`}</h2>
    ${
      reason
        ? html`<p class="warning">${reason.cause}${reason.words ? html` It said: «${reason.words}»` : ''}</p>
          <p>${reason.mend}</p>`
        : breaker.failures > 0
          ? html`<p>It failed ${times(breaker.failures)} in a row (${breaker.code?.replaceAll('-', ' ')}).</p>`
          : ''
    }
    <div class="figures">
      <table>
        <tbody>
          ${row('Protocol', protocol)} ${row('Address', host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)}
          ${row('Votes waiting', `${counting.format(waiting)}${waiting >= COUNTED_AT_MOST ? ' or more' : ''}`)}
          ${row('The oldest of them', oldestWaiting ? `${age(now.getTime() - oldestWaiting.getTime())} (${at(oldestWaiting)})` : 'none')}
          ${state === 'unreachable' && breaker.nextTestAt ? row('Next test', at(breaker.nextTestAt)) : ''}
          ${row('Last delivered', lastDeliveredAt ? at(lastDeliveredAt) : 'never')}
        </tbody>
      </table>
    </div>
  </section>`;
}

type Shown = { deskPath: string; listenerId: string; state: DeliveryState | undefined };

function address(
  { deskPath, listenerId }: Shown,
  query: { state?: DeliveryState | undefined; from?: VotesFrom },
): string {
  const { state, from } = query;
  const parameters = new URLSearchParams({
    ...(state ? { state } : {}),
    ...(from ? { from: `${from.at.getTime()}.${from.seen}` } : {}),
  });
  const text = parameters.toString();
  return `${deskPath}/listeners/${listenerId}${text ? `?${text}` : ''}`;
}

function filters(shown: Shown): Page {
  const link = (state: DeliveryState | undefined) =>
    state === shown.state
      ? html`<strong aria-current="page">${state ?? 'all'}</strong>`
      : html`<a href="${address(shown, { state })}">${state ?? 'all'}</a>`;
  return html`<nav class="filters" aria-label="Votes by state">${[undefined, ...DELIVERY_STATES].map(link)}</nav>`;
}

function votesTable({ votes }: ListenerOverview): Page {
  if (votes.length === 0) return html`<p class="soft">There are none.</p>`;
  return html`<div class="figures">
    <table>
      <thead>
        <tr>
          <th scope="col">Cast</th>
          <th scope="col">Player</th>
          <th scope="col">State</th>
          <th scope="col">Attempts</th>
          <th scope="col">Newest end</th>
          <th scope="col">Id</th>
        </tr>
      </thead>
      <tbody>
        ${votes.map(
          ({ id, username, votedAt, state, attempts, code }) =>
            html`<tr>
              <td>${at(votedAt)}</td>
              <td><bdi>${username}</bdi></td>
              <td>${state}</td>
              <td>${counting.format(attempts)}</td>
              <td>${code?.replaceAll('-', ' ') ?? ''}</td>
              <td><code>${id}</code></td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function nextPage({ overview: { next }, ...shown }: Shown & { overview: ListenerOverview }): Page | '' {
  if (!next) return '';
  return html`<a class="button" href="${address(shown, { state: shown.state, from: next })}">Older votes</a>`;
}

function at(date: Date): string {
  return `${moment.format(date)} UTC`;
}

function times(count: number): string {
  return count === 1 ? 'once' : `${counting.format(count)} times`;
}

const UNITS = [
  [DAY, 'day'],
  [HOUR, 'hour'],
  [MINUTE, 'minute'],
  [SECOND, 'second'],
] as const;

/** `2 hours old`, in the largest unit that fits. */
function age(ms: number): string {
  const [size, unit] = UNITS.find(([size]) => ms >= size) ?? [SECOND, 'second'];
  const count = Math.max(0, Math.floor(ms / size));
  return `${counting.format(count)} ${unit}${count === 1 ? '' : 's'} old`;
}
