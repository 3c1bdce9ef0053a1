import { randomInt } from 'node:crypto';
import { type Collection, ObjectId, type WithId } from 'mongodb';
import type { z } from 'zod';
import type { Clock } from '../platform/clock.ts';
import { checked, InvalidDocumentError } from '../platform/document.ts';
import { parseInput } from '../platform/input.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import { addressHolder, type ServerAddress } from './listed-addresses.ts';
import type { Server } from './server.ts';
import type { ServerDraft } from './server-draft.ts';
import { newServer, serverSettings } from './server-settings.ts';

export type Drafting = {
  servers: Collection<Server>;
  serverDrafts: Collection<ServerDraft>;
  clock: Clock;
};

/** How many drafts a user has at most. */
export const MOST_DRAFTS = 10;

/** What an owner says of a server that is to be listed. */
const draftSettings = newServer.omit({ isPremium: true });
export type DraftSettings = z.input<typeof draftSettings>;

const place = serverSettings.pick({ address: true, port: true });

/** No letters that look like digits, and none that a game's fonts draw alike. */
const CODE_LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';
const CODE_LENGTH = 10;

/** `tp-` and 49 random bits: short enough for the message of a game server. */
function makeProofCode(): string {
  return `tp-${Array.from({ length: CODE_LENGTH }, () => CODE_LETTERS[randomInt(CODE_LETTERS.length)]).join('')}`;
}

/** The user has as many drafts as a user may have. */
export class TooManyDraftsError extends Error {
  readonly code = 'too-many-drafts';

  constructor() {
    super(`There are ${MOST_DRAFTS} drafts already.`);
    this.name = 'TooManyDraftsError';
  }
}

const TAKEN =
  'This address and port are listed already and have an owner. If the server is yours, ask the operator of this listing.';

/**
 * Sees that nobody else has a place.
 *
 * @throws {InvalidDocumentError} naming the address
 */
async function requireFree(deps: Drafting, wanted: ServerAddress, ownerId: ObjectId): Promise<void> {
  const { kind } = await addressHolder(deps, wanted, ownerId);
  if (kind === 'own')
    throw new InvalidDocumentError({ address: 'You have listed this address and port already.' });
  if (kind === 'other') throw new InvalidDocumentError({ address: TAKEN });
}

/**
 * Keeps what an owner says of a server until it is proved to be theirs. The same address and port again change the
 * draft that there is; its code stays.
 *
 * @param draftId - the draft to change; without it one is made
 * @returns null when there is no such draft of this user's
 * @throws {InvalidDocumentError} with one sentence for each wrong field; {TooManyDraftsError}
 */
export async function saveDraft(
  deps: Drafting,
  ownerId: ObjectId,
  input: DraftSettings,
  draftId?: ObjectId,
): Promise<WithId<ServerDraft> | null> {
  const settings = parseInput(draftSettings, input);
  await requireFree(deps, settings, ownerId);
  const { address, port } = settings;
  const which = draftId ? { _id: draftId } : { address, port };
  const changed = await deps.serverDrafts
    .findOneAndUpdate(
      { ownerId, slot: { $exists: true }, ...which },
      { $set: { ...settings, check: null } },
      { returnDocument: 'after' },
    )
    .catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
      throw new InvalidDocumentError({ address: 'You have another draft of this address and port.' });
    });
  return changed || draftId ? changed : insertDraft(deps, ownerId, settings);
}

async function insertDraft(
  deps: Drafting,
  ownerId: ObjectId,
  settings: z.output<typeof draftSettings>,
): Promise<WithId<ServerDraft>> {
  const { serverDrafts, clock } = deps;
  for (;;) {
    const existing = await listDrafts(deps, ownerId);
    const same = existing.find(({ address, port }) => address === settings.address && port === settings.port);
    // The same form was sent twice at once.
    if (same) return same;
    const taken = new Set(existing.map(({ slot }) => slot));
    const slot = Array.from({ length: MOST_DRAFTS }, (_, i) => i).find((i) => !taken.has(i));
    if (slot === undefined) throw new TooManyDraftsError();
    const draft = await checked<ServerDraft>(serverDrafts, {
      _id: new ObjectId(),
      ownerId,
      slot,
      ...settings,
      code: makeProofCode(),
      createdAt: clock.now(),
      check: null,
    });
    try {
      await serverDrafts.insertOne(draft);
      return draft;
    } catch (error) {
      // Another one took the slot, or is of the same place.
      if (!isDuplicateKey(error)) throw error;
    }
  }
}

/** A user's drafts of new servers, oldest first. */
export function listDrafts(
  { serverDrafts }: Pick<Drafting, 'serverDrafts'>,
  ownerId: ObjectId,
): Promise<WithId<ServerDraft>[]> {
  return serverDrafts
    .find({ ownerId, slot: { $gte: 0 } })
    .sort({ slot: 1 })
    .toArray();
}

/** A draft of a new server that belongs to this user; null when there is none. */
export function findDraft(
  { serverDrafts }: Pick<Drafting, 'serverDrafts'>,
  ownerId: ObjectId,
  draftId: ObjectId,
): Promise<WithId<ServerDraft> | null> {
  return serverDrafts.findOne({ _id: draftId, ownerId, slot: { $gte: 0 } });
}

/** Forgets a draft. Returns whether there was one. */
export async function discardDraft(
  { serverDrafts }: Pick<Drafting, 'serverDrafts'>,
  ownerId: ObjectId,
  draftId: ObjectId,
): Promise<boolean> {
  const { deletedCount } = await serverDrafts.deleteOne({ _id: draftId, ownerId, slot: { $gte: 0 } });
  return deletedCount === 1;
}

/**
 * Keeps the place that a listed server is to move to until it is proved to be its owner's: otherwise somebody could
 * prove a server of their own and then point it to another's. A place wished for before is forgotten.
 *
 * @param ownerId - whose proof is asked for
 * @throws {InvalidDocumentError} with one sentence for each wrong field
 */
export async function saveMove(
  deps: Drafting,
  server: WithId<Server>,
  input: z.input<typeof place>,
  ownerId: ObjectId,
): Promise<WithId<ServerDraft>> {
  const { serverDrafts, clock } = deps;
  const wanted = parseInput(place, input);
  if (wanted.address === server.address && wanted.port === server.port)
    throw new InvalidDocumentError({ address: 'This is where the server is already.' });
  const holder = await addressHolder(deps, wanted, ownerId);
  if (holder.kind === 'own')
    throw new InvalidDocumentError({ address: 'Another server of yours is listed there.' });
  if (holder.kind !== 'nobody')
    throw new InvalidDocumentError({
      address: 'Another server is listed there. If it is yours, ask the operator of this listing.',
    });
  const { name, game, queryPort, countryCode } = server;
  const move = await checked<ServerDraft>(serverDrafts, {
    _id: new ObjectId(),
    ownerId,
    serverId: server._id,
    name,
    game: game ?? null,
    queryPort: queryPort ?? null,
    countryCode: countryCode ?? null,
    ...wanted,
    code: makeProofCode(),
    createdAt: clock.now(),
    check: null,
  });
  const { _id, ...rest } = move;
  const save = () =>
    serverDrafts.findOneAndUpdate(
      { serverId: server._id },
      { $set: rest, $setOnInsert: { _id } },
      { upsert: true, returnDocument: 'after' },
    );
  const saved = await save().catch((error: unknown) => {
    // The same form was sent twice at once: the other one has made it.
    if (isDuplicateKey(error)) return save();
    throw error;
  });
  return saved ?? move;
}

/** Where a listed server is to move to; null when nowhere. */
export function findMove(
  { serverDrafts }: Pick<Drafting, 'serverDrafts'>,
  serverId: ObjectId,
): Promise<WithId<ServerDraft> | null> {
  return serverDrafts.findOne({ serverId });
}

/** Forgets where a server was to move to. */
export async function discardMove(
  { serverDrafts }: Pick<Drafting, 'serverDrafts'>,
  serverId: ObjectId,
): Promise<void> {
  await serverDrafts.deleteOne({ serverId });
}
