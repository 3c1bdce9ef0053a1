import type { PictureData } from './picture-data.ts';
import type { Reader } from './sample-pages.ts';

/** A picture of a page, in `docs/screenshots`. */
export type Picture = {
  name: string;
  reader: Reader;
  path(of: PictureData): string;
  /** Width and height of the window. */
  window: readonly [number, number];
  /** Whether there is a second picture in dark colours. Documents show the one that fits the reader's colours. */
  hasDark?: boolean;
  /** Scrolls to this element. */
  from?: string;
  /** The package whose script draws the page, with a text that is there when it has drawn it. */
  drawn?: { by: string; text: string };
};

const LARGE = [1280, 920] as const;
const SMALL = [1280, 600] as const;
const PHONE = [390, 844] as const;

const serverPart = ({ harbour }: PictureData, part: string) =>
  `/dashboard/servers/${harbour.toHexString()}${part}`;

const queue = (name: string, path: string, text: string): Picture => ({
  name,
  reader: 'operator',
  path: () => `/operator/queues/queue/${path}`,
  window: SMALL,
  drawn: { by: '@bull-board/api', text },
});

/** The pictures that documents show, except the moving one. */
export const PICTURES: Picture[] = [
  { name: 'home', reader: 'stranger', path: () => '/', window: LARGE, hasDark: true },
  {
    name: 'home-phone',
    reader: 'stranger',
    path: () => '/',
    window: PHONE,
  },
  {
    name: 'server',
    reader: 'stranger',
    path: () => '/servers/harbour-lights',
    window: LARGE,
    hasDark: true,
  },
  {
    name: 'how-ranking-works',
    reader: 'stranger',
    path: () => '/how-ranking-works?server=harbour-lights',
    window: LARGE,
  },
  {
    name: 'vote-arrived',
    reader: 'stranger',
    path: ({ arrived }) => `/servers/harbour-lights/vote/${arrived}`,
    window: LARGE,
    hasDark: true,
  },
  {
    name: 'vote-timeline',
    reader: 'owner',
    path: (of) => serverPart(of, `/votes/${of.explained}`),
    from: '#vote',
    window: LARGE,
    hasDark: true,
  },
  {
    name: 'statistics',
    reader: 'owner',
    path: (of) => serverPart(of, '/statistics'),
    window: LARGE,
    hasDark: true,
  },
  { name: 'inbox', reader: 'operator', path: () => '/operator', window: LARGE, hasDark: true },
  {
    ...queue('queues-down', 'test-listeners?status=delayed', '7 votes waiting, connection refused'),
    hasDark: true,
  },
  queue('queues-under-test', 'test-listeners?status=active', 'Test listeners: Outback Factions'),
  queue('queues-draining', 'drain-backlogs?status=active', 'Drain backlogs: Ironvale Anarchy'),
  {
    name: 'api-reference',
    reader: 'stranger',
    path: () => '/docs/',
    window: LARGE,
    hasDark: true,
    drawn: { by: '@scalar/fastify-api-reference', text: 'Check whether a player has voted' },
  },
];

/** The moving picture: a player votes, and the vote arrives. */
export const MOVING = 'voting';

/** The files of a picture. */
export const filesOf = ({ name, hasDark = false }: Pick<Picture, 'name' | 'hasDark'>): string[] =>
  hasDark ? [`${name}.webp`, `${name}-dark.webp`] : [`${name}.webp`];

/** All files of pictures in `docs/screenshots`. */
export const FILES = [...PICTURES, { name: MOVING }].flatMap(filesOf);
