import { z } from 'zod';
import { GameError, knownGame } from '../games/games.ts';
import { t } from '../language/t.ts';
import { isRefusedPort } from '../platform/address-guard.ts';
import { hostSchema } from '../platform/input.ts';
import { shownText } from '../platform/text.ts';

const portRule = () => t('must be a whole number, 1 to 65535');
const port = z
  .int({ error: portRule })
  .min(1, { error: portRule })
  .max(65_535, { error: portRule })
  .refine((value) => !isRefusedPort(value), {
    error: () => t('must not be 22, 25, 465 or 587: these are for mail and remote shells'),
  });

/** In any known spelling; stored as gamedig's id. Some games are not probed (see `isProbed`). */
const game = shownText(50).transform((value, context) => {
  try {
    return knownGame(value).id;
  } catch (error) {
    if (!(error instanceof GameError)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
    return z.NEVER;
  }
});

/**
 * `null` means "not known": without a country the API shows `ZZ`; without a query port the probe uses the game's
 * default; without a game the server is not probed, and its status comes from reports.
 */
export const serverSettings = z.object({
  name: shownText(100),
  address: hostSchema,
  port,
  queryPort: port.nullable(),
  /** For players of the other edition of Minecraft; null: the server has one address. */
  secondAddress: hostSchema.nullable(),
  /** null: the usual port of that edition. */
  secondPort: port.nullable(),
  game: game.nullable(),
  countryCode: z
    .string({ error: () => t('must be text') })
    .transform((value) => value.trim().toUpperCase())
    .refine((value) => /^[A-Z]{2}$/.test(value), {
      error: () => t('must have two letters (ISO 3166-1), such as DE'),
    })
    .nullable(),
  isPremium: z.boolean({ error: () => t('must be true or false') }),
});

export type ServerSettings = z.output<typeof serverSettings>;

export const newServer = serverSettings.extend({
  queryPort: serverSettings.shape.queryPort.default(null),
  secondAddress: serverSettings.shape.secondAddress.default(null),
  secondPort: serverSettings.shape.secondPort.default(null),
  game: serverSettings.shape.game.default(null),
  countryCode: serverSettings.shape.countryCode.default(null),
  isPremium: serverSettings.shape.isPremium.default(false),
});

export type NewServer = z.input<typeof newServer>;

export const serverChanges = serverSettings
  .partial()
  .transform(
    (changes) =>
      Object.fromEntries(
        Object.entries(changes).filter(([, value]) => value !== undefined),
      ) as Partial<ServerSettings>,
  );

export type ServerChanges = z.input<typeof serverChanges>;
