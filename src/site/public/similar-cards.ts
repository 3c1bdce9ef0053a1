import type { ListedRow } from '../../ranking/listed-rows.ts';
import { gameName } from '../shared/game-names.ts';
import { type Html, html } from '../shared/html.ts';
import { playersText } from '../shared/server-figures.ts';
import { miniServer } from '../shared/server-parts.ts';

export function similarCards(base: string, similar: ListedRow[]): Html {
  const card = (row: ListedRow) =>
    miniServer(base, row, [playersText({ ...row, playersSource: row.source }), gameName(row.game)]);
  return html`<ul class="minis">${similar.map(card)}</ul>`;
}
