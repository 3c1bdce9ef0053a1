import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { User } from '../accounts/user.ts';
import { codeOfStatus } from '../http/error-codes.ts';
import { logRefusal, type Refusal, refusalOf, sendRefusal } from '../http/http-errors.ts';
import { inLanguage, languageNow } from '../language/language.ts';
import { defineMessage, type Text, t, translated } from '../language/t.ts';
import { AppError } from '../platform/app-error.ts';
import { after, SECOND } from '../platform/clock.ts';
import type { Site } from './shared/decorate-site.ts';
import { drawing } from './shared/empty-card.ts';
import { exactTime, relative, time } from './shared/format.ts';
import { type Content, type Html, html } from './shared/html.ts';
import type { IconName } from './shared/icon.ts';
import { layout, sendHtml } from './shared/layout.ts';
import { textField } from './shared/parts.ts';
import { wantsPage } from './wants-page.ts';

export class PageError extends AppError {
  readonly statusCode: number;
  readonly retryAt: Date | undefined;

  /**
   * @param sentence - translated; a message of `defineMessage` is translated when the page is made, one of `filled` at
   * once
   * @param retryAt - for 429 and 503: when a new request will be accepted
   */
  constructor(statusCode: number, sentence: string | Text, retryAt?: Date) {
    super(typeof sentence === 'string' ? sentence : t(sentence));
    this.statusCode = statusCode;
    this.retryAt = retryAt;
  }
}

const TITLES: Record<number, Text> = {
  400: defineMessage('Invalid request'),
  401: defineMessage('Sign in first'),
  403: defineMessage('Access denied'),
  404: defineMessage('Page not found'),
  405: defineMessage('Method not allowed'),
  409: defineMessage('Conflict'),
  413: defineMessage('Request too large'),
  415: defineMessage('Unsupported content type'),
  429: defineMessage('Too many requests'),
  500: defineMessage('Something went wrong on our side'),
  503: defineMessage('Temporarily unavailable'),
};

const ICONS: Record<number, IconName> = { 404: 'search', 429: 'clock', 503: 'clock' };

const HELP: Record<number, Text> = {
  404: defineMessage('Check the address. The page may have been removed.'),
  429: defineMessage('No data was lost.'),
  500: defineMessage(
    'We have logged this error under the number below. Try again in a minute. Accepted votes are safe.',
  ),
  503: defineMessage('Accepted votes are safe.'),
};

/** Browsers get a page, except below `/api/`; all other clients get the API's JSON. */
export function handleErrors(app: FastifyInstance): void {
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    const refusal =
      error instanceof PageError
        ? {
            status: error.statusCode,
            code: codeOfStatus(error.statusCode),
            sentence: error.message,
            headers: retryAfter(error.retryAt),
          }
        : refusalOf(error, request);
    logRefusal(request, error, refusal);
    // The same path can be encoded in many ways, so the pattern of the route is compared.
    const isApi = (request.routeOptions.url ?? request.url).startsWith(`${app.site.base}/api/`);
    if (isApi || !wantsPage(request)) return sendRefusal(reply, refusal);
    if (refusal.code === 'overloaded')
      return inLanguage(request.language, () => sendSentence(reply, refusal));
    const user = await userOfErrorPage(request);
    return inLanguage(request.language, () => sendErrorPage(request, reply, user, refusal));
  });
}

/** A page of one sentence costs little: an overloaded process has no time for more. */
async function sendSentence(
  reply: FastifyReply,
  { status, sentence, headers = {} }: Refusal,
): Promise<FastifyReply> {
  const title = t(TITLES[status] ?? 'Error');
  const page = html`<!doctype html>
<html lang="${languageNow()}"><meta charset="utf-8" /><meta name="viewport" content="width=device-width" />
<title>${title}</title><link rel="stylesheet" href="${reply.server.site.asset('site.css')}" />
<main class="narrow"><h1>${title}</h1><p>${translated(sentence)}</p>
<p class="actions"><a class="button" href="">${t('Try again')}</a></p></main></html>`;
  return sendHtml(reply.headers(headers), page, status);
}

/** If the path is unknown, no hook has read the session. If it cannot be read, the page is made as for a visitor. */
async function userOfErrorPage(request: FastifyRequest): Promise<User | null> {
  if (!request.is404 || !request.headers.cookie) return request.signedIn?.user ?? null;
  const signedIn = await request.server.site.whoIs?.(request).catch(() => null);
  return signedIn?.user ?? null;
}

function sendErrorPage(
  request: FastifyRequest,
  reply: FastifyReply,
  user: User | null,
  { status, sentence, headers = {} }: Refusal,
): Promise<FastifyReply> {
  const { site } = request.server;
  const help = HELP[status];
  const page = layout(site, user, {
    title: t(TITLES[status] ?? 'Error'),
    width: 'narrow',
    path: request.url.split('?')[0] ?? '',
    isLanguageInAddress: false,
    body: html`${drawing(ICONS[status] ?? 'triangle-alert')}
      <h1>${t(TITLES[status] ?? 'Error')}</h1>
      <p>${translated(sentence)}</p>
      ${retry(headers)}
      ${help ? html`<p class="soft">${t(help)}</p>` : ''} ${nextSteps(site, request, status)}`,
  });
  return sendHtml(reply.headers(headers), page, status);
}

function retry(headers: Record<string, string>): Content {
  const seconds = Number(headers['retry-after']);
  const now = new Date();
  return seconds > 0 ? tryAgain(after(now, seconds * SECOND), now) : '';
}

export function tryAgain(at: Date, now = new Date()): Content {
  const isSoon = at.getTime() - now.getTime() < 60 * SECOND;
  const sentence = t('You can try again <strong>{time}</strong>, at {at}.', {
    time: relative(at, now),
    at: isSoon ? exactTime(at) : time(at),
  });
  return html`<p>${sentence}</p>`;
}

function nextSteps({ base }: Site, request: FastifyRequest, status: number): Content {
  const again =
    request.method === 'GET' && [429, 500, 503].includes(status)
      ? html`<a class="button" href="">${t('Try again')}</a>`
      : '';
  const number = t('Error number for the operator: <span>{id}</span>', {
    span: (text) => html`<span class="mono">${text}</span>`,
    id: request.id,
  });
  return html`${status === 404 ? searchForm(base) : ''}
    <p class="actions">${again}<a class="button quiet" href="${base}/">${t('Go to the ranking')}</a>${
      status === 404 ? html`<a class="button quiet" href="${base}/games">${t('Games')}</a>` : ''
    }</p>
    ${status === 500 ? html`<p class="soft small">${number}</p>` : ''}`;
}

function searchForm(base: string): Html {
  return html`<form method="get" action="${base}/" class="search-row" role="search" aria-label="${t('Servers')}">
    ${textField({ name: 'q', label: t('Find a server'), type: 'search', maxlength: 100, spellcheck: false })}
    <button type="submit">${t('Find')}</button>
  </form>`;
}

export function retryAfter(retryAt: Date | undefined): Record<string, string> {
  if (!retryAt) return {};
  return { 'retry-after': String(Math.max(1, Math.ceil((retryAt.getTime() - Date.now()) / 1_000))) };
}
