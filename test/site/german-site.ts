import { readTags } from '../../src/servers/tag-list.ts';
import { startSite } from '../browser/running-site.ts';
import { fillListing, type SampleListing } from '../browser/sample-listing.ts';
import { PAGES, type Reader, STATES } from '../browser/sample-pages.ts';
import { atTheEnd } from '../support/at-the-end.ts';

/** Pages that are not translated: those for operators, developers and other sites, and the operator's own texts. */
const NOT_OURS =
  /^\/(operator|styleguide$)|\/widget$|^\/(contact|imprint|privacy|terms)$|^decided reviews$|admin area/;

/** The pages that exist in every language. */
export const TRANSLATED_PAGES = [...PAGES, ...STATES].filter(
  ({ route, name }) => !NOT_OURS.test(route) && !NOT_OURS.test(name ?? ''),
);

/** Names of products and in the sample data. */
const NAMES = [
  'Lighthouse Creative',
  'plugin on the survival world',
  'website',
  'Minecraft',
  'Paper 1.21.4',
  'Tallyport',
  'EasyVote (Rust: Oxide, Carbon)',
  'VoteReward (PocketMine)',
];

/** A site with the sample data, and readers of each language. */
export type GermanSite = {
  url: string;
  of: SampleListing;
  /** The names in the sample data, the longest first. */
  names: string[];
  /** The cookies of each reader. */
  cookies: Record<Reader, string>;
  /** The paths of the forms of public, account and owner pages: `/servers/:slug/vote`. */
  formRoutes: string[];
};

/** Starts the site; it stops when the test or the file ends (see `atTheEnd`). */
export async function startGermanSite(): Promise<GermanSite> {
  const { url, deps, routes } = await startSite({ OPERATOR_TWO_FACTOR: 'optional' });
  const filled = await fillListing(deps);
  atTheEnd(filled.close);
  const of = filled.listing;
  const servers = await deps.servers.find().toArray();
  const tags = await readTags(deps);
  const names = [...servers, ...tags, ...NAMES.map((name) => ({ name }))]
    .map(({ name }) => name)
    .toSorted((one, other) => other.length - one.length);
  const [owner, operator] = await Promise.all([signIn(url, of.users.owner), signIn(url, of.users.operator)]);
  const formRoutes = routes
    .filter(({ method, access }) => method === 'POST' && access !== 'operator')
    .map((route) => route.url);
  return { url, of, names, cookies: { stranger: '', owner, operator }, formRoutes };
}

async function signIn(
  url: string,
  { email, password }: { email: string; password: string },
): Promise<string> {
  const answer = await fetch(`${url}/sign-in`, {
    method: 'POST',
    body: new URLSearchParams({ email, password, next: '' }),
    headers: { origin: url, accept: 'text/html' },
    redirect: 'manual',
  });
  return answer.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
}
