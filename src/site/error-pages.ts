import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'hono/html';
import { after, SECOND } from '../platform/clock.ts';
import { logRefusal, type Refusal, refusalOf, sendRefusal } from '../process/http-errors.ts';
import type { Content } from './html.ts';
import { layout, sendHtml } from './layout.ts';
import { textField } from './parts.ts';
import type { Site } from './site-settings.ts';
import { wantsPage } from './wants-page.ts';
import { exactTime, relative, time } from './words.ts';

/** Why a page is not shown, in words for whoever asked for it. */
export class PageError extends Error {
  readonly statusCode: number;
  readonly retryAt: Date | undefined;

  /** @param retryAt - when it will be answered, for 429 and 503 */
  constructor(statusCode: number, sentence: string, retryAt?: Date) {
    super(sentence);
    this.name = 'PageError';
    this.statusCode = statusCode;
    this.retryAt = retryAt;
  }
}

const TITLES: Record<number, string> = {
  400: 'That cannot be read',
  401: 'Sign in first',
  403: 'Not allowed',
  404: 'There is nothing here',
  405: 'That cannot be done here',
  409: 'That is taken already',
  413: 'That is too much',
  415: 'That is of a kind we cannot read',
  429: 'Too often',
  500: 'Something went wrong on our side',
  503: 'Not available at the moment',
};

const HELP: Record<number, string> = {
  404: 'The address may be mistyped, or what was here is gone.',
  429: 'Nothing is lost: do the same again then.',
  500: 'It has been noted under the number below. Trying again in a minute often helps. Votes that were accepted are safe.',
  503: 'Votes that were accepted are safe, and none is lost meanwhile.',
};

/** Makes one exit for the errors of every route: a page where a browser asks for one, else the API's answer. */
export function signOutLink(app: FastifyInstance): void {
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    const refusal =
      error instanceof PageError
        ? { status: error.statusCode, sentence: error.message, headers: retryAfter(error) }
        : refusalOf(error, request);
    logRefusal(request, error, refusal);
    // The route's pattern, where there is one: an address may spell the same path in many ways.
    const isApi = (request.routeOptions.url ?? request.url).startsWith(`${app.site.base}/api/`);
    return isApi || !wantsPage(request)
      ? sendRefusal(reply, refusal)
      : sendErrorPage(request, reply, refusal);
  });
}

function sendErrorPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, sentence, headers = {} }: Refusal,
): Promise<FastifyReply> {
  const { site } = request.server;
  const page = layout(site, request.signedIn?.user ?? null, {
    title: TITLES[status] ?? 'Error',
    width: 'narrow',
    path: request.url,
    body: html`<h1>${TITLES[status] ?? 'Error'}</h1>
      <p>${sentence}</p>
      ${HELP[status] ? html`<p class="soft">${HELP[status]}</p>` : ''}
      ${retry(headers)} ${wayOut(site, request, status)}`,
  });
  return sendHtml(reply.headers(headers), page, status);
}

/** When it will be answered, as the header says it to programs. */
function retry(headers: Record<string, string>): Content {
  const seconds = Number(headers['retry-after']);
  if (!(seconds > 0)) return '';
  const now = new Date();
  const at = after(now, seconds * SECOND);
  return html`<p>You can try again <strong>${relative(at, now)}</strong>, at ${seconds < 60 ? exactTime(at) : time(at)}.</p>`;
}

/** Where to go from here. */
function wayOut({ base }: Site, request: FastifyRequest, status: number): Content {
  const again =
    request.method === 'GET' && [429, 500, 503].includes(status)
      ? html`<a class="button" href="">Try again</a>`
      : '';
  return html`${
    status === 404
      ? html`<form method="get" action="${base}/" class="filters" role="search" aria-label="Servers">
        ${textField({ name: 'q', label: 'Find a server by its name', type: 'search', maxlength: 100, spellcheck: false })}
        <button type="submit">Find</button>
      </form>`
      : ''
  }
    <p class="actions">${again}<a class="button quiet" href="${base}/">To the ranking</a></p>
    ${status === 500 ? html`<p class="soft small">Number for questions to the operator: <span class="mono">${request.id}</span></p>` : ''}`;
}

function retryAfter({ retryAt }: PageError): Record<string, string> {
  if (!retryAt) return {};
  return { 'retry-after': String(Math.max(1, Math.ceil((retryAt.getTime() - Date.now()) / 1_000))) };
}
