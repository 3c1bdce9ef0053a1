import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { READ_API_OFF } from '../../../http/error-codes.ts';
import { RefusedError } from '../../../http/http-errors.ts';
import type { AppDeps } from '../../../process/app-deps.ts';
import type { Filters } from '../../../ranking/filters.ts';
import { readPublicServers } from '../../../ranking/public-servers.ts';
import { ROWS } from '../../../ranking/read-lists.ts';
import { searchIds } from '../../../ranking/search-listing.ts';
import { LONGEST_SEARCH, searchText } from '../../../ranking/search-text.ts';
import { SORTS, type Sort } from '../../../ranking/sorts.ts';
import { MOST_A_PAGE, type WalkedPage, walkList } from '../../../ranking/walk-list.ts';
import { DEAR, READS } from '../open-reads.ts';
import { answer, failure, IF_NONE_MATCH, titled, UNCHANGED } from '../schemas.ts';
import { publicServer, publicServerOf } from './public-server.ts';
import { OPEN, READ_FAILURES, READ_HEADERS, type ReadDeps, sendRead } from './read-route.ts';

const filter = () => z.string({ error: 'must be given only once' }).max(200).optional();

const limitRule = `must be a whole number, 1 to ${MOST_A_PAGE}`;
const sortRule = `must be one of ${SORTS.join(', ')}`;
const cursorRule = 'must be a next_cursor of the same list';

const querystring = z.object({
  game: filter().meta({ description: 'As in `GET …/games`.', examples: ['minecraft'] }),
  tag: filter().meta({ description: 'A tag as in `tags`.', examples: ['survival'] }),
  country: filter().meta({ description: 'ISO 3166-1 code.', examples: ['DE'] }),
  version: filter().meta({ description: 'A release that the server takes.', examples: ['1.21'] }),
  online: filter().describe('`true`: only servers that are online. `false` or empty: all.'),
  q: filter().describe(
    `A name, words or an address, up to ${LONGEST_SEARCH} characters. A search has at most ${ROWS} servers on one page, the best matches first; \`sort\` and \`cursor\` have no effect. It counts as ${DEAR} calls.`,
  ),
  sort: z
    .preprocess((value) => (value === '' ? undefined : value), z.enum(SORTS, { error: sortRule }).optional())
    .meta({ type: 'string', enum: [...SORTS], default: 'rank', description: 'As on the pages.' }),
  limit: z
    .string({ error: limitRule })
    .regex(/^\d{0,3}$/, { error: limitRule, abort: true })
    .transform((digits) => (digits === '' ? ROWS : Number(digits)))
    .refine((value) => value >= 1 && value <= MOST_A_PAGE, { error: limitRule })
    .optional()
    .transform((value) => value ?? ROWS)
    .meta({
      type: 'integer',
      minimum: 1,
      maximum: MOST_A_PAGE,
      default: ROWS,
      description: 'Servers per page.',
    }),
  cursor: z.string({ error: cursorRule }).max(60, { error: cursorRule }).optional().meta({
    description: 'The `next_cursor` of the page before, with the same filters and the same order.',
  }),
});

const page = titled('PublicServerPage', {
  servers: z
    .array(publicServer)
    .describe('A page may have fewer than `limit` although others follow: see `next_cursor`.'),
  next_cursor: z
    .string()
    .nullable()
    .meta({ description: 'Where the next page begins; null on the last page.', examples: [null] }),
});

type Query = z.output<typeof querystring>;
/** `filters` is null if no server can have such a value. */
type Asked = { filters: Filters | null; q: string; sort: Sort; limit: number; cursor: string | undefined };

const SHAPES = {
  game: /^[a-z0-9]{1,50}$/,
  country: /^[A-Z]{2}$/,
  version: /^\d{1,3}\.\d{1,3}$/,
  tag: /^[a-z0-9-]{1,60}$/,
} as const;

function askedOf({ q = '', sort = 'rank', limit, cursor, ...query }: Query): Asked {
  const filters = {
    game: query.game?.toLowerCase() || undefined,
    country: query.country?.toUpperCase() || undefined,
    version: query.version || undefined,
    tag: query.tag?.toLowerCase() || undefined,
  };
  const online = query.online ?? '';
  const isKnown =
    ['', 'true', 'false'].includes(online) &&
    Object.entries(SHAPES).every(([name, shape]) => {
      const value = filters[name as keyof typeof filters];
      return value === undefined || shape.test(value);
    });
  return {
    filters: isKnown ? { ...filters, online: online === 'true' || undefined } : null,
    q: searchText(q),
    sort,
    limit,
    cursor: cursor || undefined,
  };
}

async function readPage(deps: AppDeps, { filters, q, sort, limit, cursor }: Asked): Promise<WalkedPage> {
  if (!filters) return { servers: [], next: null };
  if (q) {
    const ids = await searchIds(deps, q, filters);
    return { servers: await readPublicServers(deps, ids.slice(0, limit)), next: null };
  }
  const found = await walkList(deps, { filters, sort }, { cursor, limit });
  if (!found) throw new RefusedError({ status: 400, code: 'malformed', sentence: `cursor ${cursorRule}.` });
  return found;
}

/** RFC 8288 */
function linkToNext(site: string, { filters, sort, limit }: Asked, cursor: string): string {
  const { online, ...others } = filters ?? {};
  const given = { ...others, online: online && 'true', sort, limit: String(limit), cursor };
  const known = Object.entries(given).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return `<${site}/api/v1/servers?${new URLSearchParams(known)}>; rel="next"`;
}

/** GET /api/v1/servers: the lists and the search of the pages. */
export const serversEndpoint: FastifyPluginAsyncZod<ReadDeps> = async (app, read) => {
  const { deps, countRead, site } = read;
  app.get(
    '/servers',
    {
      schema: {
        ...OPEN,
        operationId: 'listServers',
        tags: ['listing'],
        summary: 'Read the ranking, a list or a search',
        description: `No token is needed; ${READS.times} calls a minute for a network. An unknown value of a filter gives an empty list. Follow \`next_cursor\` or the \`Link\` header to read all servers. Rankings are made every few minutes; if one changes the list meanwhile, a server may come twice or not at all.`,
        querystring,
        headers: IF_NONE_MATCH,
        response: {
          200: answer(page, 'One page of servers.', {
            ...READ_HEADERS,
            Link: {
              type: 'string',
              description: 'Only if there is a next page: its address, with `rel="next"`.',
            },
          }),
          304: UNCHANGED,
          ...READ_FAILURES,
          404: failure(404, READ_API_OFF, undefined, ['disabled']),
        },
      },
    },
    async (request, reply) => {
      const asked = askedOf(request.query);
      await countRead(request, reply, asked.q ? DEAR : 1);
      return sendRead(request, reply, read, {
        key: JSON.stringify(['servers', asked.filters, asked.q, asked.sort, asked.limit, asked.cursor]),
        async make() {
          const { servers, next } = await readPage(deps, asked);
          return {
            body: { servers: servers.map((one) => publicServerOf(site, one)), next_cursor: next },
            ...(next ? { link: linkToNext(site, asked, next) } : {}),
          };
        },
      });
    },
  );
};
