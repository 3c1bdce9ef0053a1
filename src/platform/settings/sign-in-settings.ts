import { z } from 'zod';
import { issuerUrl, line, mailAddress, oneOf, publicUrl, smtpUrl } from '../config-values.ts';
import { ON_OFF, setting, settingsSection } from './setting.ts';

export const operatorSettings = settingsSection(
  {
    title: 'Operators',
    about:
      'A link that makes the first operator, who may use `/operator`: `npm run -s tallyport -- setup-link`.',
  },
  {
    OPERATOR_TWO_FACTOR: setting(oneOf(['required', 'optional']).default('required'), {
      description: 'Operators need a second factor (an authenticator app) unless this is `optional`.',
    }),
    OPERATOR_PASSWORD_HASH: setting(z.string().optional(), {
      description: 'If it is set, the web process logs what replaced it.',
      secret: true,
      former: true,
    }),
  },
);

export const mailSettings = settingsSection(
  {
    title: 'Mail',
    about:
      'Without a mail server no mail is sent: addresses are not confirmed, operators hand out links to set a password, and owners get no notifications about their listeners.',
  },
  {
    SMTP_URL: setting(smtpUrl.optional(), {
      description:
        'The mail server: `smtp://user:password@host:587` (STARTTLS if the server offers it; `?requireTLS=true` requires it) or `smtps://user:password@host:465`.',
      example: 'smtp://votes:password@mail.example.org:587',
      secret: true,
      field: {
        group: 'mail',
        label: 'Address of the mail server',
        hint: 'Such as smtps://user:password@mail.example.org:465, or smtp://…:587?requireTLS=true. The server needs a public address. For one on this machine or in a private network, set ALLOWED_PRIVATE_RANGES in the environment, such as 127.0.0.1/32, and restart every process.',
      },
    }),
    MAIL_FROM: setting(mailAddress.optional(), {
      description: 'The sender of mails. `SMTP_URL` needs it.',
      example: 'Tallyport <votes@example.org>',
      field: { group: 'mail', label: 'Sender', hint: 'Such as Tallyport <votes@example.org>.' },
    }),
  },
);

export const discordSettings = settingsSection(
  {
    title: 'Sign-in with Discord',
    about:
      'The redirect address to enter at Discord is `PUBLIC_URL` followed by `/api/auth/callback/discord`.',
  },
  {
    DISCORD_CLIENT_ID: setting(z.string().optional(), {
      description: 'The id of your application at Discord.',
      example: '',
      field: { group: 'discord', label: 'Client ID', hint: 'Of your application at Discord.' },
    }),
    DISCORD_CLIENT_SECRET: setting(z.string().optional(), {
      description: 'The secret of the same application.',
      example: '',
      secret: true,
      field: { group: 'discord', label: 'Client secret', hint: 'Of the same application.' },
    }),
    DISCORD_API_URL: setting(publicUrl.default('https://discord.com/api'), {
      description: 'The address of Discord’s webhooks.',
      onlyForTests: 'is only for tests',
    }),
  },
);

export const openIdSettings = settingsSection(
  {
    title: 'Sign-in with OpenID Connect',
    about:
      'A provider such as Keycloak, Authentik or Google. The redirect address to register there is `PUBLIC_URL` followed by `/api/auth/callback/oidc`.',
  },
  {
    OIDC_ISSUER: setting(issuerUrl.optional(), {
      description: 'The issuer: the provider’s to the letter, with or without a slash at its end.',
      example: 'https://login.example.org/realms/club',
      field: { group: 'openid', label: 'Issuer', hint: 'The https:// address of the provider.' },
    }),
    OIDC_CLIENT_ID: setting(z.string().optional(), {
      description: 'The client id that the provider gave to this listing.',
      example: 'tallyport',
      field: { group: 'openid', label: 'Client ID', hint: 'That the provider gave to this listing.' },
    }),
    OIDC_CLIENT_SECRET: setting(z.string().optional(), {
      description: 'The client secret that the provider gave to this listing.',
      example: '',
      secret: true,
      field: { group: 'openid', label: 'Client secret', hint: 'That the provider gave to this listing.' },
    }),
    OIDC_NAME: setting(line(40).min(1, 'must not be empty').optional(), {
      description: 'What the button says (Continue with Our club); by default the issuer’s host.',
      example: 'Our club',
      field: { group: 'openid', label: 'Name on the button', hint: 'By default the host of the provider.' },
    }),
    OIDC_TRUST_EMAIL: setting(oneOf(['on', 'off']).default('off'), {
      description:
        '`on`: an address counts as confirmed if the provider does not say whether it is (Microsoft Entra). Whoever can set any address there can then open the account here that has it.',
    }),
  },
);

export const steamSettings = settingsSection(
  { title: 'Sign-in through Steam' },
  {
    STEAM_SIGN_IN: setting(oneOf(['on', 'off']).default('off'), {
      description:
        'Whether players of Rust, ARK and similar games can sign in through Steam on the vote form: `on` or `off`. It needs no key. The web processes must reach steamcommunity.com.',
      field: {
        group: 'votes',
        label: 'Proof of SteamIDs',
        hint: 'Whether players of Steam’s games can prove their SteamID when they vote.',
        options: ON_OFF,
      },
    }),
    STEAM_OPENID_URL: setting(issuerUrl.default('https://steamcommunity.com/openid/login'), {
      description: 'The address of Steam’s OpenID provider.',
      onlyForTests: 'is only for tests',
    }),
  },
);
