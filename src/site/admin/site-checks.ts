import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import manifest from '../../../package.json' with { type: 'json' };
import { SECOND } from '../../platform/clock.ts';
import { describeSkew } from '../../platform/clock-skew.ts';
import { isLoopback } from '../../platform/config-values.ts';
import { within } from '../../platform/deadline.ts';
import { OLDEST_MONGODB } from '../../platform/mongo.ts';
import { unreachableMembers } from '../../platform/mongo-members.ts';
import { DAMAGED_DATA } from '../../platform/redis.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { type Findings, readRedis } from '../../process/redis-findings.ts';
import { NO_REFERRER } from '../same-origin.ts';
import { exactTime } from '../shared/format.ts';
import { type Content, html } from '../shared/html.ts';

/** `saw` is what Tallyport found, `mend` what the operator can do about it. */
export type SiteCheck = {
  id: 'address' | 'https' | 'proxy' | 'mail' | 'clock' | 'versions';
  title: string;
  tone: 'good' | 'attention' | 'bad';
  saw: Content;
  mend?: Content;
};

type Seen = Omit<SiteCheck, 'id' | 'title'>;

const TIMEOUT_MS = 2 * SECOND;

const MAIL_SETTINGS = '/operator/settings/mail';

const restart = 'and restart web, worker and scheduler';

/** It never throws. */
export async function checkSite(deps: AppDeps, request: FastifyRequest): Promise<SiteCheck[]> {
  const { base } = request.server.site;
  const [clock, versions] = await Promise.all([clockCheck(deps), versionCheck(deps)]);
  return [
    { id: 'address', title: 'Public address', ...addressCheck(deps, request) },
    { id: 'https', title: 'HTTPS', ...httpsCheck(deps) },
    { id: 'proxy', title: 'Proxy', ...proxyCheck(deps, request) },
    { id: 'mail', title: 'Mail', ...mailCheck(deps, base) },
    { id: 'clock', title: 'Clock', ...clock },
    { id: 'versions', title: 'Versions', ...versions },
  ];
}

function isLocal({ config }: AppDeps): boolean {
  return isLoopback(new URL(config.PUBLIC_URL).hostname);
}

function addressCheck(deps: AppDeps, request: FastifyRequest): Seen {
  const { PUBLIC_URL } = deps.config;
  const opened = request.host;
  if (opened !== new URL(PUBLIC_URL).host) {
    return {
      tone: 'bad',
      saw: html`PUBLIC_URL is ${code(PUBLIC_URL)}, but your browser opened ${code(opened)}.
        Links in mails and for plugins lead to PUBLIC_URL.`,
      mend: html`Set PUBLIC_URL to the address that visitors use ${restart}, or open ${code(PUBLIC_URL)}.`,
    };
  }
  if (!isLocal(deps)) return { tone: 'good', saw: html`Visitors and plugins use ${code(PUBLIC_URL)}.` };
  return {
    tone: 'attention',
    saw: html`Only this machine can open ${code(PUBLIC_URL)}.`,
    mend: html`Give the site a name in DNS, set ${code('PUBLIC_URL=https://votes.example.org')} ${restart}.`,
  };
}

function httpsCheck(deps: AppDeps): Seen {
  if (deps.config.PUBLIC_URL.startsWith('https:'))
    return { tone: 'good', saw: 'PUBLIC_URL begins with https, and browsers are told to stay with it.' };
  if (isLocal(deps)) return { tone: 'good', saw: 'Not needed as long as only this machine opens the site.' };
  return {
    tone: 'bad',
    saw: 'Passwords, sessions and tokens cross the network unencrypted, and players cannot vote on the pages.',
    mend: html`Put a proxy with a certificate in front
      (with Compose: ${code('docker compose --profile caddy up -d')}) and begin PUBLIC_URL with https.`,
  };
}

const FORWARDED = ['x-forwarded-for', 'forwarded', 'x-real-ip'];

function proxyCheck(deps: AppDeps, { headers, ip, ips }: FastifyRequest): Seen {
  const { TRUST_PROXY: trust } = deps.config;
  const header = FORWARDED.find((name) => headers[name] !== undefined);
  const yours = html`Your address is ${code(ip)}.`;
  if (trust === false && header) {
    return {
      tone: 'bad',
      saw: html`This request came through a proxy (it has ${code(header)}), and TRUST_PROXY trusts none.
        All visitors share the address ${code(ip)} and its limits.`,
      mend: html`Set ${code('TRUST_PROXY=1')} if one proxy is in front, ${restart}.
        Without a proxy, your browser added the header.`,
    };
  }
  if (trust !== false && !headers['x-forwarded-for']) {
    return {
      tone: 'attention',
      saw: html`TRUST_PROXY is ${code(String(trust))}, but this request has no X-Forwarded-For. ${yours}`,
      mend: 'Let the proxy pass on X-Forwarded-For, and let visitors reach the site only through it. Without a proxy, remove TRUST_PROXY.',
    };
  }
  if (Array.isArray(trust) && ips?.length === 1) {
    return {
      tone: 'bad',
      saw: html`This request came from ${code(ip)}, which TRUST_PROXY does not name, with X-Forwarded-For.`,
      mend: html`If that is your proxy, add its address to TRUST_PROXY ${restart}.`,
    };
  }
  if (!isLocal(deps) && isPrivate(ip)) {
    return {
      tone: 'attention',
      saw: html`${yours} It is a private one. Visitors from the internet must not have such addresses.`,
      mend: 'Nothing is wrong if you are in the site’s own network. Otherwise visitors share this address and its limits: TRUST_PROXY counts too few proxies, a proxy does not pass on X-Forwarded-For, or a container network hides addresses, as those of IPv6 visitors (docs/operating/settings.md).',
    };
  }
  // A click on a link of the site sends a referrer under the site's own policy.
  if (
    headers['sec-fetch-site'] === 'same-origin' &&
    headers['sec-fetch-mode'] === 'navigate' &&
    !headers.referer
  ) {
    return {
      tone: 'attention',
      saw: html`Your browser sent no Referer from one page of the site to the next. ${yours}`,
      mend: html`If no extension of your browser removes it: ${NO_REFERRER}`,
    };
  }
  return {
    tone: 'good',
    saw: html`${trust === false ? 'No proxy is in front.' : 'The proxy passes on addresses.'} ${yours}`,
  };
}

/** Whether no visitor from the internet can have this address. */
function isPrivate(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  return ['private', 'uniqueLocal', 'loopback', 'linkLocal', 'carrierGradeNat'].includes(
    ipaddr.process(address).range(),
  );
}

function mailCheck({ config: { SMTP_URL, MAIL_FROM } }: AppDeps, base: string): Seen {
  const settings = `${base}${MAIL_SETTINGS}`;
  if (!SMTP_URL) {
    return {
      tone: 'attention',
      saw: 'No mail server is set: addresses are not confirmed, nobody can reset a password, and owners get no mail.',
      mend: html`<a href="${settings}">Set the mail server</a> and send a test mail.`,
    };
  }
  const from = html`Mail goes through ${code(new URL(SMTP_URL).host)}, from ${code(MAIL_FROM ?? '')}.`;
  return {
    tone: 'good',
    saw: html`${from} <a href="${settings}">Send a test mail</a> to see whether it arrives.`,
  };
}

async function clockCheck({ clock, clockSkew }: AppDeps): Promise<Seen> {
  const now = html`It is ${exactTime(clock.now())} here.`;
  try {
    const skew = describeSkew(await within(TIMEOUT_MS, Promise.resolve(clockSkew())));
    return skew === ''
      ? { tone: 'good', saw: html`This machine and MongoDB agree. ${now}` }
      : {
          tone: 'bad',
          saw: html`Votes are refused: ${skew.split(':')[0]}. ${now}`,
          mend: 'Let NTP set both clocks.',
        };
  } catch {
    return { tone: 'bad', saw: html`MongoDB does not say what time it has. ${now}` };
  }
}

async function versionCheck(deps: AppDeps): Promise<Seen> {
  const [mongodb, redis] = await Promise.all([mongoFindings(deps), redisFindings(deps)]);
  const problems = [...mongodb.errors, ...redis.errors, ...mongodb.warnings, ...redis.warnings];
  const isBad = mongodb.errors.length + redis.errors.length > 0;
  const facts = [
    `Tallyport ${manifest.version}, Node ${process.versions.node}.`,
    ...mongodb.facts,
    ...redis.facts,
  ];
  return {
    tone: isBad ? 'bad' : problems.length > 0 ? 'attention' : 'good',
    saw: facts.join(' '),
    ...(problems.length > 0 ? { mend: problems.join(' ') } : {}),
  };
}

async function mongoFindings({ mongo }: AppDeps): Promise<Findings> {
  try {
    const asked = Promise.all([mongo.db.command({ buildInfo: 1 }), unreachableMembers(mongo.db)]);
    const [{ version }, away] = await within(TIMEOUT_MS, asked);
    const isOld = Number.parseInt(version, 10) < OLDEST_MONGODB;
    const old = `MongoDB ${version} is too old: use ${OLDEST_MONGODB} or newer.`;
    return { facts: [`MongoDB ${version}.`], warnings: [...(isOld ? [old] : []), ...away], errors: [] };
  } catch {
    return { facts: [], warnings: [], errors: ['MongoDB does not answer.'] };
  }
}

async function redisFindings({ producerRedis }: AppDeps): Promise<Findings> {
  return within(TIMEOUT_MS, readRedis(producerRedis)).catch(() => ({
    facts: [],
    warnings: [],
    errors: [`Redis does not answer: votes are accepted, and forwarded when it is back; ${DAMAGED_DATA}.`],
  }));
}

function code(text: string): Content {
  return html`<code>${text}</code>`;
}
