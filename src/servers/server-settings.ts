import { z } from 'zod';
import { HostError, parseHost } from '../address-guard.ts';

function shownText(name: string, maximum: number) {
  return z
    .string({ error: `${name} must be text.` })
    .refine((value) => value.isWellFormed(), {
      error: `${name} has an unpaired surrogate: it is not valid Unicode.`,
      abort: true,
    })
    .transform((value) => value.trim())
    .refine((value) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value), {
      error: `${name} must have no line breaks and no other control characters.`,
    })
    .refine((value) => /[\p{L}\p{N}\p{P}\p{S}]/u.test(value), {
      error: `${name} must not be empty.`,
      abort: true,
    })
    .refine((value) => [...value].length <= maximum, {
      error: `${name} must have at most ${maximum} characters.`,
    });
}

function port(name: string) {
  const rule = `${name} must be a whole number, 1 to 65535.`;
  return z.int({ error: rule }).min(1, { error: rule }).max(65_535, { error: rule });
}

/** A host name or an IP address, in one spelling. */
const host = z.string({ error: 'The address must be text.' }).transform((value, context) => {
  try {
    return parseHost(value);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
    return z.NEVER;
  }
});

/**
 * What an owner says of a server. `null` is "not known": the API then shows `ZZ` for the country, and the game
 * answers queries on its own port.
 */
export const serverSettings = z.object({
  name: shownText('The name', 100),
  address: host,
  port: port('The port'),
  queryPort: port('The query port').nullable(),
  game: shownText('The game', 50).nullable(),
  countryCode: z
    .string({ error: 'The country must be text.' })
    .transform((value) => value.trim().toUpperCase())
    .refine((value) => /^[A-Z]{2}$/.test(value), {
      error: 'The country must be its two-letter code (ISO 3166-1), such as DE.',
    })
    .nullable(),
  isPremium: z.boolean({ error: 'Premium must be true or false.' }),
});

export type ServerSettings = z.output<typeof serverSettings>;

/** What is said when a server is listed: the rest is not known yet. */
export const newServer = serverSettings.extend({
  queryPort: serverSettings.shape.queryPort.default(null),
  game: serverSettings.shape.game.default(null),
  countryCode: serverSettings.shape.countryCode.default(null),
  isPremium: serverSettings.shape.isPremium.default(false),
});

export type NewServer = z.input<typeof newServer>;

/** A change of some settings; those that are absent stay. */
export const serverChanges = serverSettings
  .partial()
  .transform(
    (changes) =>
      Object.fromEntries(
        Object.entries(changes).filter(([, value]) => value !== undefined),
      ) as Partial<ServerSettings>,
  );

export type ServerChanges = z.input<typeof serverChanges>;
