import { beforeAll, describe, expect, test } from 'vitest';
import { readTags } from '../../src/servers/tag-list.ts';
import { type RunningSite, startSite } from '../browser/running-site.ts';
import { fillListing, type SampleListing } from '../browser/sample-listing.ts';
import { PAGES, type Reader, STATES } from '../browser/sample-pages.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { untranslated } from './untranslated.ts';

/** Pages of an operator or for other sites, which are English, and the operator's own texts. */
const NOT_OURS = /^\/operator|\/widget$|^\/(contact|imprint|privacy|terms)$|^decided reviews$|admin area/;

/** Names in the sample data and of products. */
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

const pages = [...PAGES, ...STATES].filter(
  ({ route, name }) => !NOT_OURS.test(route) && !NOT_OURS.test(name ?? ''),
);

describe('every public page and every page of an owner is German for who reads German', () => {
  let site: RunningSite;
  let of: SampleListing;
  let names: string[];
  let cookies: Record<Reader, string>;

  beforeAll(async () => {
    site = await startSite({ OPERATOR_TWO_FACTOR: 'optional' });
    const filled = await fillListing(site.deps);
    atTheEnd(filled.close);
    of = filled.listing;
    const servers = await site.deps.servers.find().toArray();
    const tags = await readTags(site.deps);
    names = [...servers, ...tags, ...NAMES.map((name) => ({ name }))]
      .map(({ name }) => name)
      .toSorted((one, other) => other.length - one.length);
    const [owner, operator] = await Promise.all([signIn(of.users.owner), signIn(of.users.operator)]);
    cookies = { stranger: '', owner, operator };
  });

  async function signIn({ email, password }: { email: string; password: string }): Promise<string> {
    const answer = await fetch(`${site.url}/sign-in`, {
      method: 'POST',
      body: new URLSearchParams({ email, password, next: '' }),
      headers: { origin: site.url, accept: 'text/html' },
      redirect: 'manual',
    });
    return answer.headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ');
  }

  test.each(pages.map((one) => [one.name ?? one.route, one] as const))('%s', async (_name, one) => {
    const open = async (language: string) => {
      const headers = { accept: 'text/html', 'accept-language': language, cookie: cookies[one.reader] };
      return (await fetch(`${site.url}${one.path(of)}`, { headers })).text();
    };
    const [german, english] = await Promise.all([open('de'), open('en')]);
    expect([german, english].map((page) => page.match(/<html lang="(..)">/)?.[1])).toEqual(['de', 'en']);
    expect(untranslated(german, english, names)).toEqual([]);
  });
});
