import type { FastifyInstance } from 'fastify';
import type { Config } from '../../platform/config.ts';
import type { SettingGroup } from '../../settings/changeable.ts';
import { answerNow, type MailTest, type OpenIdTest } from '../../workflows/answer-now.ts';
import { OPERATOR } from '../route-options.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { notAnsweredStatus, notAnsweredText } from '../shared/not-answered.ts';
import { button, notice } from '../shared/parts.ts';
import type { AdminParts } from './admin-parts.ts';
import { type ShowSettings, settingsPath } from './settings-frame.ts';

/** The buttons that test a group's current settings. Empty if there is nothing to test. */
export function testButtons(base: string, group: SettingGroup, config: Config): Content {
  if (group === 'mail' && config.SMTP_URL !== undefined)
    return button({ to: settingsPath(base, '/test/mail'), text: 'Send a test mail to my address' });
  if (group === 'openid' && config.OIDC_ISSUER !== undefined)
    return button({ to: settingsPath(base, '/test/openid'), text: 'Check the provider' });
  return '';
}

/** The routes of `testButtons`. A worker connects to the mail server or provider; the request waits for the result. */
export function settingsTests(app: FastifyInstance, { deps }: AdminParts, show: ShowSettings): void {
  formRoute(app, {
    path: '/settings/test/mail',
    access: OPERATOR,
    show: (request, typed) => show(request, '/mail', { group: 'mail', typed }),
    run: async ({ request, user }) => {
      const ended = await answerNow(deps, 'test-mail', { userId: user._id.toHexString() });
      if (ended.kind !== 'answered') return refused(notAnsweredStatus(ended), notAnsweredText(ended));
      return { page: show(request, '/mail', { group: 'mail', preview: mailResult(ended.result) }) };
    },
  });

  formRoute(app, {
    path: '/settings/test/openid',
    access: OPERATOR,
    show: (request, typed) => show(request, '/openid', { group: 'openid', typed }),
    run: async ({ request }) => {
      const ended = await answerNow(deps, 'test-openid', {});
      if (ended.kind !== 'answered') return refused(notAnsweredStatus(ended), notAnsweredText(ended));
      return { page: show(request, '/openid', { group: 'openid', preview: openIdResult(ended.result) }) };
    },
  });
}

function mailResult(result: MailTest): Html {
  switch (result.kind) {
    case 'sent':
      return notice('good', 'The mail server accepted the test mail. Look into your mailbox.');
    case 'no-mail-server':
      return notice('attention', 'There is no mail server.');
    case 'no-user':
      return notice('attention', 'Your account no longer exists.');
    default:
      return notice('bad', html`The test mail was not sent: <bdi>${result.reason}</bdi>`);
  }
}

function openIdResult(result: OpenIdTest): Html {
  switch (result.kind) {
    case 'usable':
      return notice('good', 'The provider answers. Whether it knows this client shows at the first sign-in.');
    case 'not-set':
      return notice('attention', 'There is no provider.');
    case 'unusable':
      return notice('bad', html`The provider cannot be used: <bdi>${result.reason}</bdi>`);
  }
}
