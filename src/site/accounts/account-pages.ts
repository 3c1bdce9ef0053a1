import type { FastifyInstance } from 'fastify';
import type { AccountSources } from './account-deps.ts';
import { addressPages } from './address-pages.ts';
import { deletionPages } from './deletion-pages.ts';
import { exportPages } from './export-pages.ts';
import { otherSitePages } from './other-site-pages.ts';
import { ownAccountPages } from './own-account-pages.ts';
import { ownReviewPages } from './own-review-pages.ts';
import { passwordPages } from './password-pages.ts';
import { signInPages } from './sign-in-pages.ts';
import { signUpPages } from './sign-up-pages.ts';
import { twoFactorPages } from './two-factor-pages.ts';
import { verifyEmailPages } from './verify-email-pages.ts';

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
