import { getDomain } from 'tldts';
import { after, DAY } from '../platform/clock.ts';
import type { User } from './user.ts';

/**
 * `Ann.B+votes@GoogleMail.com` is `annb@gmail.com`: a `+` tag is left out, and other spellings and domains of the large
 * providers are made equal.
 */
export function mailboxOf(email: string): string {
  const { local, host } = partsOf(email);
  const name = local.split('+', 1)[0] || local;
  const provider = ONE_MAILBOX.find(({ hosts }) => hosts.has(host));
  if (provider) {
    const kept = [...name].filter((character) => !provider.ignored.includes(character));
    return `${kept.join('')}@${provider.as}`;
  }
  // Fastmail delivers mail for any name at `ann.fastmail.com` to the user `ann`.
  const owner = /^([^.]+)\.fastmail\.(?:com|fm)$/.exec(host)?.[1];
  return owner ? `${owner}@fastmail.com` : `${name}@${host}`;
}

/** Providers whose users have one mailbox at all these domains. `ignored`: characters that do not count in a name. */
const ONE_MAILBOX = [
  { as: 'gmail.com', hosts: ['gmail.com', 'googlemail.com'], ignored: '.' },
  { as: 'proton.me', hosts: ['proton.me', 'protonmail.com', 'pm.me'], ignored: '._-' },
  { as: 'icloud.com', hosts: ['icloud.com', 'me.com', 'mac.com'], ignored: '' },
  {
    as: 'yandex.ru',
    hosts: ['by', 'com', 'com.tr', 'kz', 'ru', 'ua'].map((end) => `yandex.${end}`),
    ignored: '.-',
  },
].map(({ hosts, ...provider }) => ({ ...provider, hosts: new Set(hosts) }));

/**
 * The registered domain of an e-mail address by the Public Suffix List: `ann@mail.example.co.uk` has `example.co.uk`,
 * because its owner can make any number of hosts below it. A host below a public provider's domain is returned whole,
 * because it need not belong to the provider.
 */
export function mailDomainOf(email: string): string {
  const { host } = partsOf(email);
  const domain = getDomain(host) ?? host;
  return isPublicMail(domain) ? host : domain;
}

function partsOf(email: string): { local: string; host: string } {
  const address = email.trim().toLowerCase();
  const at = address.lastIndexOf('@');
  return { local: address.slice(0, at), host: address.slice(at + 1).replace(/\.$/, '') };
}

/**
 * Everybody can get a mailbox there, with some effort (a captcha, a contract), so many accounts in it are no sign of
 * one person.
 */
export function isPublicMail(domain: string): boolean {
  return PUBLIC_MAIL.has(domain);
}

const words = (text: string) => text.split(/\s+/);

/** These are complete domains, because anybody can register `hotmail` below another top-level domain. */
const PUBLIC_MAIL = new Set([
  ...[
    ['gmx', 'at ch co.uk com de fr net us'],
    ['hotmail', 'be ca ch co.jp co.th co.uk com com.ar com.au com.br com.mx com.tr de es fi fr it nl no se'],
    [
      'live',
      'at be ca ch cl cn co.uk co.za com com.ar com.au com.mx com.pt de dk fi fr ie in it jp nl no ru se',
    ],
    ['outlook', 'at be cl co.id co.th com com.ar com.au com.br com.tr de dk es fr ie in it jp kr pt sa sk'],
    [
      'yahoo',
      'ca co.id co.in co.jp co.kr co.nz co.th co.uk co.za com com.ar com.au com.br com.cn com.co com.hk',
    ],
    [
      'yahoo',
      'com.mx com.my com.ph com.sg com.tr com.tw com.vn de dk es fi fr gr ie in it nl no pl pt ro se',
    ],
    ['yandex', 'by com com.tr kz ru ua'],
  ].flatMap(([name, ends = '']) => words(ends).map((end) => `${name}.${end}`)),
  ...words(`gmail.com googlemail.com icloud.com me.com mac.com msn.com aol.com proton.me protonmail.com pm.me
    tutanota.com tuta.com tuta.io fastmail.com zoho.com mail.com email.com ymail.com rocketmail.com hey.com
    mail.ru bk.ru inbox.ru list.ru rambler.ru ukr.net qq.com foxmail.com 163.com 126.com yeah.net sina.com sohu.com
    aliyun.com naver.com daum.net hanmail.net kakao.com rediffmail.com web.de t-online.de freenet.de posteo.de
    mailbox.org arcor.de vodafone.de bluewin.ch sunrise.ch a1.net aon.at orange.fr wanadoo.fr free.fr sfr.fr
    laposte.net libero.it virgilio.it tiscali.it alice.it tim.it telefonica.net terra.com.br uol.com.br bol.com.br
    ig.com.br wp.pl o2.pl onet.pl interia.pl seznam.cz centrum.cz azet.sk abv.bg freemail.hu citromail.hu telia.com
    ziggo.nl kpnmail.nl xs4all.nl planet.nl home.nl telenet.be skynet.be btinternet.com virginmedia.com sky.com
    talktalk.net comcast.net verizon.net att.net sbcglobal.net bellsouth.net cox.net charter.net earthlink.net
    shaw.ca rogers.com bell.net sympatico.ca bigpond.com optusnet.com.au docomo.ne.jp ezweb.ne.jp softbank.ne.jp`),
]);

/** A younger account is not counted as a separate player, because anybody can make many accounts at once. */
const ESTABLISHED_AFTER_MS = 7 * DAY;
export const ESTABLISHED_AFTER_DAYS = ESTABLISHED_AFTER_MS / DAY;

export type EstablishedAccount = {
  /** See `mailboxOf`. Two accounts with the same mailbox are one player. */
  mailbox: string;
  /** The registered domain of the address; null if the domain gives an address to everybody, as mail providers do. */
  domain: string | null;
};

/**
 * Null for an account that does not count: it is younger than 7 days, its address is unconfirmed, or its address
 * changed in the last 7 days (otherwise, each change would make a new player).
 */
export function establishedAccount(
  { email, emailVerified, createdAt, emailChangedAt }: EstablishingUser,
  now: Date,
): EstablishedAccount | null {
  const since = new Date(Math.max(createdAt.getTime(), emailChangedAt?.getTime() ?? 0));
  if (!emailVerified || now < after(since, ESTABLISHED_AFTER_MS)) return null;
  const domain = mailDomainOf(email);
  return { mailbox: mailboxOf(email), domain: isPublicMail(domain) ? null : domain };
}

type EstablishingUser = Pick<User, 'email' | 'emailVerified' | 'createdAt'> & {
  emailChangedAt?: Date | null | undefined;
};
