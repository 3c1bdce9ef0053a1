import type { Collection } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { z } from 'zod';
import { type AuditEntry, recordAudit } from '../platform/audit/audit-log.ts';
import type { Clock } from '../platform/clock.ts';
import { InvalidDocumentError, type Nested } from '../platform/document.ts';
import { parseInput } from '../platform/input.ts';
import { shownText } from '../platform/text.ts';
import type { Server } from './server.ts';

const tagDefinition = {
  /** The tag in URLs and in servers' profiles: `mini-games`. */
  key: { type: String, required: true, match: /^[a-z0-9]+(-[a-z0-9]+)*$/ },
  name: { type: String, required: true, maxlength: 60 },
} as const;

const tagListDefinition = {
  _id: { type: String, required: true },
  tags: { type: [new Schema(tagDefinition, { _id: false })], required: true },
} as const;

/** A single document. If it does not exist, the default list applies. */
export const tagListSchema = new Schema(tagListDefinition, { collection: 'tag_lists' });

export type Tag = Nested<typeof tagDefinition>;
export type TagList = Omit<InferRawDocType<typeof tagListDefinition>, 'tags'> & { tags: Tag[] };

const LIST = 'tags';
const MOST_TAGS = 200;
export const LONGEST_TAG = 30;

const DEFAULT_TAGS: Tag[] = [
  'Adventure',
  'Anarchy',
  'Building',
  'Casual',
  'Co-op',
  'Creative',
  'Cross-play',
  'Economy',
  'Factions',
  'Family friendly',
  'Hardcore',
  'Lifesteal',
  'Minigames',
  'Modded',
  'Parkour',
  'Prison',
  'PvE',
  'PvP',
  'Quests',
  'Roleplay',
  'Skyblock',
  'SMP',
  'Survival',
  'Towny',
  'Vanilla',
  'Whitelist',
].map((name) => ({ key: keyOf(name), name }));

type Tags = { tagLists: Collection<TagList> };
type ChangeDeps = Tags & { servers: Collection<Server>; auditLog: Collection<AuditEntry>; clock: Clock };

/** Sorted by name. */
export async function readTags({ tagLists }: Tags): Promise<Tag[]> {
  const list = await tagLists.findOne({ _id: LIST });
  return (list?.tags ?? DEFAULT_TAGS).toSorted((one, other) => one.name.localeCompare(other.name, 'en'));
}

const naming = z.object({ name: shownText(LONGEST_TAG) });

/**
 * @throws {InvalidDocumentError} for an invalid name, a name without Latin letters or digits, a tag that exists
 *   already, or a full list
 */
export async function addTag(deps: ChangeDeps, input: { name: string }, by: string): Promise<Tag> {
  const { name } = parseInput(naming, input);
  const tag = { key: keyOf(name), name };
  if (tag.key === '')
    throw new InvalidDocumentError({ name: 'The name must have a Latin letter or a digit.' });
  await materialise(deps);
  const { matchedCount } = await deps.tagLists.updateOne(
    { _id: LIST, 'tags.key': { $ne: tag.key }, [`tags.${MOST_TAGS - 1}`]: { $exists: false } },
    { $push: { tags: tag } },
  );
  if (matchedCount === 0) {
    const isKnown = (await readTags(deps)).some(({ key }) => key === tag.key);
    const error = isKnown ? `The tag “${name}” exists.` : `The list is full: ${MOST_TAGS} tags.`;
    throw new InvalidDocumentError({ name: error });
  }
  await recordAudit(deps, { by, action: 'tag.add', serverId: null, details: { ...tag } });
  return tag;
}

/**
 * Also from all servers, whose number it returns; null when there is no such tag. A repeated call completes an
 * interrupted one. `key`: the tag's key or name.
 */
export async function removeTag(deps: ChangeDeps, key: string, by: string) {
  const wanted = keyOf(key);
  const tag = (await readTags(deps)).find((one) => one.key === wanted);
  if (!tag) return null;
  await materialise(deps);
  // The servers come first, so that an interrupted removal can be repeated.
  const pulled = await deps.servers.updateMany(
    { 'profile.tags': wanted },
    { $pull: { 'profile.tags': wanted } },
  );
  await deps.tagLists.updateOne({ _id: LIST }, { $pull: { tags: { key: wanted } } });
  const details = { ...tag, servers: pulled.modifiedCount };
  await recordAudit(deps, { by, action: 'tag.remove', serverId: null, details });
  return { tag, servers: pulled.modifiedCount };
}

async function materialise({ tagLists }: Tags): Promise<void> {
  await tagLists.updateOne({ _id: LIST }, { $setOnInsert: { tags: DEFAULT_TAGS } }, { upsert: true });
}

function keyOf(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}
