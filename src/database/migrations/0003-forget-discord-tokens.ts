import type { Mongo } from '../../platform/mongo.ts';

/**
 * Deletes the Discord tokens that 0.1.0 stores unencrypted. While a process of 0.1.0 still serves, it stores new tokens
 * at each sign-in. So the migration repeats: the next `tallyport migrate` deletes them.
 */
export async function forgetDiscordTokens({ db }: Mongo): Promise<void> {
  await db
    .collection('credentials')
    .updateMany(
      { accessToken: { $type: 'string' } },
      { $set: { accessToken: null, refreshToken: null, idToken: null } },
    );
}
