import { SECOND } from '../clock.ts';
import { cidrList, oneOf, wholeNumber } from '../config-values.ts';
import { ON_OFF, setting, settingsSection } from './setting.ts';

export const SIGN_UPS_HOURS = 24;
/** A public mail provider has many users, so its limit is this many times the limit of another domain. */
export const PUBLIC_MAIL_FACTOR = 50;

export const connectionSettings = settingsSection(
  { title: 'Connections' },
  {
    ALLOWED_PRIVATE_RANGES: setting(cidrList.default([]), {
      description:
        'Game servers in your own network or on this machine are refused unless their range is listed here. The range is then open to every account, not only to yours: read docs/operating/settings.md#addresses-that-tallyport-connects-to before strangers may sign up.',
      example: '10.0.0.0/8,192.168.0.0/16',
    }),
    REFUSED_RANGES: setting(cidrList.default([]), {
      description:
        'Public addresses that Tallyport never connects to, such as this machine’s public address if a router or a container’s host has it.',
      example: '203.0.113.7/32',
    }),
    DESTINATION_LIMIT: setting(wholeNumber(1, 1_000_000).default(60), {
      description:
        'Connections a minute to one address that has not acknowledged a vote. Votes over a limit wait; none is lost (docs/delivery.md).',
    }),
    ACCOUNT_LIMIT: setting(wholeNumber(1, 1_000_000).default(40), {
      description:
        'Connections a minute to such addresses for all servers of one account. Votes over it wait as well.',
    }),
    MAX_EVENT_LOOP_DELAY_MS: setting(wholeNumber(0, 60_000).default(SECOND), {
      description: 'A web process whose event loop is delayed for longer answers 503. `0`: never.',
      unit: 'milliseconds',
    }),
    CONNECTIONS_PER_ADDRESS: setting(wholeNumber(0, 1_000_000).default(1_000), {
      description:
        'Where clients connect directly: the most connections at once of one address (an IPv4 address or an IPv6 /64). Further ones are closed when they are opened. Trusted proxies have no limit. `0`: no limit.',
    }),
  },
);

export const voteSettings = settingsSection(
  { title: 'Votes on pages, accounts, personal data' },
  {
    WEB_VOTES: setting(oneOf(['on', 'off']).default('on'), {
      description: 'Whether players may vote on the pages of servers: `on` or `off`.',
      field: {
        group: 'votes',
        label: 'Votes on the pages',
        hint: 'If they are off, players vote only through plugins and websites with the API.',
        options: ON_OFF,
      },
    }),
    PAUSED_SERVERS: setting(oneOf(['last', 'hidden']).default('last'), {
      description:
        'Where public lists show a server whose owner has paused its listing: `last`, or `hidden` (not at all). The next ranking applies a change. Its page stays.',
      field: {
        group: 'votes',
        label: 'Paused servers',
        hint: 'Where public lists show them. The pages of paused servers stay. The next ranking applies a change.',
        options: [
          ['last', 'Last in the lists'],
          ['hidden', 'Not in the lists'],
        ],
      },
    }),
    READ_API: setting(oneOf(['on', 'off']).default('on'), {
      description:
        'Whether other programs may read the public lists and servers with the API without a token: `on` or `off`.',
      field: {
        group: 'api',
        label: 'Reading without a token',
        hint: 'Whether bots, websites and apps may read what the public pages show. Calls with a token always work.',
        options: ON_OFF,
      },
    }),
    WEB_VOTE_PLAYERS: setting(wholeNumber(1, 300).default(4), {
      description:
        'How many new players of one network (IPv4 /24, IPv6 /64) may vote for a server on the pages on a UTC day.',
      field: {
        group: 'votes',
        label: 'New players of one network',
        hint: 'How many may vote for a server in a day, 1 to 300.',
        kind: 'number',
      },
    }),
    SIGN_UPS_PER_NETWORK: setting(wholeNumber(1, 1_000_000).default(10), {
      description: `The most accounts that are made in ${SIGN_UPS_HOURS} hours from one network (IPv4 /24, IPv6 /48). One address (IPv4, or IPv6 /64) may make half as many.`,
      field: {
        group: 'accounts',
        label: 'New accounts of one network',
        hint: `In ${SIGN_UPS_HOURS} hours, from one IPv4 /24 or IPv6 /48.`,
        kind: 'number',
      },
    }),
    SIGN_UPS_PER_MAIL_DOMAIN: setting(wholeNumber(1, 1_000_000).default(20), {
      description: `The most accounts that are made in ${SIGN_UPS_HOURS} hours with one mail domain and everything below it. Large public mail providers have ${PUBLIC_MAIL_FACTOR} times as many.`,
      field: {
        group: 'accounts',
        label: 'New accounts of one mail domain',
        hint: `In ${SIGN_UPS_HOURS} hours; domains of public providers have ${PUBLIC_MAIL_FACTOR} times as many.`,
        kind: 'number',
      },
    }),
    SERVERS_PER_ACCOUNT: setting(wholeNumber(1, 1_000_000).default(50), {
      description: 'The servers that one account may list.',
      field: {
        group: 'accounts',
        label: 'Servers of one account',
        hint: 'The most that a user may list.',
        kind: 'number',
      },
    }),
    KEEP_PLAYER_NAMES_MONTHS: setting(wholeNumber(0, 1_200).default(0), {
      description:
        'After how long players’ names are removed from votes, which still count. `0`: never; otherwise at least 3.',
      unit: 'months',
      field: {
        group: 'retention',
        label: 'Months for names of players',
        hint: 'After them, names are removed from votes; 0: never, else 3 or more.',
        kind: 'number',
      },
    }),
    KEEP_ADDRESSES_MONTHS: setting(wholeNumber(0, 1_200).default(24), {
      description:
        'After how long e-mail addresses are removed from old entries of the audit log, decisions and removed servers. `0`: never.',
      unit: 'months',
      field: {
        group: 'retention',
        label: 'Months for e-mail addresses',
        hint: 'After them, addresses are removed from the audit log and the like; 0: never.',
        kind: 'number',
      },
    }),
  },
);
