import { ObjectId } from 'mongodb';
import type { Auth } from './auth.ts';
import { withCause } from './library-cause.ts';
import type { User } from './user.ts';

/** The user and the session of a request. */
export type SignedIn = {
  user: User;
  session: {
    id: ObjectId;
    token: string;
    createdAt: Date;
    expiresAt: Date;
    /** When the user last entered a code of the second factor in this session; null if never. */
    secondFactorAt: Date | null;
  };
};

/**
 * Finds the user and the session of the cookies in `headers`.
 *
 * @returns `signedIn`: null if there is no session or the user is suspended. `cookies`: the cookies to set in the
 *   response
 */
export async function whoIs(
  auth: Auth,
  headers: Headers,
): Promise<{ signedIn: SignedIn | null; cookies: string[] }> {
  const found = await withCause(() => auth.api.getSession({ headers, returnHeaders: true }));
  const cookies = found.headers.getSetCookie();
  if (!found.response) return { signedIn: null, cookies };
  const { user, session } = found.response;
  if (user.suspendedAt) return { signedIn: null, cookies };
  const { id, ...rest } = user;
  return {
    signedIn: {
      user: { ...rest, _id: new ObjectId(id) } as User,
      session: {
        id: new ObjectId(session.id),
        token: session.token,
        createdAt: session.createdAt,
        expiresAt: session.expiresAt,
        secondFactorAt: session.secondFactorAt ?? null,
      },
    },
    cookies,
  };
}
