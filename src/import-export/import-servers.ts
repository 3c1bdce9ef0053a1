import { createHash } from 'node:crypto';
import { type Collection, ObjectId, type WithId } from 'mongodb';
import { z } from 'zod';
import type { AuditEntry } from '../platform/audit/audit-log.ts';
import type { Clock } from '../platform/clock.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import { lastRank, newListing } from '../servers/listing.ts';
import type { Server } from '../servers/server.ts';
import { newServer, type ServerSettings } from '../servers/server-settings.ts';
import { insertListing, insertUnderFreeSlug, slugsOf } from '../servers/server-slugs.ts';
import { isId } from '../servers/slug.ts';
import type { Importer, LineResult } from './import-lines.ts';
import { OBJECT_ERROR, pastMoment, serverIdField } from './record-fields.ts';

/** A server that was listed elsewhere. */
type ServerRecord = {
  serverId: ObjectId;
  settings: ServerSettings;
  slug: string | null;
  listedAt: Date | null;
  ownerEmail: string | null;
};

export type ServerImporting = {
  servers: Collection<Server>;
  auditLog: Collection<AuditEntry>;
  clock: Clock;
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
 * A line: `{"name", "address", "connection_port"}` and, where they are known, `"server_id"`, `"slug"`,
 * `"query_port"`, `"game"`, `"country_code"`, `"is_premium"`, `"date_added"`, `"owner_email"`.
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
        query_port: shape.queryPort,
        game: shape.game,
        country_code: shape.countryCode,
        is_premium: z.boolean(premiumError).nullish(),
        date_added: pastMoment(clock).nullish(),
        owner_email: z.email(emailError).max(254, emailError).toLowerCase().nullish(),
      },
      OBJECT_ERROR,
    )
    .transform((line): ServerRecord => {
      const settings: ServerSettings = {
        name: line.name,
        address: line.address,
        port: line.connection_port,
        queryPort: line.query_port,
        game: line.game,
        countryCode: line.country_code,
        isPremium: line.is_premium ?? false,
      };
      return {
        serverId: line.server_id ?? madeId(settings, line.slug ?? null),
        settings,
        slug: line.slug ?? null,
        listedAt: line.date_added ?? null,
        ownerEmail: line.owner_email ?? null,
      };
    });
}

/**
 * The id of a server whose line has none: the same line gets the same id again, so that importing it twice, or
 * on two machines at once, lists it once.
 */
function madeId({ address, port, name }: ServerSettings, slug: string | null): ObjectId {
  const identity = slug === null ? { address, port, name } : { slug };
  return new ObjectId(createHash('sha256').update(JSON.stringify(identity)).digest().subarray(0, 12));
}

/**
 * Imports servers with the id, the slug and the date of listing that they had. One whose id is listed already
 * stays as it is.
 */
export function serverImporter(deps: ServerImporting, by: string): Importer<ServerRecord> {
  const asked: Asked = { idBySlug: new Map(), placeById: new Map() };
  return {
    schema: serverSchema(deps.clock),
    async check(batch) {
      const existing = await standingServers(deps, batch);
      return batch.map((record) => whyNot(record, existing, asked));
    },
    async write(batch) {
      const ends: LineResult[] = [];
      // Counted once: for each line it would take ever longer.
      let place = await lastRank(deps.servers);
      for (const record of batch) {
        const end = await writeServer(deps, record, place, by);
        if (end === 'imported') place += 1;
        ends.push(end);
      }
      return ends;
    },
    async finish() {},
  };
}

/** What the lines before have asked for: slugs, and where the server of each id is. */
type Asked = { idBySlug: Map<string, string>; placeById: Map<string, string> };

type ExistingServer = Pick<Server, 'slug' | 'slugs' | 'removedAt'>;

/** Those servers that have an id of the batch, or have or had a slug of it: by id, and the ids by slug. */
async function standingServers(
  { servers }: ServerImporting,
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

function whyNot(
  { serverId, slug, settings }: ServerRecord,
  { byId, idBySlug }: Awaited<ReturnType<typeof standingServers>>,
  asked: Asked,
): string | null {
  const id = serverId.toHexString();
  const { name, address, port } = settings;
  const place = `${name} at ${address}:${port}`;
  const other = asked.placeById.get(id);
  if (other !== undefined && other !== place) return `an earlier line has the same id or slug: ${other}`;
  asked.placeById.set(id, place);
  const existing = byId.get(id);
  if (existing) {
    if (existing.removedAt) return 'this server was removed here, and its id is never used again';
    return slug === null || slugsOf(existing).includes(slug)
      ? null
      : `the id belongs to the server ${existing.slug}`;
  }
  if (slug === null) return null;
  const owner = idBySlug.get(slug) ?? asked.idBySlug.get(slug);
  if (owner !== undefined && owner !== id) return slugTaken(slug);
  asked.idBySlug.set(slug, id);
  return null;
}

function slugTaken(slug: string): string {
  return `the slug ${slug} is taken by another server`;
}

async function writeServer(
  deps: ServerImporting,
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
  };
  let slug = record.slug;
  if (slug === null) {
    slug = await insertUnderFreeSlug(servers, server);
    if (slug === null) return 'already-there';
  } else {
    const taken = await insertListing(servers, { ...server, slug });
    if (taken) return taken === 'id' ? 'already-there' : { refused: slugTaken(slug) };
  }
  await auditImport(deps, serverId, { ...settings, slug }, by);
  return 'imported';
}

/** A run that died between the two left a server of which the audit log does not say how it was listed. */
async function completeAudit(deps: ServerImporting, existing: WithId<Server>, by: string): Promise<void> {
  const { _id, name, address, port, queryPort, game, countryCode, isPremium, slug } = existing;
  const listing = { serverId: _id, action: { $in: ['server.add', 'server.import'] } };
  if (await deps.auditLog.findOne(listing, { projection: { _id: 1 } })) return;
  const details = { name, address, port, queryPort, game, countryCode, isPremium, slug };
  await auditImport(deps, _id, details, by);
}

/** The entry has the server's own id: of imports that race, one writes it. */
async function auditImport(
  { auditLog, clock }: ServerImporting,
  serverId: ObjectId,
  details: AuditEntry['details'],
  by: string,
): Promise<void> {
  const entry = { _id: serverId, at: clock.now(), by, action: 'server.import', serverId, details };
  await auditLog.insertOne(entry).catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error;
  });
}
