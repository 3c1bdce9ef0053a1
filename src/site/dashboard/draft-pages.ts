import { isIP } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ObjectId, WithId } from 'mongodb';
import { editionOf, otherEdition } from '../../games/editions.ts';
import { isProbed } from '../../games/games.ts';
import { t } from '../../language/t.ts';
import { after } from '../../platform/clock.ts';
import { hostAndPort } from '../../platform/host-and-port.ts';
import { CHECKS } from '../../platform/limits/check-allowance.ts';
import { plainText } from '../../probing/minecraft-text.ts';
import { discardDraft, findDraft, recordName, recordText } from '../../servers/drafts.ts';
import { secondAddressOf } from '../../servers/second-address.ts';
import {
  type AddressCheck,
  DRAFT_TTL_MS,
  type DraftCheck,
  type ServerDraft,
} from '../../servers/server-draft.ts';
import { type ProofEnded, proveDraftNow } from '../../workflows/answer-now.ts';
import { PageError } from '../error-pages.ts';
import { userOf } from '../guard-routes.ts';
import { SIGNED_IN } from '../route-options.ts';
import { contactText } from '../shared/contact.ts';
import type { Site } from '../shared/decorate-site.ts';
import { formRoute, type RefusedForm, refused } from '../shared/form-route.ts';
import { count, counted, day, timeAgo } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { notAnsweredStatus, notAnsweredText } from '../shared/not-answered.ts';
import { button, card, confirmed, copyable, linkTo, notice } from '../shared/parts.ts';
import { EDITION_NAMES } from '../shared/server-status.ts';
import type { DashboardParts } from './dashboard-parts.ts';

/** `/dashboard/drafts/<id>`: a server that is not listed until its ownership is verified. */
export function draftPages(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base } = app.site;
  const draftIdOf = (request: FastifyRequest) => idParam(request, 'draftId');
  const page = async (request: FastifyRequest): Promise<Page | null> => {
    const draft = await findDraft(deps, userOf(request)._id, draftIdOf(request));
    return draft && draftPage(base, draft, deps.clock.now());
  };

  app.get('/drafts/:draftId', SIGNED_IN, async (request, reply) => {
    const found = await page(request);
    if (found) return sendPage(request, reply, found);
    // If the draft is a listed server now (with the same id), as after the Back button or in a second tab: redirect.
    const own = { _id: draftIdOf(request), ownerId: userOf(request)._id, removedAt: null };
    const listed = await deps.servers.findOne(own, { projection: { _id: 1 } });
    if (listed) return reply.redirect(`${base}/dashboard/servers/${listed._id.toHexString()}`, 303);
    throw new PageError(404, t('You have no draft with this id.'));
  });

  formRoute(app, {
    path: '/drafts/:draftId/check',
    access: SIGNED_IN,
    show: page,
    run: ({ request, user }) => {
      const draftId = draftIdOf(request);
      return afterProving(app.site, proveDraftNow(deps, user, draftId), draftPath(base, draftId));
    },
  });

  formRoute(app, {
    path: '/drafts/:draftId/discard',
    access: SIGNED_IN,
    run: async ({ request, user }) => {
      await discardDraft(deps, user._id, draftIdOf(request));
      return `${base}/dashboard?done=discarded`;
    },
  });
}

export function draftPath(base: string, draftId: ObjectId): string {
  return `${base}/dashboard/drafts/${draftId.toHexString()}`;
}

export function draftPage(base: string, draft: WithId<ServerDraft>, now: Date): Page {
  const path = draftPath(base, draft._id);
  const editAddress = `${base}/dashboard/servers/new?draft=${draft._id.toHexString()}`;
  return {
    title: draft.name,
    body: html`<div class="page-head"><div>
        <p class="small"><a href="${base}/dashboard">${t('Your servers')}</a></p>
        <h1><bdi>${draft.name}</bdi></h1>
      </div>
      <div class="actions">
        <a class="button quiet" href="${editAddress}">${t('Edit')}</a>
        ${confirmed({
          text: t('Discard'),
          consequence: t('Your entries are deleted, and the verification code becomes invalid.'),
          form: button({ to: `${path}/discard`, text: t('Discard draft'), kind: 'danger' }),
        })}
      </div></div>
      ${ownershipProofCards(draft, { startCheck: `${path}/check`, editAddress }, now)}`,
  };
}

export function noDraft(): RefusedForm {
  return refused(404, t('You have no draft with this id.'));
}

/** If the ownership is proven: to the listed server, with the message `done`. Otherwise `path` shows the result. */
export async function afterProving(
  site: Site,
  proving: Promise<ProofEnded>,
  path: string,
  done = 'listed',
  anchor = 'check',
): Promise<string | RefusedForm> {
  const proved = await proving;
  switch (proved.kind) {
    case 'listed':
      return `${site.base}/dashboard/servers/${proved.serverId.toHexString()}?done=${done}`;
    case 'not-proven':
      return `${path}#${anchor}`;
    case 'taken':
      return refused(
        409,
        `${t('This address and port are already listed for another owner. If the server is yours, contact the operator of this listing.')}${contactText(site)}`,
      );
    case 'too-many-servers':
      return refused(
        409,
        `${t('Your account has reached its maximum number of servers. Remove one, or ask the operator of this listing for more.')}${contactText(site)}`,
      );
    case 'refused':
      return refused(
        429,
        t('You can check a server {times} times a minute, including test votes and changes to settings.', {
          times: CHECKS.times,
        }),
        proved.nextAllowedAt,
      );
    case 'busy':
      return refused(503, t('Another server is being listed right now. Check again.'));
    case 'not-found':
      return noDraft();
    default:
      return refused(notAnsweredStatus(proved), notAnsweredText(proved));
  }
}

/** `id`: of the card with the result of the check. */
type ProofPaths = { startCheck: string; editAddress: string; id?: string };

export function ownershipProofCards(draft: ServerDraft, paths: ProofPaths, now: Date): Html {
  const { check } = draft;
  return html`${check ? checkCard(draft, check, paths, now) : ''}${proofCard(draft, paths)}`;
}

/** The draft as one of its second address alone; null if it has none. */
function ofSecond(draft: ServerDraft): ServerDraft | null {
  const second = secondAddressOf(draft);
  const other = otherEdition(draft.game);
  return second && other ? { ...draft, ...second, game: other.id } : null;
}

function checkCard(draft: ServerDraft, check: DraftCheck, paths: ProofPaths, now: Date): Html {
  const second = ofSecond(draft);
  const results =
    second && check.second
      ? html`${addressResult(draft, check, paths, true)}${addressResult(second, check.second, paths, true)}`
      : addressResult(draft, check, paths);
  return card({
    id: paths.id ?? 'check',
    title: t('Check result'),
    actions: html`<span class="soft small">${timeAgo(check.at, now)}</span>`,
    body: results,
  });
}

function addressResult(draft: ServerDraft, check: AddressCheck, paths: ProofPaths, isNamed = false): Html {
  const message = (motd: string) => html`<div>
    <p class="soft small">${t('Message (MOTD) or name')}</p>
    <pre class="block" dir="auto">${plainText(motd)}</pre>
  </div>`;
  const edition = isNamed && editionOf(draft.game);
  return html`${edition ? html`<h3>${t(EDITION_NAMES[edition].name)}</h3>` : ''}${reached(draft, check, paths)}
      ${check.reached && check.motd ? message(check.motd) : ''}
      <ul class="plain">
        ${check.reached ? html`<li>${messageResult(draft, check)}</li>` : ''}
        <li>${dnsResult(draft, check)}</li>
      </ul>`;
}

function proofCard(draft: ServerDraft, { startCheck }: ProofPaths): Html {
  const { address, code } = draft;
  const second = ofSecond(draft);
  const hosts = [...new Set([address, ...(second ? [second.address] : [])])];
  const ways = [
    ...(isProbed(draft.game) ? [messageWay(code)] : []),
    // An IP address has no DNS record.
    ...hosts.filter((host) => isIP(host) === 0).map((host) => dnsWay(host, code)),
  ];
  const what = second
    ? t('Verify each of the two addresses by its own message or by a DNS record of its host, then check.')
    : ways.length > 1
      ? t('Choose one of these ways, then check.')
      : t('Do this, then check.');
  const noWay = t(
    'We cannot verify an IP address without a game that we can query. Enter a host name, choose a game, or contact the operator of this listing.',
  );
  const lastDay = day(after(draft.createdAt, DRAFT_TTL_MS));
  return card({
    title: t('Verify ownership'),
    body: html`<p>${what} ${t('You only need to do this once and can remove the code afterwards.')}</p>
      ${ways.length === 0 ? notice('attention', noWay) : ways}
      <div class="actions">${button({ to: startCheck, text: t('Check now'), kind: 'primary' })}</div>
      <p class="soft small">${t('Your entries are kept until {day}.', { day: lastDay })}</p>`,
  });
}

function reached(draft: ServerDraft, check: AddressCheck, { editAddress }: ProofPaths): Html {
  const { game, address, port } = draft;
  if (check.reached) {
    const { latencyMs, version } = check;
    const reply = t('Server reached: {players}, {latencyMs} ms', {
      players: playersOf(check),
      latencyMs: count(Math.round(latencyMs)),
    });
    return notice('good', html`${reply}${version ? html` <span class="soft">(${version})</span>` : ''}`);
  }
  if (!isProbed(game)) {
    return notice(
      'quiet',
      game
        ? t(
            'We cannot query {game} servers, so we cannot check this server. Its status will come from its own reports. Verify it with a DNS record.',
            { game: gameName(game) },
          )
        : t(
            'Without a game, we cannot check this server. Its status will come from its own reports. Verify it with a DNS record.',
          ),
    );
  }
  const advice =
    draft.secondOf || draft.secondAddress
      ? t(
          'Each address must answer once before it is listed. <a>Edit your entries</a>, or start the server and check again.',
          {
            a: linkTo(editAddress),
          },
        )
      : t(
          'The server must answer once before it is listed. <a>Edit your entries</a>, or start the server and check again. If the server does not answer queries by design, leave the game empty.',
          { a: linkTo(editAddress) },
        );
  return notice(
    'bad',
    html`<p>${t('We could not reach {address}.', { address: hostAndPort(address, port) })} ${check.words}</p>
      <p>${advice}</p>`,
  );
}

function playersOf({ onlinePlayers, playersHidden, maxPlayers }: AddressCheck): string {
  if (playersHidden) return t('players hidden');
  if (maxPlayers === 0) return counted(onlinePlayers, 'player');
  return t('{online} of {most, plural, one {# player} other {# players}}', {
    online: count(onlinePlayers),
    most: maxPlayers,
  });
}

function messageResult({ code }: ServerDraft, { motd, messageCounts }: AddressCheck): Content {
  if (!messageCounts) {
    return t(
      'We cannot accept its message: it comes from a query port that anyone on the same machine could have opened. Use the DNS record.',
    );
  }
  return plainText(motd).toLowerCase().includes(code)
    ? t('Code found in the message.')
    : t('Code not found in the message yet.');
}

function dnsResult({ address }: ServerDraft, { dns }: AddressCheck): Content {
  switch (dns) {
    case 'found':
      return t('DNS record found.');
    case 'wrong':
      return t('The DNS record <code>{address}</code> has a different code.', {
        address: recordName(address),
      });
    case 'none':
      return t(
        'DNS record <code>{address}</code> not found yet. A new record may take some minutes to appear.',
        { address: recordName(address) },
      );
    case 'no-answer':
      return t('The name servers of <code>{address}</code> did not answer.', { address });
    case 'no-name':
      return t('An IP address has no DNS record. Use the message.');
  }
}

function messageWay(code: string): Html {
  return html`<section class="way">
    <h3>${t('Message (MOTD)')}</h3>
    <p>${t('Add this code anywhere in the server’s name or message (MOTD), and restart or reload the server.')}</p>
    ${copyable(code, t('the code'))}
  </section>`;
}

function dnsWay(address: string, code: string): Html {
  return html`<section class="way">
    <h3>${t('DNS record')}</h3>
    <p>${t('Create a TXT record with this name and value.')}</p>
    ${copyable(recordName(address), t('the record’s name'))} ${copyable(recordText(code), t('the record’s value'))}
  </section>`;
}
