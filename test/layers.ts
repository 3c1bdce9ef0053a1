import { dirname, join, normalize } from 'node:path';

/** The folders of `src/` and the workers, lowest first: each imports only itself and those before it. */
export const LAYERS = [
  'language',
  'platform',
  // Features.
  'settings',
  'games',
  'mail',
  'accounts',
  'servers',
  'listeners',
  'votes',
  'delivery',
  'history',
  'probing',
  'reviews',
  'favourites',
  'ranking',
  'moderation',
  'goals',
  'reminders',
  'events',
  'notifications',
  'import-export',
  // What crosses features.
  'workflows',
  // What a process is composed of.
  'database',
  'http',
  'process',
  'backup',
  'own-services',
  // Adapters.
  'api',
  'site',
  'cli',
  'workers',
  'demo',
  'all-in-one',
  // The files that start processes, directly in `src/`.
  'entry points',
];

/** The rooms of `src/site/` with pages of one audience. Each imports only itself and what is outside of the others. */
const PAGE_ROOMS = ['public', 'accounts', 'dashboard', 'admin'];

const IMPORT = /\b(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g;

/** The imports of a file, type imports included, that point to a later layer: `src/votes/a.ts imports src/api/b.ts`. */
export function wrongImports(path: string, text: string): string[] {
  const own = LAYERS.indexOf(layerOf(path));
  return importedBy(path, text)
    .filter((imported) => /^(src|workers)\//.test(imported) && LAYERS.indexOf(layerOf(imported)) > own)
    .map((imported) => `${path} imports ${imported}`);
}

function importedBy(path: string, text: string): string[] {
  return [...text.matchAll(IMPORT)].map(([, imported = '']) => normalize(join(dirname(path), imported)));
}

/** The layer of a file; one in a folder without a place in the order belongs to none. */
export function layerOf(path: string): string {
  const [top = '', folder = '', ...rest] = path.split('/');
  if (top === 'workers') return 'workers';
  return rest.length === 0 ? 'entry points' : folder;
}

/** The imports of a page file that point to the pages of another audience; shared parts belong in `site/shared/`. */
export function importsOfOtherPages(path: string, text: string): string[] {
  const own = pageRoomOf(path);
  if (!path.startsWith('src/site/') || path === 'src/site/site.ts') return [];
  return importedBy(path, text)
    .filter((imported) => ![undefined, own].includes(pageRoomOf(imported)))
    .map((imported) => `${path} imports ${imported}`);
}

function pageRoomOf(path: string): string | undefined {
  return PAGE_ROOMS.find((room) => path.startsWith(`src/site/${room}/`));
}
