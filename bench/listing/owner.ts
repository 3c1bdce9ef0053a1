import { randomUUID } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { createAuth } from '../../src/accounts/auth.ts';
import { hashPassword, verifyPassword } from '../../src/accounts/password.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';

const CHEAP = {
  hash: (password: string) => hashPassword(password, { N: 16, r: 1, p: 1 }),
  verify: verifyPassword,
};

/** Creates a user with a session, without a request. `cookie` is the header of a signed-in browser. */
export async function newOwner(deps: AppDeps): Promise<{ userId: ObjectId; cookie: string }> {
  const config = { ...deps.config, SMTP_URL: undefined };
  const auth = createAuth({ ...deps, config, passwords: CHEAP }, async () => {});
  const { headers, response } = await auth.api.signUpEmail({
    body: { name: 'Olivia', email: `${randomUUID()}@example.org`, password: 'three ships in the bay' },
    returnHeaders: true,
  });
  const userId = new ObjectId(response.user.id);
  await deps.users.updateOne({ _id: userId }, { $set: { emailVerified: true } });
  const cookies = headers.getSetCookie().map((one) => one.split(';')[0]);
  return { userId, cookie: cookies.join('; ') };
}

/** As `newOwner`, with a second factor that was just used. */
export async function newOperator(deps: AppDeps): Promise<{ userId: ObjectId; cookie: string }> {
  const operator = await newOwner(deps);
  const { userId } = operator;
  await deps.users.updateOne({ _id: userId }, { $set: { role: 'operator', twoFactorEnabled: true } });
  await deps.sessions.updateOne({ userId }, { $set: { secondFactorAt: deps.clock.now() } });
  return operator;
}

const BOUNDARY = '----tallyport-bench';

/** The form that uploads a banner, with its headers. */
export function bannerForm(png: Buffer): { body: Buffer; headers: Record<string, string> } {
  const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="banner"; filename="b.png"\r\ncontent-type: image/png\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), png, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
  const headers = {
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    'content-length': String(body.length),
  };
  return { body, headers };
}

/** The headers that a browser sends with a form of our own pages. */
export const ownOrigin = (url: string) => ({
  origin: new URL(url).origin,
  'sec-fetch-site': 'same-origin',
  accept: 'text/html',
});
