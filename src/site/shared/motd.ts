import { containedText } from '../../platform/contained-text.ts';
import { plainText, type StyledText, styledLines } from '../../probing/minecraft-text.ts';
import { type Content, html } from './html.ts';

export function motdPanel(motd: string): Content {
  if (plainText(motd) === '') return '';
  const lines = styledLines(motd).map(
    (line, index) => html`${index > 0 ? html`<br />` : ''}${line.map(piece)}`,
  );
  return html`<p class="motd" dir="auto">${lines}</p>`;
}

/** The content security policy forbids inline styles, so a colour is a class. */
function piece({ text, colour, formats }: StyledText): Content {
  const shown = containedText(text);
  const classes = [colour, ...formats].filter(Boolean).map((name) => `mc-${name}`);
  return classes.length > 0 ? html`<span class="${classes.join(' ')}">${shown}</span>` : shown;
}
