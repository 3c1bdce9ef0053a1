import { type AttentionRows, COUNTED } from '../../../moderation/needs-attention.ts';
import { QUEUE_NAMES, QUEUES, type QueueName } from '../../../platform/queues.ts';
import type { WaitingWork } from '../../../process/waiting-work.ts';
import { count } from '../../shared/format.ts';
import { type Content, type Html, html } from '../../shared/html.ts';
import { type Column, card, cursorPager, dataTable, facts, notice, type Tone } from '../../shared/parts.ts';
import { hiddenFields } from '../admin-fields.ts';
import { adminPath } from '../admin-frame.ts';
import type { InboxTab, TabPage } from './inbox.ts';

const MANY = 'decide-many';

/** `a` accepts an item, `x` refuses it. */
export type Key = 'a' | 'x';

/** scripts/inbox.js clicks the button when the operator presses `key`. */
export function keyed(key: Key, control: Content): Html {
  return html`<div data-press="${key}">${control}</div>`;
}

export function inboxItem(item: {
  id: string;
  /** The value of the check box, which `manyForm` sends, and its name for screen readers. */
  select?: { value: string; of: string };
  title: Content;
  badges?: Content;
  at: Content;
  body: Content;
  actions: Content;
}): Html {
  const { id, select, title, badges, at, body, actions } = item;
  const box = select
    ? html`<span class="pick"><input id="pick-${id}"
        type="checkbox" name="item" value="${select.value}" form="${MANY}" />
        <label class="for-readers" for="pick-${id}">Select ${select.of}</label></span>`
    : '';
  return html`<article class="card item" data-item>
    <header class="card-head">
      <div class="item-title">${box}<h2>${title}</h2></div>
      <div class="actions">${badges ?? ''}<span class="soft small">${at}</span></div>
    </header>
    ${body}
    <div class="actions">${actions}</div>
  </article>`;
}

export function manyForm(form: { to: string; hidden?: Record<string, string>; buttons: Content }): Html {
  const { to, hidden = {}, buttons } = form;
  // Enter in a check box clicks the first button of its form: that one is disabled.
  return html`<form method="post" action="${to}" id="${MANY}" class="card many">
    <button type="submit" hidden disabled></button>
    ${hiddenFields(hidden)}
    <div class="actions">
      <button class="quiet" type="button" hidden data-pick-all>Select all</button>
      <span class="soft" data-picked data-none="Nothing is selected." data-some="{n} selected."></span>
      ${buttons}
    </div>
  </form>`;
}

export function manyButton({ value, text, key }: { value: string; text: string; key: Key }): Html {
  return html`<div data-press-many="${key}">
    <button type="submit" name="decision" value="${value}" class="quiet">${text}</button>
  </div>`;
}

/** scripts/inbox.js shows the line, and remembers whether the keys are on. */
export function keysHint(texts: { a?: string; x?: string }): Html {
  const key = (name: string, text: string | undefined) =>
    text ? html`<span><kbd>${name}</kbd> ${text}</span>` : '';
  return html`<p class="keys soft small" hidden data-keys>
    ${key('j', 'next')} ${key('k', 'previous')} ${texts.a || texts.x ? key('Space', 'select') : ''}
    ${key('a', texts.a)} ${key('x', texts.x)}
    <label><input type="checkbox" checked data-keys-on /> Use keys</label>
  </p>`;
}

/** After a key press, `text` is also read out. */
export function resultNotice(tone: Tone, text: Content, actions: Content = ''): Html {
  return notice(tone, html`<div class="actions"><span data-result>${text}</span>${actions}</div>`);
}

export function listPage(
  base: string,
  tab: InboxTab,
  body: Content,
  { from, next, count }: { from: string | undefined; next: string | null; count: number },
): TabPage {
  const pages = cursorPager(adminPath(base), { from, next }, { tab });
  return { body: html`${body} ${pages}`, ...(from || next ? {} : { shown: count }) };
}

export const upTo = (value: number) => (value >= COUNTED ? `${count(COUNTED)} or more` : count(value));

/** null without rows. The keys `j` and `k` move the focus through the rows. */
export function serverCard<T extends { server: { name: string } }>(part: {
  title: string;
  about: Content;
  kind: AttentionRows<T>;
  link: (row: T) => string;
  columns: Column<T>[];
}): Html | null {
  const { title, about, kind, link, columns } = part;
  if (kind.rows.length === 0) return null;
  const server: Column<T> = {
    title: 'Server',
    heads: true,
    cell: (row) => html`<a href="${link(row)}"><bdi>${row.server.name}</bdi></a>`,
  };
  return card({
    title,
    body: html`<p class="soft">${about}</p>
      <div data-rows>${dataTable({ caption: title, rows: kind.rows, columns: [server, ...columns], empty: '' })}</div>
      ${kind.more ? html`<p class="soft">More servers are affected. Only the first ones are shown.</p>` : ''}`,
  });
}

export function undeliveredCard(work: WaitingWork): Html {
  return card({ title: 'Undelivered votes', body: openVotes(work) });
}

function openVotes({ openVotes: { active, unreachable, paused } }: WaitingWork): Html {
  if (active === undefined) return html`<p class="soft">Not available at the moment.</p>`;
  return facts([
    ['For active listeners', count(active)],
    ['For unreachable listeners', count(unreachable ?? 0)],
    ['For paused listeners', count(paused ?? 0)],
  ]);
}

export function queuesCard(base: string, work: WaitingWork): Html {
  return card({
    title: 'Queues',
    actions: html`<a class="button quiet" href="${adminPath(base, '/queues')}">Open queues</a>`,
    body: queueTable(work),
  });
}

function queueTable({ jobs }: WaitingWork): Html {
  if (jobs.length === 0) return html`<p class="soft">Not available at the moment.</p>`;
  const jobsIn = (queue: string, state: string) =>
    count(jobs.find((job) => job.queue === queue && job.state === state)?.count ?? 0);
  return dataTable<QueueName>({
    caption: 'Jobs in each queue, by state',
    columns: [
      { title: 'Queue', heads: true, cell: (name) => QUEUES[name].title },
      ...['Active', 'Waiting', 'Delayed', 'Failed'].map((title) => ({
        title,
        kind: 'number' as const,
        cell: (name: QueueName) => jobsIn(name, title.toLowerCase()),
      })),
    ],
    rows: QUEUE_NAMES,
    empty: '',
  });
}
