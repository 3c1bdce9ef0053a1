/**
 * Measures the ways to find a server in a large listing: how many keys and documents their queries examine, and the
 * time of an uncached page, compared with a page of the ranking in the same run, in turn:
 *
 *   node bench/listing/finding.ts [servers] [rounds]
 *
 * There is one request at a time. A round requests one page of each kind, and never the same page as an earlier round.
 */
import { openEnvironment } from '../delivery/environment.ts';
import { median } from '../delivery/figures.ts';
import { examinedBy } from './examined.ts';
import { COUNTRIES, loadServers, nameAt, TAGS } from './load-servers.ts';

const [servers = 100_000, rounds = 100] = process.argv.slice(2).map(Number);

console.log(`node bench/listing/finding.ts ${servers} ${rounds}`);
const environment = await openEnvironment({ TRUST_PROXY: '1' });
const { deps } = environment;
const { seconds } = await loadServers(deps, servers);
const times = Object.entries(seconds).map(([name, s]) => `${name} ${s.toFixed(1)} s`);
console.log(`${servers} servers loaded: ${times.join(', ')}`);
const addresses = await deps.servers
  .find({}, { projection: { address: 1 } })
  .limit(rounds + 2)
  .toArray();
const web = await environment.web();

const RANKING = 'the ranking';
const WORDS = ['skyblock', 'survival', 'slimefun', 'lifesteal', 'hardcore', 'roleplay'];
const word = (i: number) => WORDS[i % WORDS.length] ?? '';
const misspelt = (text: string) => `${text.slice(0, 2)}${text[3]}${text[2]}${text.slice(4)}`;
const search = (text: string) => `/?q=${encodeURIComponent(text)}`;

/** For each kind of page: the path in a round. The numbers make each search a new one, so that it is not cached. */
const KINDS: Record<string, (round: number) => string> = {
  [RANKING]: (round) => `/?page=${round + 1}`,
  'by players': (round) => `/?sort=players&page=${round + 1}`,
  'newest first': (round) => `/?sort=newest&page=${round + 1}`,
  'by rating': (round) => `/?sort=rating&page=${round + 1}`,
  'by uptime': (round) => `/?sort=uptime&page=${round + 1}`,
  'a game by players, online in a country': (round) =>
    `/games/minecraft?country=${COUNTRIES[round % COUNTRIES.length]}&online=yes&sort=players&page=${1 + Math.floor(round / COUNTRIES.length)}`,
  'a game’s page': (round) => `/games/minecraft?page=${round + 1}`,
  'a tag’s page': (round) => `/tags/${TAGS[round % TAGS.length]}?page=${1 + Math.floor(round / TAGS.length)}`,
  'a tag of a game, online, by players': (round) =>
    `/tags/${TAGS[round % TAGS.length]}?game=minecraft&online=yes&sort=players&page=${1 + Math.floor(round / TAGS.length)}`,
  'a random server': () => '/servers/random',
  'a random server of a tag': (round) => `/servers/random?tag=${TAGS[round % TAGS.length]}`,
  'a word of texts': (round) => search(`weekend ${round}`),
  'a misspelt name': (round) => search(misspelt(nameAt(round * 13))),
  'a word of messages': (round) => search(`${word(round)} ${round}`),
  'a misspelt word of messages': (round) => search(`${misspelt(word(round))} ${round}`),
  'two words of messages': (round) => search(`${word(round)} ${word(round + 1)} ${round}`),
  'an address': (round) => search(addresses[round]?.address ?? ''),
};

let requests = 0;

/** Requests a page and returns its time in milliseconds. */
async function timeOf(path: string): Promise<number> {
  requests += 1;
  const from = `10.1.${(requests >> 8) & 255}.${requests & 255}`;
  const began = performance.now();
  const answer = await fetch(`${web.url}${path}`, {
    headers: { 'x-forwarded-for': from, 'accept-encoding': 'identity' },
    redirect: 'manual',
  });
  await answer.arrayBuffer();
  const ms = performance.now() - began;
  if (answer.status !== 200 && answer.status !== 303) throw new Error(`${path} answered ${answer.status}`);
  return ms;
}

try {
  const measured = new Map(Object.keys(KINDS).map((kind): [string, number[]] => [kind, []]));
  for (const path of Object.values(KINDS)) await timeOf(path(rounds));
  for (let round = 0; round < rounds; round += 1) {
    for (const [kind, path] of Object.entries(KINDS)) measured.get(kind)?.push(await timeOf(path(round)));
  }
  const ranking = median(measured.get(RANKING) ?? []);
  for (const [kind, all] of measured) {
    const path = KINDS[kind]?.(rounds + 1) ?? '/';
    const operations = (await examinedBy(deps, () => timeOf(path))).filter(({ what }) =>
      /servers|ranked_lists|review_lists/.test(what),
    );
    const examined = operations.map(
      ({ what, keys, documents, returned, isIndexed }) =>
        `${what} ${Math.max(keys, documents)}:${returned}${isIndexed ? '' : ' OVER THE BOUND'}`,
    );
    const ms = median(all);
    console.log(
      `${kind}: ${ms.toFixed(1)} ms, ${(ms / ranking).toFixed(2)} of the ranking; ${examined.join(', ')}`,
    );
  }
} finally {
  await environment.close();
}
