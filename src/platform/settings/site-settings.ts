import { z } from 'zod';
import { nameOfLanguage, SHIPPED_LANGUAGES } from '../../language/language.ts';
import { colour, contact, footerLinks, languageCode, languageCodes, line } from '../config-values.ts';
import { storedLogo, storedPage } from '../stored-values.ts';
import { setting, settingsSection } from './setting.ts';

export const LOGO_KILOBYTES = 256;

const LANGUAGE_OPTIONS = SHIPPED_LANGUAGES.map((code): [string, string] => [code, nameOfLanguage(code)]);

export const siteSettings = settingsSection(
  { title: 'The site' },
  {
    SERVICE_NAME: setting(line(64).min(1, 'must not be empty').default('Tallyport'), {
      description:
        'The name of the voting site that vote listeners see. It is stored with each listener when the listener is set. Reward plugins depend on it: do not change it later.',
      field: {
        group: 'site',
        label: 'Name of the listing',
        hint: 'In the head of every page, in mails and messages.',
      },
    }),
    CONTACT: setting(contact.optional(), {
      description:
        'How users reach you, an e-mail address or a link: in the footer, and where they need you, as with a forgotten password.',
      example: 'help@example.org',
      field: {
        group: 'site',
        label: 'Contact',
        hint: 'An e-mail address or a link, shown where users need you.',
      },
    }),
    DEFAULT_LANGUAGE: setting(languageCode.default('en'), {
      description: `The language of the pages for visitors whose browser prefers no language that they have: ${LANGUAGE_OPTIONS.map(([code, name]) => `\`${code}\` (${name})`).join(', ')}, or one of \`LANGUAGES_DIR\`. Visitors change it at the foot of each page. The admin area is English.`,
      field: {
        group: 'site',
        label: 'Language',
        hint: 'For visitors whose browser prefers no language that the pages have.',
        options: LANGUAGE_OPTIONS,
      },
    }),
    LANGUAGES: setting(languageCodes.default([]), {
      description:
        'The languages of the pages, separated by commas. Without this setting: all, those of `LANGUAGES_DIR` too.',
      example: 'en,fr,pl',
      field: {
        group: 'site',
        label: 'Languages of the pages',
        hint: `Codes separated by commas, such as “en,fr”. Empty: all. There are ${SHIPPED_LANGUAGES.join(', ')}, and those of LANGUAGES_DIR.`,
      },
    }),
    LANGUAGES_DIR: setting(z.string().optional(), {
      description:
        'A folder with your own texts: files such as `fr.json`, which change texts of a language or add a language (docs/translating.md). A change applies within seconds. A broken file is refused with its line, and the last good one stays.',
      example: '/etc/tallyport/languages',
    }),
    NOTICE: setting(line(300).default(''), {
      description:
        'A line at the top of every page, for example to announce maintenance. An announcement (`tallyport announcement set`) may have several lines and an end.',
      example: 'Votes go on while we move to another machine on Sunday.',
      field: { group: 'site', label: 'Notice', hint: 'One line below the head of every page.' },
    }),
    FOOTER_LINKS: setting(footerLinks.default([]), {
      description: 'More links in the footer: a text and an address each, separated by a comma and a space.',
      example: 'Discord https://discord.gg/example, Forum https://forum.example.org',
      field: {
        group: 'site',
        label: 'Links in the footer',
        hint: 'One on each line: a text and an address, such as “Forum https://forum.example.org”.',
        kind: 'lines',
      },
    }),
    ACCENT_COLOUR: setting(colour.optional(), {
      description: 'The colour of links and buttons. Shades with too little contrast are adjusted.',
      example: '#0f6168',
      field: {
        group: 'look',
        label: 'Colour of links and buttons',
        hint: 'Such as #0f6168. It is made darker or lighter until it can be read. “Vote” keeps its own colour.',
      },
    }),
    LOGO: setting(z.string().optional(), {
      description: `A file with a logo (SVG, PNG or WebP, at most ${LOGO_KILOBYTES} KB), which is the favicon as well.`,
      example: '/etc/tallyport/logo.svg',
    }),
    LOGO_PICTURE: setting(storedLogo.optional(), {
      description: 'The logo that operators uploaded.',
      variable: 'LOGO',
      field: {
        group: 'logo',
        label: 'Logo',
        hint: 'In the head of every page and as the icon of the browser tab.',
        kind: 'picture',
      },
    }),
    SITE_PAGES_DIR: setting(z.string().optional(), {
      description:
        'A folder with your own pages in Markdown, read at the start: contact.md, imprint.md, privacy.md, terms.md. Without privacy.md, the page is made from the configuration: it says what is stored, why, and for how long.',
      example: '/etc/tallyport/pages',
    }),
    PAGE_CONTACT: setting(storedPage.optional(), {
      description: 'The page on how users reach you.',
      variable: 'SITE_PAGES_DIR',
      field: {
        group: 'pages',
        label: 'Contact',
        hint: 'How users reach you. Without this page, the contact above is linked.',
        kind: 'page',
      },
    }),
    PAGE_IMPRINT: setting(storedPage.optional(), {
      description: 'The page on who runs the listing.',
      variable: 'SITE_PAGES_DIR',
      field: { group: 'pages', label: 'Imprint', hint: 'Who runs this listing.', kind: 'page' },
    }),
    PAGE_PRIVACY: setting(storedPage.optional(), {
      description: 'The page on personal data.',
      variable: 'SITE_PAGES_DIR',
      field: {
        group: 'pages',
        label: 'Privacy',
        hint: 'Replaces the page that follows from the settings.',
        kind: 'page',
      },
    }),
    PAGE_TERMS: setting(storedPage.optional(), {
      description: 'The page with the rules of the listing.',
      variable: 'SITE_PAGES_DIR',
      field: { group: 'pages', label: 'Terms', hint: 'The rules of this listing.', kind: 'page' },
    }),
  },
);
