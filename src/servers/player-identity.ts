import type { Collection, ObjectId } from 'mongodb';
import { z } from 'zod';
import { BEDROCK_PREFIX } from '../games/player-names.ts';
import { t } from '../language/t.ts';
import { type AuditEntry, recordAudit } from '../platform/audit/audit-log.ts';
import type { Clock } from '../platform/clock.ts';
import { parseInput } from '../platform/input.ts';
import type { Server } from './server.ts';

/** The longest prefix of names of Minecraft: Bedrock Edition, in characters. */
export const LONGEST_PREFIX = 5;

const prefixSchema = z.object({
  bedrockPrefix: z
    .string()
    .trim()
    .regex(/^[!-~]{0,5}$/, {
      error: () =>
        t('must have at most {max} letters, digits or signs, without a space', { max: LONGEST_PREFIX }),
    }),
});

type Deps = { servers: Collection<Server>; auditLog: Collection<AuditEntry>; clock: Clock };

/**
 * Sets the prefix with which names of Minecraft: Bedrock Edition begin on the vote form. With an empty prefix, the form
 * accepts no such name.
 *
 * @throws {InvalidDocumentError} for a prefix that is too long, or has a space or a character outside ASCII
 */
export async function setBedrockPrefix(
  deps: Deps,
  serverId: ObjectId,
  text: string,
  by: string,
): Promise<void> {
  const { bedrockPrefix } = parseInput(prefixSchema, { bedrockPrefix: text });
  const { modifiedCount } = await deps.servers.updateOne(
    { _id: serverId, removedAt: null },
    bedrockPrefix === BEDROCK_PREFIX ? { $unset: { bedrockPrefix: '' } } : { $set: { bedrockPrefix } },
  );
  if (modifiedCount === 0) return;
  await recordAudit(deps, { by, action: 'server.bedrock-prefix', serverId, details: { bedrockPrefix } });
}

/** Sets whether the vote form takes only SteamIDs that Steam confirmed. Votes through the API are not affected. */
export async function requireProvenId(
  deps: Deps,
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
