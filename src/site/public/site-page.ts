import type { FastifyInstance } from 'fastify';
import { DEVICE_LIFETIME_MS } from '../../accounts/known-devices.ts';
import { type OtherSite, otherSites } from '../../accounts/other-sites/other-sites.ts';
import { capitalized } from '../../language/language.ts';
import { t } from '../../language/t.ts';
import type { Config } from '../../platform/config.ts';
import { PROVEN_ID_MS } from '../../votes/identity/proven-id.ts';
import { SIGN_IN_MS } from '../../votes/identity/steam-sign-in.ts';
import { PageError } from '../error-pages.ts';
import { CACHED } from '../route-options.ts';
import { sendPublicPage } from '../send-public-page.ts';
import { contactLine } from '../shared/contact.ts';
import type { Site } from '../shared/decorate-site.ts';
import { duration } from '../shared/format.ts';
import { type Content, type Html, html, raw } from '../shared/html.ts';
import { card, dataTable, linkTo } from '../shared/parts.ts';
import { SITE_PAGES, type SitePageName } from '../site-pages.ts';
import { BROWSER_DATA, STORED_DATA, type StoredData } from '../stored-data.ts';

/** The operator's own pages. Without them, only the privacy page exists, made from the configuration. */
export function sitePages(app: FastifyInstance, config: Config): void {
  for (const name of Object.keys(SITE_PAGES) as SitePageName[]) {
    const path = `/${name}`;
    app.get(path, CACHED, (request, reply) =>
      sendPublicPage(request, reply, path, async () => {
        const page = app.site.pages.get(name);
        const listing = app.site.name;
        if (!page && name === 'privacy') {
          const description = t('What {listing} stores about you, why, and for how long.', { listing });
          return {
            title: t(SITE_PAGES.privacy),
            metadata: { canonical: path, description },
            body: privacyPage(app.site, config),
          };
        }
        if (!page) throw new PageError(404, t('This listing does not have this page.'));
        const title = page.title ?? t(SITE_PAGES[name]);
        const heading = page.title ? '' : html`<h1>${title}</h1>\n`;
        return {
          title,
          width: 'text',
          metadata: { canonical: path, description: t('{title}: {listing}.', { title, listing }) },
          body: html`<article class="card prose">${heading}${raw(page.html)}</article>`,
        };
      }),
    );
  }
}

/**
 * Lists the personal data that is stored with the current settings. It does not name the operator and has no legal
 * terms: the operator must add what the law demands.
 */
function privacyPage(site: Site, config: Config): Html {
  const { name } = site;
  const logs = t(
    'The server’s log has a line for each refused sign-in and each used link for a password, with the IP address. The operator decides how long logs and backups are kept. They may contain what is no longer stored otherwise.',
  );
  return html`<h1>${t('Privacy')}</h1>
    ${card({ title: t('In short'), body: summary(site) })}
    ${card({ title: t('What is stored, why, and for how long'), id: 'stored', body: storedTable(config) })}
    ${card({ title: t('Who else gets data'), id: 'recipients', body: recipients(name, config) })}
    ${card({ title: t('Cookies'), id: 'cookies', body: cookies(config) })}
    ${card({ title: t('Stored in your browser only'), id: 'browser', body: browserData() })}
    ${card({ title: t('Logs and backups'), id: 'logs', body: html`<p>${logs}</p>` })}`;
}

function summary(site: Site): Html {
  const { base, name } = site;
  const sentences = [
    t(
      'If you only look at pages, you get no cookie unless you choose a language or press a star, and nothing is loaded from other sites. There is no advertising and no analysis of visitors.',
    ),
    t(
      'A vote is stored with the player name that you enter. Your IP address is not stored with it, and the voted server does not get it.',
    ),
    t('Signed-in users download their data and delete their account on the page <a>Account</a>.', {
      a: linkTo(`${base}/account`),
    }),
    t('The operator of {name} can remove a player name from all votes and reviews.', { name }),
  ];
  return html`<ul>${items(sentences)}</ul>
    ${contactLine(site)}`;
}

function cookies({ STEAM_SIGN_IN: steam }: Config): Html {
  const sentences = [
    t('When you sign in, a cookie keeps you signed in.'),
    t(
      'When you sign in, a cookie recognises your browser for {duration}, so that wrong passwords that others enter do not lock you out.',
      { duration: duration(DEVICE_LIFETIME_MS) },
    ),
    t('If you choose a language, a cookie remembers it for a year.'),
    t(
      'If you press a star without being signed in, a cookie remembers the server until you sign in, at most a day.',
    ),
    ...(steam === 'off'
      ? []
      : [
          t(
            'If you sign in through Steam on a vote form, one cookie ties the sign-in to your browser for {short}, and one remembers your SteamID for {long}, until you press “Not you?”.',
            { short: duration(SIGN_IN_MS), long: duration(PROVEN_ID_MS) },
          ),
        ]),
  ];
  return html`<ul>${items(sentences)}</ul>`;
}

function items(sentences: Content[]): Content {
  return sentences.map((sentence) => html`<li>${sentence}</li>`);
}

function storedTable(config: Config): Html {
  return dataTable<StoredData>({
    caption: t('Stored personal data'),
    rows: Object.values(STORED_DATA).filter((stored) => stored !== null),
    empty: '',
    columns: [
      { title: t('What'), heads: true, cell: ({ title }) => t(title) },
      { title: t('Data'), cell: ({ data }) => t(data) },
      { title: t('Why'), cell: ({ why }) => t(why) },
      {
        title: t('How long'),
        cell: ({ kept }) => capitalized(kept(config)),
      },
    ],
  });
}

function browserData(): Html {
  const sentences = Object.values(BROWSER_DATA).map(({ data, kept }) =>
    t('{data} Kept {time}.', { data: t(data), time: t(kept) }),
  );
  return html`<p>${t('Scripts of the pages store these in your browser. No other site can read them.')}</p>
    <ul>${items(sentences)}</ul>`;
}

function recipients(name: string, config: Config): Html {
  const sentences = [
    t('Everybody sees reviews with their player name, and the names of a server’s top voters.'),
    t(
      'The owner and the members of a server see who voted for it and when. Their vote listener gets the player name and the time of each vote, never your IP address.',
    ),
    t('Operators of {name} see all votes, reviews, users and the audit log.', { name }),
    ...(config.SMTP_URL === undefined
      ? []
      : [t('The mail server that the operator uses gets your e-mail address and the mails to you.')]),
    t(
      'If an owner enters the address of a Discord webhook, Discord gets the notifications about the server, with the player name and the beginning of a new review.',
    ),
    ...(config.STEAM_SIGN_IN === 'off'
      ? []
      : [
          t(
            'If you sign in through Steam on a vote form, Steam learns that you do and on which server’s page, and tells {name} your SteamID. A cookie keeps it for {duration}; {name} stores it only with your votes.',
            { name, duration: duration(PROVEN_ID_MS) },
          ),
        ]),
    ...otherSites(config).map(
      ({ id, name: site }) =>
        `${toldBy(id, { name, site })} ${t('{name} stores no access to your account there.', { name })}`,
    ),
  ];
  return html`<ul>${items(sentences)}</ul>`;
}

function toldBy(id: OtherSite['id'], names: { name: string; site: string }): string {
  return id === 'discord'
    ? t(
        'If you sign in with {site}, {site} learns that you do, and tells {name} your name, your e-mail address and the address of your picture there.',
        names,
      )
    : t(
        'If you sign in with {site}, {site} learns that you do, and tells {name} your name and your e-mail address there.',
        names,
      );
}
