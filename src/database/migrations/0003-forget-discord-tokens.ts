import type { Mongo } from '../../platform/mongo.ts';

/**
 * Deletes the tokens of Discord that 0.1.0 stores in clear. It repeats: a process of 0.1.0 that still serves stores
 * them at each sign-in, and the next `tallyport migrate` deletes these.
 */
export async function forgetDiscordTokens({ db }: Mongo): Promise<void> {
  await db
    .collection('credentials')
    .updateMany(
      { accessToken: { $type: 'string' } },
      { $set: { accessToken: null, refreshToken: null, idToken: null } },
    );
}
