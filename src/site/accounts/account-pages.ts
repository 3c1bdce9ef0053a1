import type { FastifyInstance } from 'fastify';
import type { AccountParts } from './account-parts.ts';
import { addressPages } from './address-pages.ts';
import { deletionPages } from './deletion-pages.ts';
import { otherSitePages } from './other-site-pages.ts';
import { exportPages, ownAccountPages } from './own-account-pages.ts';
import { ownReviewPages } from './own-review-pages.ts';
import { passwordPages } from './password-pages.ts';
import { setupPages } from './setup-pages.ts';
import { signInPages } from './sign-in-pages.ts';
import { signUpPages } from './sign-up-pages.ts';
import { twoFactorPages } from './two-factor-pages.ts';
import { verifyEmailPages } from './verify-email-pages.ts';

export async function accountPages(app: FastifyInstance, parts: AccountParts): Promise<void> {
  setupPages(app, parts);
  signUpPages(app, parts);
  signInPages(app, parts);
  otherSitePages(app, parts);
  passwordPages(app, parts);
  verifyEmailPages(app, parts);
  ownAccountPages(app, parts);
  addressPages(app, parts);
  ownReviewPages(app, parts);
  exportPages(app, parts);
  deletionPages(app, parts);
  twoFactorPages(app, parts);
}
