import type { FastifyInstance } from 'fastify';
import { ownAccountPages } from './account.ts';
import type { AccountSources } from './account-sources.ts';
import { addressPages } from './address.ts';
import { deletionPages } from './deletion.ts';
import { exportPages } from './export.ts';
import { otherSitePages } from './other-sites.ts';
import { ownReviewPages } from './own-reviews.ts';
import { passwordPages } from './passwords.ts';
import { signInPages } from './sign-in.ts';
import { signUpPages } from './sign-up.ts';
import { twoFactorPages } from './two-factor.ts';
import { verifyEmailPages } from './verify-email.ts';

/** Pages for sign-up, sign-in, sign-out and the user's own account. */
export async function accountPages(app: FastifyInstance, sources: AccountSources): Promise<void> {
  signUpPages(app, sources);
  signInPages(app, sources);
  otherSitePages(app, sources);
  passwordPages(app, sources);
  verifyEmailPages(app, sources);
  ownAccountPages(app, sources);
  addressPages(app, sources);
  ownReviewPages(app, sources);
  exportPages(app, sources);
  deletionPages(app, sources);
  twoFactorPages(app, sources);
}
