import type { ObjectId } from 'mongodb';
import { z } from 'zod';
import { BEDROCK_PREFIX } from '../games/player-names.ts';
import { t } from '../language/t.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { parseInput } from '../platform/input.ts';
import { longText } from '../platform/text.ts';
import type { ServersDeps } from './deps.ts';

export const LONGEST_HOW_TO_VOTE = 2_000;

const schema = z.object({ howToVote: longText(LONGEST_HOW_TO_VOTE) });

/** @throws {InvalidDocumentError} for a text that is too long or has control characters */
export function readHowToVote(text: string): string {
  return parseInput(schema, { howToVote: text }).howToVote;
}

/**
 * An empty text removes the stored one.
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

/** Votes that were already cast do not change. */
export async function switchVoteForm(
  deps: ServersDeps,
  serverId: ObjectId,
  isOn: boolean,
  by: string,
): Promise<void> {
  const { modifiedCount } = await deps.servers.updateOne(
    { _id: serverId, removedAt: null },
    isOn ? { $unset: { webVotes: '' } } : { $set: { webVotes: false } },
  );
  if (modifiedCount === 0) return;
  await recordAudit(deps, { by, action: 'server.web-votes', serverId, details: { isOn } });
}

/** In characters. */
export const LONGEST_PREFIX = 5;

/** A check box sends `yes` or nothing. */
const checked = z
  .string()
  .optional()
  .transform((value) => value === 'yes');

const namesSchema = z.object({
  bedrockPrefix: z
    .string()
    .trim()
    .regex(/^[!-~]{0,5}$/, {
      error: () =>
        t('must have at most {max} letters, digits or signs, without a space', { max: LONGEST_PREFIX }),
    }),
  offlineMode: checked,
  bedrockPlain: checked,
  bedrockSpaces: checked,
});

/**
 * The prefix of Bedrock Edition (empty: none of its names), and as `yes` what else is allowed.
 *
 * @throws {InvalidDocumentError} for a prefix that is too long, or has a space or a character outside ASCII
 */
export async function setPlayerNames(
  deps: ServersDeps,
  serverId: ObjectId,
  given: z.input<typeof namesSchema>,
  by: string,
): Promise<void> {
  const { bedrockPrefix, ...boxes } = parseInput(namesSchema, given);
  const playerNames = Object.fromEntries(Object.entries(boxes).filter(([, isChecked]) => isChecked));
  // Defaults are not stored.
  const prefixIn = bedrockPrefix === BEDROCK_PREFIX ? '$unset' : '$set';
  const namesIn = Object.keys(playerNames).length === 0 ? '$unset' : '$set';
  const change = { $set: {}, $unset: {} };
  Object.assign(change[prefixIn], { bedrockPrefix });
  Object.assign(change[namesIn], { playerNames });
  const { modifiedCount } = await deps.servers.updateOne({ _id: serverId, removedAt: null }, change);
  if (modifiedCount === 0) return;
  const details = { bedrockPrefix, ...playerNames };
  await recordAudit(deps, { by, action: 'server.bedrock-prefix', serverId, details });
}

/** Whether the vote form takes only SteamIDs that Steam confirmed. Votes through the API are not affected. */
export async function requireProvenId(
  deps: ServersDeps,
  serverId: ObjectId,
  isRequired: boolean,
  by: string,
): Promise<void> {
  const { modifiedCount } = await deps.servers.updateOne(
    { _id: serverId, removedAt: null },
    isRequired ? { $set: { provenIdOnly: true } } : { $unset: { provenIdOnly: '' } },
  );
  if (modifiedCount === 0) return;
  await recordAudit(deps, { by, action: 'server.proven-id-only', serverId, details: { isRequired } });
}
