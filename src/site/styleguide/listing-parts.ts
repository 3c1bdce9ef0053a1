import { face } from '../shared/generated-pictures.ts';
import { html } from '../shared/html.ts';
import { copyAddress, miniServer, playersBar, rankMark, voteLink } from '../shared/server-parts.ts';
import { bannerLink, serverIcon } from '../shared/server-pictures.ts';
import type { StyleguidePart } from './styleguide-part.ts';

/** Sample names: two words, letters that are not ASCII, another script, a very long name. */
const NAMES = [
  'Harbour Lights',
  'Kızıl Kale',
  'さくら村',
  'Fußballweltmeisterschaftsstadion der Nordseeküste',
];
const SERVERS = NAMES.map((name, at) => ({ name, slug: `sample-${at + 1}`, game: 'minecraft' }));

/** The parts of the public pages. */
export function listingParts(base: string): StyleguidePart[] {
  const [server = { name: '', slug: '' }] = SERVERS;
  return [
    {
      name: 'Copy and vote',
      body: html`<div class="actions">${copyAddress('play.example.org', server.name)}${voteLink(base, server)}</div>`,
    },
    { name: 'Ranks', body: html`<div class="actions">${[1, 2, 3, 4].map(rankMark)}</div>` },
    {
      name: 'Players',
      body: html`<div class="players"><p><b>143</b> of 2,000</p>${playersBar(143, 2_000)}</div>`,
    },
    {
      name: 'Pictures made from names',
      body: html`<div class="actions">${SERVERS.map((one) => serverIcon(base, one, 64))}${NAMES.map((name) =>
        face(name, 32),
      )}</div>${SERVERS.map((one) => bannerLink(base, one))}`,
    },
    {
      name: 'Small cards',
      body: html`<ul class="minis">${SERVERS.map((one) => miniServer(base, one, ['Minecraft', '12 playing']))}</ul>`,
    },
  ];
}
