import { ObjectId } from 'mongodb';
import type { Auth } from './auth.ts';
import { withCause } from './library-cause.ts';
import type { User } from './user.ts';

/** Who sent a request, and by which session. */
export type SignedIn = {
  user: User;
  session: {
    id: ObjectId;
    token: string;
    createdAt: Date;
    expiresAt: Date;
    /** When a code of the second factor was last given in it; null where none was. */
    secondFactorAt: Date | null;
  };
};

/**
 * Whom the cookies in `headers` belong to.
 *
 * @returns null for a stranger and for a suspended user; `cookies` are to be sent with the answer
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
