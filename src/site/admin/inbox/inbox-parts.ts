import { COUNTED, COUNTED_UP_TO } from '../../../moderation/needs-attention.ts';
import { QUEUE_NAMES, QUEUES, type QueueName } from '../../../platform/queues.ts';
import type { Services, WaitingWork } from '../../../process/waiting-work.ts';
import { count, localTime, shortAge } from '../../shared/format.ts';
import { type Content, type Html, html } from '../../shared/html.ts';
import { icon } from '../../shared/icon.ts';
import { card, dataTable, facts, notice, type Tone } from '../../shared/parts.ts';
import { hiddenFields } from '../admin-fields.ts';
import { adminPath } from '../admin-frame.ts';
import {
  INBOX_KIND_NAMES,
  INBOX_KINDS,
  type InboxCounts,
  type InboxItem,
  inboxPath,
  type KindName,
} from './inbox.ts';

/** `a` is the first button of an item, `x` the second. */
export type Key = 'a' | 'x';

/** scripts/inbox.js clicks the button or link when the operator presses `key`. */
export function keyed(key: Key, control: Content): Html {
  return html`<div data-press="${key}">${control}</div>`;
}

const manyId = (kind: KindName) => `many-${kind}`;

/** Each line has an address, and its pane is shown beside it: without a script too, as the target of the address. */
export function inboxList(items: InboxItem[], now: Date): Html {
  return html`<ol class="desk" aria-label="To decide">${items.map((item) => listItem(item, now))}</ol>`;
}

function listItem(item: InboxItem, now: Date): Html {
  const { kind, select, what, where, title, since, body, actions } = item;
  const { one, icon: sign } = INBOX_KINDS[kind];
  const id = `${kind}-${item.id}`;
  const box = select
    ? html`<label class="pick"><input type="checkbox" name="item" value="${select.value}" form="${manyId(kind)}" />
        <span class="for-readers">Select ${select.of}</span></label>`
    : html`<span></span>`;
  return html`<li id="${id}" data-item>
    <div class="line">${box}<a class="it" href="#${id}">${icon(sign)}<span class="what"><span
      class="for-readers">${one}: </span><b>${what}</b></span><span class="where">${where}</span>${
        item.at ? shortAge(item.at, now) : ''
      }</a></div>
    <article class="leaf"><div class="leaf-in">
      <header><h2>${title}</h2><p class="soft small">${since}</p></header>
      ${body}
      ${actions ? html`<div class="actions">${actions}</div>` : ''}
    </div></article>
  </li>`;
}

/** The evidence of an item: entries without a value are left out. */
export function evidence(entries: Parameters<typeof facts>[0]): Html {
  return html`<div><h3>Evidence</h3>${facts(entries)}</div>`;
}

/** Visible while items of the kind are selected. */
export function manyForm(form: {
  kind: KindName;
  to: string;
  hidden?: Record<string, string>;
  buttons: Content;
}): Html {
  const { kind, to, hidden = {}, buttons } = form;
  const items = INBOX_KINDS[kind].title.toLowerCase();
  // Enter in a check box clicks the first button of its form: that one is disabled.
  return html`<form method="post" action="${to}" id="${manyId(kind)}" class="bulk" aria-label="Selected ${items}">
    <button type="submit" hidden disabled></button>
    ${hiddenFields(hidden)}
    <output data-picked="{n} selected">Selected ${items}</output>
    <div class="actions">${buttons}
      <button class="quiet" type="button" hidden data-pick-all>Select all</button>
      <button class="quiet" type="reset">Clear</button></div>
  </form>`;
}

export function manyButton({ value, text, key }: { value: string; text: string; key: Key }): Html {
  const kind = key === 'a' ? 'primary' : 'quiet';
  return html`<div data-press="${key}">
    <button type="submit" name="decision" value="${value}" class="${kind}">${text}</button>
  </div>`;
}

/** scripts/inbox.js shows the keys, and remembers whether they are on. */
export function listFoot(address: string, now: Date): Html {
  const key = (name: string, text: string) => html`<span><kbd>${name}</kbd> ${text}</span>`;
  return html`<div class="desk-foot soft small">
    <p class="keys" hidden data-keys>${key('j', 'next')} ${key('k', 'previous')} ${key('Space', 'select')}
      ${key('a', 'the first button')} ${key('x', 'the second')}
      <label><input type="checkbox" checked data-keys-on /> Use keys</label></p>
    <p>As of ${localTime(now)}. <a href="${address}">Refresh</a></p>
  </div>`;
}

/** After a key press, `text` is also read out. */
export function resultNotice(tone: Tone, text: Content, actions: Content = ''): Html {
  return notice(tone, html`<div class="actions"><span data-result>${text}</span>${actions}</div>`);
}

export function kindLinks(base: string, counts: InboxCounts, current: KindName | undefined): Html {
  const link = (kind: KindName | undefined, title: string, number: string) => {
    const here = kind === current ? html`aria-current="page"` : '';
    const emptiness = number === '0' ? 'none' : '';
    return html`<a href="${inboxPath(base, kind)}" class="${emptiness}" ${here}>${title}
      <span class="count">${number}</span></a>`;
  };
  return html`<nav class="kinds" aria-label="Kinds">${link(undefined, 'All', sumText(counts))}
    ${INBOX_KIND_NAMES.map((kind) => link(kind, INBOX_KINDS[kind].title, numberText(counts[kind])))}</nav>`;
}

function numberText(value: number | undefined): string {
  if (value === undefined) return '?';
  return value >= COUNTED_UP_TO ? `${COUNTED_UP_TO - 1}+` : count(value);
}

function sumText(counts: InboxCounts): string {
  const isMore = Object.values(counts).some((value) => value === undefined || value >= COUNTED_UP_TO);
  return `${count(sumOf(counts))}${isMore ? '+' : ''}`;
}

export function sumOf(counts: InboxCounts): number {
  return Object.values(counts).reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

export const upTo = (value: number) => (value >= COUNTED ? `${count(COUNTED)} or more` : count(value));

export function undeliveredCard(open: WaitingWork['openVotes']): Html {
  return card({ title: 'Undelivered votes', body: openVotes(open) });
}

function openVotes({ active, unreachable, paused }: WaitingWork['openVotes']): Html {
  if (active === undefined) return html`<p class="soft">Not available at the moment.</p>`;
  return facts([
    ['For active listeners', count(active)],
    ['For unreachable listeners', count(unreachable ?? 0)],
    ['For paused listeners', count(paused ?? 0)],
  ]);
}

export function queuesCard(base: string, work: Services): Html {
  return card({
    title: 'Queues',
    actions: html`<a class="button quiet" href="${adminPath(base, '/queues')}">Open queues</a>`,
    body: queueTable(work),
  });
}

function queueTable({ jobs }: Services): Html {
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
