import { z } from 'zod';
import type { PublicServer } from '../../../ranking/public-servers.ts';
import { STATUSES } from '../../../servers/server.ts';
import { RANKING_DAYS, RANKS_EVERY_MINUTES } from '../../../votes/ranking-period.ts';
import { serverAddress } from '../addresses.ts';
import { publicRecord } from '../public-record.ts';
import { countSchema, percentage, portSchema, timestamp, titled } from '../schemas.ts';

const url = z.url().nullable();

const shape = {
  id: z
    .string()
    .regex(/^[0-9a-f]{24}$/)
    .meta({ description: 'It never changes and is never reused.', examples: ['6921f0a4c2b7d81e5f3a9c04'] }),
  slug: z.string().meta({ description: 'It changes with the name.', examples: ['harbour-lights'] }),
  name: z.string().meta({ examples: ['Harbour Lights'] }),
  url: z
    .url()
    .meta({ description: 'Its page.', examples: ['https://listing.example/servers/harbour-lights'] }),
  game: z
    .string()
    .nullable()
    .meta({ description: 'As in `GET …/games`; null if none was chosen.', examples: ['minecraft'] }),
  address: z.string().meta({ description: 'Host name or IP address.', examples: ['play.example.org'] }),
  connection_port: portSchema,
  addresses: z
    .array(serverAddress)
    .describe('This address, and after it that of the other edition of Minecraft, if there is one.'),
  country_code: z.string().meta({ description: 'ISO 3166-1 code; `ZZ` if unknown.', examples: ['DE'] }),
  languages: z.array(z.string()).meta({ description: 'ISO 639-1 codes.', examples: [['en', 'de']] }),
  tags: z.array(z.string()).meta({ examples: [['survival', 'economy']] }),
  status: z.enum(STATUSES).describe('As in `GET …/info`; `unknown` while the owner has paused the listing.'),
  online_players: countSchema.nullable().meta({
    description:
      'null while the server hides the number or the listing is paused; 0 while it is offline. While unknown, the last value.',
    examples: [42],
  }),
  max_players: countSchema.meta({ description: '0 if unknown, and for "no limit".', examples: [120] }),
  monthly_votes: countSchema.describe('Votes of the current UTC calendar month.'),
  votes_count: countSchema.describe(`Votes of today and the ${RANKING_DAYS - 1} UTC days before.`),
  rank_position: z.int().min(1).describe(`Computed every ${RANKS_EVERY_MINUTES} minutes.`),
  average_rating: z
    .number()
    .min(0)
    .max(5)
    .meta({ description: 'At most 2 decimals; 0 if there are no reviews.', examples: [4.36] }),
  review_count: countSchema.meta({ examples: [14] }),
  uptime_percentage: percentage(
    'Over the 30 full UTC days before today, at most 2 decimals; null if unknown.',
  ),
  server_version: z.string().meta({ description: 'Empty if unknown.', examples: ['Paper 1.21.4'] }),
  icon_url: url.describe('WebP; null without an icon.'),
  banner_url: url.describe('WebP; null without a banner.'),
  date_added: timestamp,
};

/** A server of the lists. */
export const publicServer = titled('PublicServer', shape);

export const publicServerInFull = titled('PublicServerInFull', {
  ...shape,
  description: z
    .string()
    .describe('Markdown as the owner wrote it, empty if there is none. Do not show it as HTML unescaped.'),
  motd: z.string().meta({ description: 'Empty if unknown.', examples: ['Survival since 2014'] }),
});

/** `site`: the address of the listing, without a slash at its end. */
export function publicServerOf(site: string, server: PublicServer) {
  return publicRecord(publicServer, fieldsOf(site, server));
}

export function publicServerInFullOf(
  site: string,
  server: PublicServer & { description: string; motd: string },
) {
  const { description, motd } = server;
  return publicRecord(publicServerInFull, { ...fieldsOf(site, server), description, motd });
}

function fieldsOf(site: string, server: PublicServer) {
  const picture = (id: string | null) => (id === null ? null : `${site}/pictures/${id}.webp`);
  return {
    ...server,
    url: `${site}/servers/${server.slug}`,
    connectionPort: server.port,
    addresses: server.addresses.map(({ port: connectionPort, ...rest }) =>
      publicRecord(serverAddress, { ...rest, connectionPort }),
    ),
    serverVersion: server.version,
    iconUrl: picture(server.icon),
    bannerUrl: picture(server.banner),
    dateAdded: server.listedAt,
  };
}

/** The figures that `GET …/live` sends. */
export const liveFigures = publicServer.pick({
  status: true,
  online_players: true,
  max_players: true,
  monthly_votes: true,
  votes_count: true,
  rank_position: true,
  average_rating: true,
  review_count: true,
  server_version: true,
});
