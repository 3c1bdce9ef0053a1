import { randomInt } from 'node:crypto';
import { ObjectId, type WithId } from 'mongodb';
import type { z } from 'zod';
import { defineMessage, t } from '../language/t.ts';
import { AppError } from '../platform/app-error.ts';
import { checked, InvalidDocumentError } from '../platform/document.ts';
import { parseInput } from '../platform/input.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import type { ServersDeps } from './deps.ts';
import {
  type AddressOwner,
  findAddressOwner,
  findSecondOwner,
  type ServerAddress,
} from './listed-addresses.ts';
import { secondAddressOf, secondSettings } from './second-address.ts';
import type { ServerDraft } from './server-draft.ts';
import { newServer } from './server-settings.ts';

export const MOST_DRAFTS = 10;

const draftSettings = newServer.omit({ isPremium: true });
export type DraftSettings = z.input<typeof draftSettings>;

/** Only characters that look different from each other in the fonts of games. */
const CODE_LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';
const CODE_LENGTH = 10;

/** `tp-` and 49 random bits. The code is short, so that it fits into the message of a game server. */
export function makeOwnershipCode(): string {
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

/** @throws {InvalidDocumentError} if a server with an owner is listed at an address, or any other at the second one */
async function requireFree(
  deps: ServersDeps,
  { second, ...first }: ServerAddress & { second: ServerAddress | null },
  ownerId: ObjectId,
): Promise<void> {
  const owner = await findAddressOwner(deps, first, ownerId);
  refuseTaken('address', owner.kind);
  if (second) refuseTaken('secondAddress', await findSecondOwner(deps, second, owner, ownerId));
}

function refuseTaken(field: string, kind: AddressOwner['kind']): void {
  if (kind === 'own')
    throw new InvalidDocumentError({ [field]: t('You have listed this address and port already.') });
  if (kind === 'other') throw new InvalidDocumentError({ [field]: t(TAKEN) });
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
  const parsed = parseInput(draftSettings, input);
  const settings = { ...parsed, ...secondSettings(parsed) };
  const { address, port } = settings;
  await requireFree(deps, { address, port, second: secondAddressOf(settings) }, ownerId);
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
