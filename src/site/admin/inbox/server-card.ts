import { type AttentionRows, COUNTED } from '../../../moderation/needs-attention.ts';
import { count } from '../../shared/format.ts';
import { type Content, type Html, html } from '../../shared/html.ts';
import { type Column, card, dataTable } from '../../shared/parts.ts';

export const upTo = (value: number) => (value >= COUNTED ? `${count(COUNTED)} or more` : count(value));

/** A card with a table of servers; null if it has no rows. The keys `j` and `k` move the focus through the rows. */
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
