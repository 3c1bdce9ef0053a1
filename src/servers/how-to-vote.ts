import type { ObjectId } from 'mongodb';
import { z } from 'zod';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { parseInput } from '../platform/input.ts';
import { longText } from '../platform/text.ts';
import type { ServersDeps } from './deps.ts';

/** In code points. */
export const LONGEST_HOW_TO_VOTE = 2_000;

const schema = z.object({ howToVote: longText(LONGEST_HOW_TO_VOTE) });

/**
 * Validates the owner's text about voting: plain text with line breaks.
 *
 * @throws {InvalidDocumentError} for a text that is too long or has control characters
 */
export function readHowToVote(text: string): string {
  return parseInput(schema, { howToVote: text }).howToVote;
}

/**
 * Stores the text that tells players how to vote for a server. An empty text removes it.
 *
 * @throws {InvalidDocumentError} for a text that is too long or has control characters
 */
export async function setHowToVote(
  deps: ServersDeps,
  serverId: ObjectId,
  text: string,
  by: string,
): Promise<void> {
  const howToVote = readHowToVote(text);
  const { modifiedCount } = await deps.servers.updateOne(
    { _id: serverId, removedAt: null },
    howToVote === '' ? { $unset: { howToVote: '' } } : { $set: { howToVote } },
  );
  if (modifiedCount === 0) return;
  const details = { characters: [...howToVote].length };
  await recordAudit(deps, { by, action: 'server.how-to-vote', serverId, details });
}
