import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'hono/html';
import { noteFault, type Refusal, refusalOf, sendRefusal } from '../api/errors.ts';
import { layout, sendHtml } from './layout.ts';
import { wantsPage } from './wants-page.ts';

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
  500: 'It has been noted. Trying again in a minute often helps.',
  503: 'Votes are safe. Try again in a few seconds.',
};

/** Makes one exit for the errors of every route: a page where a browser asks for one, else the API's answer. */
export function exitForPeople(app: FastifyInstance): void {
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    const refusal =
      error instanceof PageError
        ? { status: error.statusCode, sentence: error.message, headers: retryAfter(error) }
        : refusalOf(error, request);
    noteFault(request, error, refusal);
    const isApi = request.url.startsWith(`${app.site.base}/api/`);
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
  const page = layout(site, request.signedIn?.person ?? null, {
    title: TITLES[status] ?? 'Error',
    width: 'narrow',
    path: request.url,
    body: html`<h1>${TITLES[status] ?? 'Error'}</h1>
      <p>${sentence}</p>
      ${HELP[status] ? html`<p class="soft">${HELP[status]}</p>` : ''}
      <p><a class="button quiet" href="${site.base}/">To the start</a></p>`,
  });
  return sendHtml(reply.headers(headers), page, status);
}

function retryAfter({ retryAt }: PageError): Record<string, string> {
  if (!retryAt) return {};
  return { 'retry-after': String(Math.max(1, Math.ceil((retryAt.getTime() - Date.now()) / 1_000))) };
}
