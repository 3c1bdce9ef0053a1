import { readTags } from '../../src/servers/tag-list.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { type RunningSite, startSite } from './running-site.ts';
import { fillListing, type SampleListing } from './sample-listing.ts';
import type { Reader } from './sample-pages.ts';

/** Names of products and in the sample data. */
const NAMES = [
  'Lighthouse Creative',
  'Raid bot',
  'plugin on the survival world',
  'website',
  'Minecraft',
  'Paper 1.21.4',
  'Tallyport',
  'EasyVote (Rust: Oxide, Carbon)',
  'VoteReward (PocketMine)',
];

/** A site with the sample data. */
export type SampleSite = RunningSite & {
  of: SampleListing;
  /** The names in the sample data, the longest first. */
  names: string[];
  /** The session cookies of each reader. */
  cookies: Record<Reader, string>;
};

/** Starts the site; it stops when the test or the file ends (see `atTheEnd`). */
export async function startSampleSite(): Promise<SampleSite> {
  const site = await startSite({ OPERATOR_TWO_FACTOR: 'optional' });
  const { url, deps } = site;
  const filled = await fillListing(deps);
  atTheEnd(filled.close);
  const of = filled.listing;
  const servers = await deps.servers.find().toArray();
  const tags = await readTags(deps);
  const names = [...servers, ...tags, ...NAMES.map((name) => ({ name }))]
    .map(({ name }) => name)
    .toSorted((one, other) => other.length - one.length);
  const [owner, operator] = await Promise.all([signIn(url, of.users.owner), signIn(url, of.users.operator)]);
  return { ...site, of, names, cookies: { stranger: '', owner, operator } };
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
