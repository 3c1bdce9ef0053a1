import type { FastifyInstance } from 'fastify';
import type { Auth } from '../../accounts/auth.ts';
import type { Platform } from '../../platform.ts';
import { signInPages } from './sign-in.ts';
import { signUpPages } from './sign-up.ts';

/** What the pages of this folder work with. */
export type AccountSources = { platform: Platform; auth: Auth };

/** Signing up, in and out, and a person's own account. */
export async function accountPages(app: FastifyInstance, sources: AccountSources): Promise<void> {
  signUpPages(app, sources);
  signInPages(app, sources);
}
