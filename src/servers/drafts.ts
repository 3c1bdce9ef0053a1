import { randomInt } from 'node:crypto';
import { ObjectId, type WithId } from 'mongodb';
import type { z } from 'zod';
import { defineMessage, t } from '../language/t.ts';
import { AppError } from '../platform/app-error.ts';
import { checked, InvalidDocumentError } from '../platform/document.ts';
import { parseInput } from '../platform/input.ts';
import { isDuplicateKey, retryOnDuplicateKey } from '../platform/mongo.ts';
import type { ServersDeps } from './deps.ts';
import { findAddressOwner, type ServerAddress } from './listed-addresses.ts';
import type { Server } from './server.ts';
import type { ServerDraft } from './server-draft.ts';
import { newServer, serverSettings } from './server-settings.ts';

export const MOST_DRAFTS = 10;

const draftSettings = newServer.omit({ isPremium: true });
export type DraftSettings = z.input<typeof draftSettings>;

const addressSettings = serverSettings.pick({ address: true, port: true });

/** Only characters that look different from each other in the fonts of games. */
const CODE_LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';
const CODE_LENGTH = 10;

/** `tp-` and 49 random bits. The code is short, so that it fits into the message of a game server. */
function makeOwnershipCode(): string {
  return `tp-${Array.from({ length: CODE_LENGTH }, () => CODE_LETTERS[randomInt(CODE_LETTERS.length)]).join('')}`;
}

export function recordName(address: string): string {
  return `_tallyport.${address}`;
}

export function recordText(code: string): string {
  return `tallyport-verify=${code}`;
}

export class TooManyDraftsError extends AppError {}

/** Only an operator can decide about the address of another user's server. */
export const TAKEN = defineMessage(
  'This address and port are listed already and have an owner. If the server is yours, ask the operator of this listing.',
);
export const MOVE_TAKEN = defineMessage(
  'Another server is listed there. If it is yours, ask the operator of this listing.',
);

/** @throws {InvalidDocumentError} for `address`, if a server with an owner is listed there */
async function requireFree(deps: ServersDeps, wanted: ServerAddress, ownerId: ObjectId): Promise<void> {
  const { kind } = await findAddressOwner(deps, wanted, ownerId);
  if (kind === 'own')
    throw new InvalidDocumentError({ address: t('You have listed this address and port already.') });
  if (kind === 'other') throw new InvalidDocumentError({ address: t(TAKEN) });
}

/**
 * Without `draftId`: a draft of the user with the same address and port is changed and keeps its code; otherwise a new
 * one is made. Null when the user has no draft with the id `draftId`.
 *
 * @throws {InvalidDocumentError} with one sentence for each wrong field; {TooManyDraftsError} when the user has
 *   `MOST_DRAFTS` drafts
 */
export async function saveDraft(
  deps: ServersDeps,
  ownerId: ObjectId,
  input: DraftSettings,
  draftId?: ObjectId,
): Promise<WithId<ServerDraft> | null> {
  const settings = parseInput(draftSettings, input);
  await requireFree(deps, settings, ownerId);
  const { address, port } = settings;
  const target = draftId ? { _id: draftId } : { address, port };
  const changed = await deps.serverDrafts
    .findOneAndUpdate(
      { ownerId, slot: { $exists: true }, ...target },
      { $set: { ...settings, check: null } },
      { returnDocument: 'after' },
    )
    .catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
      throw new InvalidDocumentError({ address: t('You have another draft of this address and port.') });
    });
  return changed || draftId ? changed : insertDraft(deps, ownerId, settings);
}

async function insertDraft(
  deps: ServersDeps,
  ownerId: ObjectId,
  settings: z.output<typeof draftSettings>,
): Promise<WithId<ServerDraft>> {
  const { serverDrafts, clock } = deps;
  for (;;) {
    const existing = await listDrafts(deps, ownerId);
    const same = existing.find(({ address, port }) => address === settings.address && port === settings.port);
    // The same form was sent twice: return the draft of the other request.
    if (same) return same;
    const taken = new Set(existing.map(({ slot }) => slot));
    const slot = Array.from({ length: MOST_DRAFTS }, (_, i) => i).find((i) => !taken.has(i));
    if (slot === undefined) throw new TooManyDraftsError(`There are ${MOST_DRAFTS} drafts already.`);
    const draft = await checked<ServerDraft>(serverDrafts, {
      _id: new ObjectId(),
      ownerId,
      slot,
      ...settings,
      code: makeOwnershipCode(),
      createdAt: clock.now(),
      check: null,
    });
    try {
      await serverDrafts.insertOne(draft);
      return draft;
    } catch (error) {
      // If another draft has taken the slot or has the same address: the next try finds out which.
      if (!isDuplicateKey(error)) throw error;
    }
  }
}

export function listDrafts({ serverDrafts }: ServersDeps, ownerId: ObjectId): Promise<WithId<ServerDraft>[]> {
  return serverDrafts
    .find({ ownerId, slot: { $gte: 0 } })
    .sort({ slot: 1 })
    .toArray();
}

export function findDraft({ serverDrafts }: ServersDeps, ownerId: ObjectId, draftId: ObjectId) {
  return serverDrafts.findOne({ _id: draftId, ownerId, slot: { $gte: 0 } });
}

export async function discardDraft({ serverDrafts }: ServersDeps, ownerId: ObjectId, draftId: ObjectId) {
  const { deletedCount } = await serverDrafts.deleteOne({ _id: draftId, ownerId, slot: { $gte: 0 } });
  return deletedCount === 1;
}

/**
 * Stores a new address until `ownerId` proves that it is theirs; it replaces an earlier unproven one. Without the
 * proof, a user could move their own server to another user's address.
 *
 * @throws {InvalidDocumentError} with one sentence for each wrong field
 */
export async function saveMove(
  deps: ServersDeps,
  server: WithId<Server>,
  input: z.input<typeof addressSettings>,
  ownerId: ObjectId,
): Promise<WithId<ServerDraft>> {
  const { serverDrafts, clock } = deps;
  const wanted = parseInput(addressSettings, input);
  if (wanted.address === server.address && wanted.port === server.port)
    throw new InvalidDocumentError({ address: t('This is where the server is already.') });
  const addressOwner = await findAddressOwner(deps, wanted, ownerId);
  if (addressOwner.kind === 'own')
    throw new InvalidDocumentError({ address: t('Another server of yours is listed there.') });
  if (addressOwner.kind !== 'nobody') throw new InvalidDocumentError({ address: t(MOVE_TAKEN) });
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
    code: makeOwnershipCode(),
    createdAt: clock.now(),
    check: null,
  });
  const { _id, ...rest } = move;
  const saved = await retryOnDuplicateKey(() =>
    serverDrafts.findOneAndUpdate(
      { serverId: server._id },
      { $set: rest, $setOnInsert: { _id } },
      { upsert: true, returnDocument: 'after' },
    ),
  );
  return saved ?? move;
}

/** Null when no new address waits for its proof. */
export function findMove({ serverDrafts }: ServersDeps, serverId: ObjectId) {
  return serverDrafts.findOne({ serverId });
}

export async function discardMove({ serverDrafts }: ServersDeps, serverId: ObjectId): Promise<void> {
  await serverDrafts.deleteOne({ serverId });
}
