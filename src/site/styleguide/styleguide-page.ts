import type { FastifyInstance } from 'fastify';
import type { Config } from '../../platform/config.ts';
import { isLoopback } from '../../platform/config-values.ts';
import { ICON_SHAPES } from '../look/icon-shapes.ts';
import { ANYONE } from '../route-options.ts';
import { barChart } from '../shared/chart.ts';
import { emptyCard } from '../shared/empty-card.ts';
import { face } from '../shared/generated-pictures.ts';
import { type Content, html } from '../shared/html.ts';
import { type IconName, icon } from '../shared/icon.ts';
import { sendPage } from '../shared/layout.ts';
import {
  badge,
  button,
  card,
  checkbox,
  confirmed,
  copyable,
  dataTable,
  facts,
  figure,
  notice,
  select,
  tabs,
  textArea,
  textField,
} from '../shared/parts.ts';
import { radios } from '../shared/radios.ts';
import { copyAddress, miniServer, playersBar, rankMark, voteLink } from '../shared/server-parts.ts';
import { bannerLink, serverIcon } from '../shared/server-pictures.ts';

const SCHEMES = ['light', 'dark'] as const;

/** In English. It exists only while `PUBLIC_URL` is an address of this machine (docs/design-system.md). */
export function styleguide(app: FastifyInstance, { PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>): void {
  if (!isLoopback(new URL(PUBLIC_URL).hostname)) return;
  const { base } = app.site;

  app.get('/styleguide', ANYONE, (request, reply) =>
    sendPage(request, reply, {
      title: 'Style guide',
      width: 'full',
      styles: ['public.css', 'styleguide.css'],
      body: html`<div class="styleguide" lang="en"><h1>Style guide</h1>
        <p>The parts of the pages. docs/design-system.md says when each of them is used.</p>
        ${SCHEMES.map(
          (scheme) => html`<section class="scheme" data-theme="${scheme}" aria-label="${scheme}">
          <h2>${scheme}</h2>${[...basics(scheme), ...listingParts(base)].map(
            ({ name, body }) => html`<div class="sample"><h3>${name}</h3>${body}</div>`,
          )}</section>`,
        )}</div>`,
    }),
  );
}

type StyleguidePart = { name: string; body: Content };

/** The colour tokens of site.css. */
const COLOURS = [
  'paper card well quiet-soft line edge soft ink',
  'accent accent-soft on-accent deep on-deep on-deep-soft',
  'vote vote-over vote-under on-vote',
  'good good-soft bad bad-soft attention attention-soft star star-fill',
];

/** `scheme` makes the ids of fields unique. */
function basics(scheme: string): StyleguidePart[] {
  return [
    { name: 'Type', body: type() },
    { name: 'Colours', body: COLOURS.map(swatches) },
    {
      name: 'Icons',
      body: html`<p class="icons">${(Object.keys(ICON_SHAPES) as IconName[]).map(
        (name) => html`<span title="${name}">${icon(name)}</span>`,
      )}</p>`,
    },
    { name: 'Buttons', body: buttons() },
    { name: 'Notices and badges', body: notices() },
    { name: 'Card, facts and figures', body: cards(scheme) },
    { name: 'Form', body: form(scheme) },
    { name: 'Tabs', body: tabs(`Tabs, ${scheme}`, ['Overview', 'Votes', 'Settings'].map(tab), '#Votes') },
    { name: 'Table', body: table() },
    { name: 'Chart', body: chart(scheme) },
    { name: 'Text to copy', body: copyable('tallyport migrate', `Command, ${scheme}`) },
    {
      name: 'Empty state',
      body: emptyCard({
        icon: 'star',
        text: 'You have no favourites yet.',
        action: { href: '#', text: 'Find a server' },
      }),
    },
  ];
}

function type() {
  return html`<p class="title">Title, 30 to 44 px</p><p class="head">Head, 24 px</p><p class="name">Name, 20 px</p>
    <p>Text, 16 px, with <a href="#">a link</a> and <code>code</code></p><p class="small soft">Small, 14 px, quiet</p>
    <p class="tiny">Tiny, 13 px</p>`;
}

const tab = (text: string) => ({ href: `#${text}`, text });

function swatches(names: string) {
  return html`<ul class="swatches">${names
    .split(' ')
    .map(
      (name) =>
        html`<li><svg aria-hidden="true"><rect width="100%" height="100%" fill="var(--${name})"/></svg>${name}</li>`,
    )}</ul>`;
}

function buttons() {
  return html`<div class="actions"><button type="button">Save</button>
    <button class="quiet" type="button">Cancel</button>
    <button class="danger" type="button">Delete</button><a class="button vote" href="#">Vote</a>
    <button class="quiet copied" type="button">Copied</button><button class="link" type="button">A link</button></div>
    ${confirmed({
      text: 'Remove…',
      consequence: 'The server is no longer listed.',
      form: button({ to: '#', text: 'Remove', kind: 'danger' }),
    })}`;
}

function notices() {
  const tones = ['good', 'bad', 'attention', 'quiet'] as const;
  return html`${tones.map((tone) => notice(tone, `A notice: ${tone}`))}
    <p class="actions">${tones.map((tone) => badge(tone, tone))}</p>`;
}

function cards(scheme: string) {
  return card({
    title: 'Harbour Lights',
    id: `card-${scheme}`,
    actions: html`<a class="button quiet" href="#">Edit</a>`,
    body: html`${facts([
      ['Address', 'play.example.org'],
      ['Version', '1.21.4'],
    ])}
      <div class="figures">${figure('Players', '143', 'of 2,000')}${figure('Rank', '1')}</div>`,
  });
}

function form(scheme: string) {
  return html`<form class="stack">
    ${textField({ name: 'name', id: `name-${scheme}`, label: 'Name', hint: 'At most 60 characters.' })}
    ${textField({ name: 'port', id: `port-${scheme}`, label: 'Port', value: '99999', error: 'Must be at most 65535.' })}
    ${select({ name: 'game', id: `game-${scheme}`, label: 'Game', options: [['rust', 'Rust']] })}
    ${textArea({ name: 'text', id: `text-${scheme}`, label: 'Text', rows: 2 })}
    ${checkbox({ name: 'online', id: `online-${scheme}`, label: 'Only online servers', checked: true })}
    ${radios({
      name: `rewards-${scheme}`,
      label: 'How players are rewarded',
      value: 'push',
      options: [
        {
          value: 'push',
          text: 'The listener receives each vote',
          about: 'For Votifier plugins and websites.',
        },
        { value: 'claims', text: 'A plugin asks for votes', about: 'For plugins with a claim key.' },
      ],
    })}</form>`;
}

function table() {
  return dataTable({
    caption: 'Votes',
    rows: [
      { player: 'Steve', state: badge('good', 'delivered'), votes: 12 },
      { player: 'Alex', state: badge('attention', 'waiting'), votes: 3 },
    ],
    columns: [
      { title: 'Player', heads: true, cell: ({ player }) => player },
      { title: 'State', cell: ({ state }) => state },
      { title: 'Votes', kind: 'number', cell: ({ votes }) => votes },
    ],
    empty: '',
  });
}

function chart(scheme: string) {
  const points = [4, 7, 5, null, 9, 12, 8].map((value, at) => ({ label: `${at + 1} May`, value }));
  return barChart({ title: `Votes, ${scheme}`, points, shown: String, numbers: html``, empty: '' });
}

/** Two words, letters that are not ASCII, another script, a very long name. */
const NAMES = [
  'Harbour Lights',
  'Kızıl Kale',
  'さくら村',
  'Fußballweltmeisterschaftsstadion der Nordseeküste',
];
const SERVERS = NAMES.map((name, at) => ({ name, slug: `sample-${at + 1}`, game: 'minecraft' }));

function listingParts(base: string): StyleguidePart[] {
  const [server = { name: '', slug: '' }] = SERVERS;
  return [
    {
      name: 'Copy and vote',
      body: html`<div class="actions">
        ${copyAddress('play.example.org', server.name)}
        ${voteLink(base, { WEB_VOTES: 'on' }, server, { now: new Date(0) })}
      </div>`,
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
