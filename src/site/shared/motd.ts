import { plainText, type StyledText, styledLines } from '../../probing/minecraft-text.ts';
import { type Content, html } from './html.ts';

/** A server's MOTD on a dark background, with the colours of its § codes. Empty if there is no MOTD. */
export function motdPanel(motd: string): Content {
  if (plainText(motd) === '') return '';
  const lines = styledLines(motd).map(
    (line, index) => html`${index > 0 ? html`<br />` : ''}${line.map(piece)}`,
  );
  return html`<p class="motd" dir="auto">${lines}</p>`;
}

/** A piece of text. Its colour is a class of site.css, because the content security policy forbids inline styles. */
function piece({ text, colour, formats }: StyledText): Content {
  const classes = [colour, ...formats].filter(Boolean).map((name) => `mc-${name}`);
  return classes.length > 0 ? html`<span class="${classes.join(' ')}">${text}</span>` : text;
}
