import { createHash } from 'node:crypto';
import { ObjectId, type WithId } from 'mongodb';
import { z } from 'zod';
import type { HistoryDeps } from '../history/deps.ts';
import { recordAuditOnce } from '../platform/audit/audit-log.ts';
import type { Clock } from '../platform/clock.ts';
import { InvalidDocumentError } from '../platform/document.ts';
import { emailAddress } from '../platform/email-address.ts';
import { hostAndPort } from '../platform/host-and-port.ts';
import { shownText } from '../platform/text.ts';
import { newListing, nextRank } from '../servers/listed-servers.ts';
import { LONGEST_PAUSE_TEXT, NEVER_PROBED, type PausedTime } from '../servers/listing-pause.ts';
import { type SecondSettings, secondSettings, secondSettingsOf } from '../servers/second-address.ts';
import type { Server } from '../servers/server.ts';
import { newServer, type ServerSettings } from '../servers/server-settings.ts';
import { insertListing, insertUnderFreeSlug, slugsOf } from '../servers/server-slugs.ts';
import { isId } from '../servers/slug.ts';
import type { Importer, LineResult } from './import-lines.ts';
import { profileField, refusedTexts, storedTexts, type TextsRecord } from './profile-record.ts';
import { OBJECT_ERROR, pastMoment, serverIdField } from './records.ts';

type ServerRecord = {
  serverId: ObjectId;
  settings: ServerSettings;
  slug: string | null;
  listedAt: Date | null;
  ownerEmail: string | null;
  texts: TextsRecord;
  pauses: Pick<Server, 'listingPause' | 'earlierPauses'>;
};

const { shape } = newServer;
const slugError = { error: 'must be lower-case letters, digits and single hyphens, at most 100, and no id' };
const emailError = { error: 'must be an e-mail address' };
const premiumError = { error: 'must be true or false' };

const slugField = z
  .string(slugError)
  .max(100, slugError)
  .refine((slug) => /^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug) && !isId(slug), slugError);

/**
 * A line: `{"name", "address", "connection_port"}` and optionally `"server_id"`, `"slug"`, `"query_port"`, `"game"`, `"second_address"`,
 * `"second_port"`, `"country_code"`, `"is_premium"`, `"date_added"`, `"owner_email"`, `"how_to_vote"`, `"profile"` (profile-record.ts), `"pause"`,
 * `"earlier_pauses"`.
 */
function serverSchema(clock: Clock) {
  return z
    .object(
      {
        server_id: serverIdField.nullish(),
        name: shape.name,
        slug: slugField.nullish(),
        address: shape.address,
        connection_port: shape.port,
        second_address: shape.secondAddress,
        second_port: shape.secondPort,
        query_port: shape.queryPort,
        game: shape.game,
        country_code: shape.countryCode,
        is_premium: z.boolean(premiumError).nullish(),
        date_added: pastMoment(clock).nullish(),
        owner_email: emailAddress(emailError).nullish(),
        how_to_vote: z.string({ error: 'must be text' }).nullish(),
        profile: profileField.nullish(),
        pause: pauseField(clock).nullish(),
        earlier_pauses: z.array(pausedTimeField(clock), { error: 'must be a list' }).max(100).nullish(),
      },
      OBJECT_ERROR,
    )
    .transform((line, context): ServerRecord => {
      const second = secondOfLine(line, context);
      if (!second) return z.NEVER;
      const settings: ServerSettings = {
        name: line.name,
        address: line.address,
        port: line.connection_port,
        queryPort: line.query_port,
        game: line.game,
        ...second,
        countryCode: line.country_code,
        isPremium: line.is_premium ?? false,
      };
      return {
        serverId: line.server_id ?? madeId(settings, line.slug ?? null),
        settings,
        slug: line.slug ?? null,
        listedAt: line.date_added ?? null,
        ownerEmail: line.owner_email ?? null,
        texts: { profile: line.profile, howToVote: line.how_to_vote },
        pauses: storedPauses(line),
      };
    });
}

/** Of another listing, or of this one before a loss: it goes on since its beginning. */
function pauseField(clock: Clock) {
  return z.object(
    {
      from: pastMoment(clock),
      until: z.iso
        .datetime({ offset: true, error: 'must be a time such as 2026-11-21T08:00:00.000Z' })
        .transform((text) => new Date(text))
        .nullish(),
      text: shownText(LONGEST_PAUSE_TEXT).nullish(),
    },
    OBJECT_ERROR,
  );
}

function pausedTimeField(clock: Clock) {
  return z
    .object({ from: pastMoment(clock), until: pastMoment(clock) }, OBJECT_ERROR)
    .refine(({ from, until }) => from < until, { error: 'must end after it begins' });
}

function storedPauses({
  pause,
  earlier_pauses: earlier,
}: {
  pause?: z.output<ReturnType<typeof pauseField>> | null | undefined;
  earlier_pauses?: PausedTime[] | null | undefined;
}): ServerRecord['pauses'] {
  return {
    ...(pause
      ? {
          listingPause: {
            at: pause.from,
            ...(pause.until ? { until: pause.until } : {}),
            ...(pause.text ? { text: pause.text } : {}),
          },
        }
      : {}),
    ...(earlier?.length
      ? { earlierPauses: earlier.toSorted((a, b) => a.from.getTime() - b.from.getTime()) }
      : {}),
  };
}

/** Null with an issue, if the game can have no second address. */
function secondOfLine(
  line: { game: string | null; second_address: string | null; second_port: number | null },
  context: z.RefinementCtx,
): SecondSettings | null {
  const { game, second_address: secondAddress, second_port: secondPort } = line;
  try {
    return secondSettings({ game, secondAddress, secondPort });
  } catch (error) {
    if (!(error instanceof InvalidDocumentError)) throw error;
    context.addIssue({ code: 'custom', path: ['second_address'], message: error.message });
    return null;
  }
}

/** Derived from the line, so a line that is imported twice lists one server. */
function madeId({ address, port, name }: ServerSettings, slug: string | null): ObjectId {
  const identity = slug === null ? { address, port, name } : { slug };
  return new ObjectId(createHash('sha256').update(JSON.stringify(identity)).digest().subarray(0, 12));
}

/** A server that exists does not change. */
export function serverImporter(deps: HistoryDeps, by: string): Importer<ServerRecord> {
  const earlier: EarlierLines = { idBySlug: new Map(), serverById: new Map() };
  return {
    schema: serverSchema(deps.clock),
    async check(batch) {
      const existing = await existingServers(deps, batch);
      return Promise.all(
        batch.map(
          async (record) => refusalOf(record, existing, earlier) ?? (await refusedTexts(deps, record.texts)),
        ),
      );
    },
    async write(batch) {
      const results: LineResult[] = [];
      // `nextRank` counts all servers, so it is called only once per batch.
      let rank = await nextRank(deps.servers);
      for (const record of batch) {
        const result = await writeServer(deps, record, rank, by);
        if (result === 'imported') rank += 1;
        results.push(result);
      }
      return results;
    },
    async finish() {},
  };
}

type EarlierLines = { idBySlug: Map<string, string>; serverById: Map<string, string> };

type ExistingServer = Pick<Server, 'slug' | 'slugs' | 'removedAt'>;

async function existingServers(
  { servers }: HistoryDeps,
  batch: ServerRecord[],
): Promise<{ byId: Map<string, ExistingServer>; idBySlug: Map<string, string> }> {
  const ids = batch.map(({ serverId }) => serverId);
  const slugs = batch.map(({ slug }) => slug).filter((slug) => slug !== null);
  const found = await servers
    .find(
      { $or: [{ _id: { $in: ids } }, { slugs: { $in: slugs } }, { slug: { $in: slugs } }] },
      { projection: { slug: 1, slugs: 1, removedAt: 1 } },
    )
    .toArray();
  return {
    byId: new Map(found.map((server) => [server._id.toHexString(), server])),
    idBySlug: new Map(
      found.flatMap((server) => slugsOf(server).map((slug) => [slug, server._id.toHexString()])),
    ),
  };
}

function refusalOf(
  { serverId, slug, settings }: ServerRecord,
  { byId, idBySlug }: Awaited<ReturnType<typeof existingServers>>,
  earlier: EarlierLines,
): string | null {
  const id = serverId.toHexString();
  const { name, address, port } = settings;
  const server = `${name} at ${hostAndPort(address, port)}`;
  const other = earlier.serverById.get(id);
  if (other !== undefined && other !== server) return `an earlier line has the same id or slug: ${other}`;
  earlier.serverById.set(id, server);
  const existing = byId.get(id);
  if (existing) {
    if (existing.removedAt) return 'this server was removed here, and its id is never used again';
    return slug === null || slugsOf(existing).includes(slug)
      ? null
      : `the id belongs to the server ${existing.slug}`;
  }
  if (slug === null) return null;
  const owner = idBySlug.get(slug) ?? earlier.idBySlug.get(slug);
  if (owner !== undefined && owner !== id) return slugTaken(slug);
  earlier.idBySlug.set(slug, id);
  return null;
}

function slugTaken(slug: string): string {
  return `the slug ${slug} is taken by another server`;
}

async function writeServer(
  deps: HistoryDeps,
  record: ServerRecord,
  rankPosition: number,
  by: string,
): Promise<LineResult> {
  const { servers, clock } = deps;
  const { serverId, settings, ownerEmail } = record;
  const existing = await servers.findOne({ _id: serverId });
  if (existing) {
    await completeAudit(deps, existing, by);
    return 'already-there';
  }
  const now = clock.now();
  const server = {
    ...newListing({ _id: serverId, settings, now, listedAt: record.listedAt ?? now, rankPosition }),
    ...(ownerEmail ? { ownerEmail } : {}),
    ...(await storedTexts(deps, record.texts)),
    ...record.pauses,
  };
  if (record.pauses.listingPause) Object.assign(server.probe, { nextAt: NEVER_PROBED, urgent: false });
  let slug = record.slug;
  if (slug === null) {
    slug = await insertUnderFreeSlug(servers, server);
    if (slug === null) return 'already-there';
  } else {
    const taken = await insertListing(servers, { ...server, slug });
    if (taken) return taken === 'id' ? 'already-there' : { refused: slugTaken(slug) };
  }
  const details = { ...settings, slug };
  // The entry has the server's id, so concurrent imports write only one.
  await recordAuditOnce(deps, serverId, { by, action: 'server.import', serverId, details });
  return 'imported';
}

/** An earlier import may have died after it listed the server. */
async function completeAudit(deps: HistoryDeps, existing: WithId<Server>, by: string): Promise<void> {
  const { _id, name, address, port, queryPort, game, countryCode, isPremium, slug } = existing;
  const listing = { serverId: _id, action: { $in: ['server.add', 'server.import'] } };
  if (await deps.auditLog.findOne(listing, { projection: { _id: 1 } })) return;
  const second = secondSettingsOf(existing);
  const details = { name, address, port, queryPort, game, ...second, countryCode, isPremium, slug };
  await recordAuditOnce(deps, _id, { by, action: 'server.import', serverId: _id, details });
}
