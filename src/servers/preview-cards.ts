import type { Collection, ObjectId } from 'mongodb';
import { after, type Clock, DAY, HOUR, MINUTE } from '../platform/clock.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import type { PreviewCard } from './preview-card.ts';

export type Cards = { previewCards: Collection<PreviewCard>; clock: Clock };

/** A card whose name, address, status or look changed is drawn again when it is this old, at the next request. */
const REDRAWN_AFTER_MS = MINUTE;
/** A card of this age is drawn again because its figures may be old. Chats store previews for longer anyway. */
const FIGURES_MS = HOUR;

/**
 * The most cards that are stored, of some 40 KB each; the cards without a request for the longest time are deleted
 * first.
 */
export const MOST_CARDS = 20_000;
const MOST_A_ROUND = 1_000;

/** The state of a card without its bytes. */
export type CardState = Pick<PreviewCard, 'dueAt' | 'failedUntil' | 'drawnKey' | 'drawnAt' | 'askedAt'>;

/** The card of a server with its bytes; null when it was never requested. */
export function readCard(
  { previewCards }: Pick<Cards, 'previewCards'>,
  serverId: ObjectId,
): Promise<PreviewCard | null> {
  return previewCards.findOne({ _id: serverId }, { promoteBuffers: true });
}

/** The state of a server's card, without its bytes; null if the card was never requested. */
export function readCardState(
  { previewCards }: Pick<Cards, 'previewCards'>,
  serverId: ObjectId,
): Promise<CardState | null> {
  return previewCards.findOne({ _id: serverId }, { projection: { png: 0 } });
}

/**
 * Whether a card should be drawn for a request now: there is none, it shows another name, address, status or look, or
 * its figures are an hour old. False while it is already due, and for a while after it failed.
 *
 * @param key - of the card as it should be
 */
export function isOutdated(card: CardState | null, key: string, now: Date): boolean {
  if (!card) return true;
  const { dueAt, failedUntil, drawnAt, drawnKey } = card;
  if (dueAt || (failedUntil && failedUntil > now)) return false;
  if (!drawnAt) return true;
  return drawnAt <= after(now, -(drawnKey === key ? FIGURES_MS : REDRAWN_AFTER_MS));
}

/** Marks a card as due. The mark alone makes a worker draw the card, because a job may be lost. */
export async function markCardDue(
  { previewCards, clock }: Cards,
  serverId: ObjectId,
  key: string,
): Promise<void> {
  const now = clock.now();
  const mark = () =>
    previewCards.updateOne(
      { _id: serverId },
      { $set: { key, dueAt: now, askedAt: now, attempts: 0 } },
      { upsert: true },
    );
  await mark().catch((error: unknown) => {
    // If another process inserted it at the same moment, it is updated now.
    if (isDuplicateKey(error)) return mark();
    throw error;
  });
}

/** Notes once a day that a card is still requested. */
export async function noteAsked(
  { previewCards, clock }: Cards,
  serverId: ObjectId,
  { askedAt }: CardState,
): Promise<void> {
  const now = clock.now();
  if (askedAt <= after(now, -DAY))
    await previewCards.updateOne({ _id: serverId }, { $set: { askedAt: now } });
}

/** The servers whose cards are due, including those whose jobs were lost. */
export function dueCards({ previewCards, clock }: Cards): Promise<ObjectId[]> {
  return previewCards
    .find({ dueAt: { $lte: clock.now() } }, { projection: { _id: 1 } })
    .sort({ dueAt: 1 })
    .limit(MOST_A_ROUND)
    .map(({ _id }) => _id)
    .toArray();
}

/** Deletes the cards over `most`, up to 1,000 in a call. Returns their number. */
export async function trimCards({ previewCards }: Pick<Cards, 'previewCards'>, most = MOST_CARDS) {
  const over = Math.min(MOST_A_ROUND, (await previewCards.estimatedDocumentCount()) - most);
  if (over <= 0) return 0;
  const oldest = await previewCards
    .find({}, { projection: { _id: 1 } })
    .sort({ askedAt: 1 })
    .limit(over)
    .map(({ _id }) => _id)
    .toArray();
  return (await previewCards.deleteMany({ _id: { $in: oldest } })).deletedCount;
}
