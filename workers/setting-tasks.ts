import { randomUUID } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { mailText } from '../src/accounts/mail-text.ts';
import { discoverOpenId, guardOfIssuer, OpenIdError } from '../src/accounts/other-sites/openid-connect.ts';
import { createSmtpSender } from '../src/mail/smtp.ts';
import { SECOND } from '../src/platform/clock.ts';
import { PictureError, PictureProcessError } from '../src/platform/pictures/picture-error.ts';
import type { PictureProcess } from '../src/platform/pictures/picture-process.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import { storePicture } from '../src/servers/pictures.ts';
import { takeLogoUpload } from '../src/settings/logo-upload.ts';
import { uploadedFormat } from '../src/site/look/logo.ts';
import { SvgError } from '../src/site/look/svg-size.ts';
import type { AnswerOf } from '../src/workflows/answer-now.ts';

/** How long a test mail may take. */
const TEST_MAIL_MS = 20 * SECOND;

/** Errors that mean that a file is no usable logo. */
const REFUSALS = [PictureError, PictureProcessError, SvgError];

/**
 * The tasks of `answer-now` for operators who change settings. `testMail` and `testOpenId` first reload the stored
 * settings, which may have changed since this process read them.
 */
export function settingTasks(deps: AppDeps, pictureProcess: PictureProcess) {
  const { config, liveSettings } = deps;
  const send = createSmtpSender(config, TEST_MAIL_MS);
  return {
    async testMail({ userId }: { userId: string }): Promise<AnswerOf['test-mail']> {
      await liveSettings.reload();
      if (config.SMTP_URL === undefined) return { kind: 'no-mail-server' };
      const user = await deps.users.findOne({ _id: new ObjectId(userId) }, { projection: { email: 1 } });
      if (!user) return { kind: 'no-user' };
      const letter = { id: randomUUID(), to: user.email, ...testLetter(config) };
      const result = await send(letter, AbortSignal.timeout(TEST_MAIL_MS));
      return 'reason' in result ? { ...result, reason: withoutSecrets(config, result.reason) } : result;
    },
    async testOpenId(): Promise<AnswerOf['test-openid']> {
      await liveSettings.reload();
      const { OIDC_ISSUER: issuer } = config;
      if (issuer === undefined) return { kind: 'not-set' };
      try {
        await discoverOpenId({ issuer, ranges: guardOfIssuer(config) });
        return { kind: 'usable' };
      } catch (error) {
        if (!(error instanceof OpenIdError)) throw error;
        return { kind: 'unusable', reason: error.message };
      }
    },
    async encodeLogo({ uploadId }: { uploadId: string }): Promise<AnswerOf['encode-logo']> {
      const bytes = await takeLogoUpload(deps, uploadId);
      if (!bytes) return { kind: 'not-found' };
      try {
        const made = await pictureProcess.run('site-logo', { bytes, format: uploadedFormat(bytes) });
        return {
          kind: 'encoded',
          text: `${await storePicture(deps, made.bytes)} ${made.width} ${made.height}`,
        };
      } catch (error) {
        if (error instanceof PictureProcessError && error.code === 'stopped') throw error;
        if (!REFUSALS.some((kind) => error instanceof kind)) throw error;
        return { kind: 'refused', reason: reasonOf(error) };
      }
    },
  };
}

/** What is wrong with a logo, for the operator; null if nobody knows more than that it cannot be read. */
function reasonOf(error: unknown): string | null {
  if (error instanceof PictureError && error.code === 'not-a-picture')
    return 'The file is no SVG, PNG or WebP picture.';
  return error instanceof SvgError || error instanceof PictureError ? error.message : null;
}

function testLetter(config: AppDeps['config']): { subject: string; text: string } {
  return mailText(
    config,
    'Test mail',
    'An operator of this listing sent this mail from the admin area. The mail server works.',
  );
}

/** A reason without the user name and password of the mail server, which its answer may repeat. */
function withoutSecrets({ SMTP_URL = '' }: AppDeps['config'], reason: string): string {
  const { username = '', password = '' } = URL.parse(SMTP_URL) ?? {};
  const secrets = [username, password].flatMap((text) => [text, decodeURIComponent(text)]);
  return secrets
    .filter((text) => text.length > 2)
    .reduce((text, secret) => text.replaceAll(secret, '***'), reason);
}
