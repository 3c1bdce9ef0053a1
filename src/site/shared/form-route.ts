import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import type { WithId } from 'mongodb';
import { z } from 'zod';
import type { SignedIn } from '../../accounts/sessions.ts';
import { t } from '../../language/t.ts';
import { InvalidDocumentError } from '../../platform/document.ts';
import type { Server } from '../../servers/server.ts';
import { PageError, retryAfter } from '../error-pages.ts';
import { makeRefusedForm } from '../limited-pages.ts';
import type { Access } from '../route-access.ts';
import { serverPath } from './dashboard-paths.ts';
import { withErrorSummary } from './error-summary.ts';
import { INCOMPLETE, readForm, sentencesOf, type Typed } from './form.ts';
import { type Page, sendPage } from './layout.ts';

/** A sentence for each field with an error, and under `form` one for the whole form. */
export type RefusedForm = {
  status?: number;
  errors: Record<string, string>;
  /** When the form will be accepted, for 429 and 503. */
  retryAt?: Date;
  /** Shows the errors in place of the form's page: for example, if the values are already stored. */
  on?: Page;
};

export type Sending = { send: (reply: FastifyReply) => FastifyReply | Promise<FastifyReply> };

/** A path to redirect to, or a page without a redirect: for secrets that are shown once, and for previews. */
export type FormAnswer = string | { page: Page | Promise<Page>; status?: number } | RefusedForm | Sending;

export type SentForm<S extends z.ZodObject> = {
  request: FastifyRequest;
  reply: FastifyReply;
  data: z.output<S>;
  /** The values as they were entered. */
  values: Record<string, string>;
};

type Sender = { user: SignedIn['user']; by: string };

export type PathOfServer = (part?: string) => string;

export type ContextOf<A extends Access> = A extends 'owner' | 'sole-owner'
  ? Sender & { server: WithId<Server>; path: PathOfServer }
  : A extends 'user' | 'operator'
    ? Sender
    : unknown;

type FieldOf<Output> = Output extends unknown ? keyof Output : never;

export type Form<S extends z.ZodObject, A extends Access = Access> = {
  path: string;
  access: RouteShorthandOptions & { config: { access: A } };
  /** Absent if the form is only a button. */
  schema?: S | ((request: FastifyRequest) => S);
  secrets?: FieldOf<z.output<S>>[];
  /** The name in the form, by the name in an `InvalidDocumentError`. */
  fields?: Record<string, string>;
  /** Runs before `run`. If it returns an answer, this answer is sent, even if fields are invalid. */
  check?: (request: FastifyRequest) => FormAnswer | null | Promise<FormAnswer | null>;
  /** If it throws an `InvalidDocumentError`, the form is shown again. */
  run: (sent: SentForm<S> & ContextOf<A>) => FormAnswer | Promise<FormAnswer>;
  refusalOf?: (error: unknown, values: Record<string, string>) => RefusedForm | undefined;
  /** Shows a refusal. Absent (as for a button) or null: an error page shows it. */
  show?: (request: FastifyRequest, typed: Typed) => Page | null | Promise<Page | null>;
};

export function refused(status: number, sentence: string, retryAt?: Date): RefusedForm {
  return { status, errors: { form: sentence }, ...(retryAt ? { retryAt } : {}) };
}

/** A refused form is shown again, with its values and errors (docs/adr/0120-one-route-for-forms.md). */
export function formRoute<S extends z.ZodObject = typeof NO_FIELDS, A extends Access = Access>(
  app: FastifyInstance,
  form: Form<S, A>,
): void {
  app.post(form.path, form.access, async (request, reply) => {
    const { answer, values } = await answerOf(form, request, reply);
    if (typeof answer === 'string') return reply.redirect(answer, 303);
    if ('page' in answer) return sendPage(request, reply, await answer.page, answer.status);
    if ('send' in answer) return answer.send(reply);
    return sendAgain(form, request, reply, values, answer);
  });
}

const NO_FIELDS = z.object({});

async function answerOf<S extends z.ZodObject, A extends Access>(
  { schema = NO_FIELDS as unknown as S, check, run, refusalOf, fields = {}, show }: Form<S, A>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<{ answer: FormAnswer; values: Record<string, string> }> {
  const { data, typed } = readForm(typeof schema === 'function' ? schema(request) : schema, request);
  const { values, errors } = typed;
  try {
    const early = await check?.(request);
    if (early) return { answer: early, values };
    if (data) {
      const sent = { request, reply, data, values, ...contextOf(request) };
      return { answer: await run(sent as SentForm<S> & ContextOf<A>), values };
    }
    return { answer: show ? { errors } : refused(400, t(INCOMPLETE)), values };
  } catch (error) {
    const answer = refusalOf?.(error, values) ?? invalid(error, fields);
    if (!answer) throw error;
    return { answer, values };
  }
}

/** `guardRoutes` has required what the access of the form names. */
function contextOf({ signedIn, ownServer: server, server: { site } }: FastifyRequest) {
  return {
    ...(signedIn ? { user: signedIn.user, by: signedIn.user.email } : {}),
    ...(server ? { server, path: (part?: string) => serverPath(site.base, server, part) } : {}),
  };
}

function invalid(error: unknown, fields: Record<string, string>): RefusedForm | undefined {
  if (!(error instanceof InvalidDocumentError)) return undefined;
  const named = Object.entries(error.errors).map(([field, rule]) => [fields[field] ?? field, rule]);
  return { errors: Object.fromEntries(named) };
}

async function sendAgain<S extends z.ZodObject, A extends Access>(
  { show, secrets = [] }: Form<S, A>,
  request: FastifyRequest,
  reply: FastifyReply,
  values: Record<string, string>,
  { status = 400, errors, retryAt, on }: RefusedForm,
): Promise<FastifyReply> {
  const sentences = sentencesOf(errors);
  const hidden = new Set<string>(secrets.map(String));
  const open = Object.fromEntries(Object.entries(values).filter(([name]) => !hidden.has(name)));
  const typed = { values: open, errors: sentences };
  const page = on ?? (show && (await makeRefusedForm(request, async () => show(request, typed))));
  if (!page) throw new PageError(status, sentences.form ?? Object.values(sentences).join(' '), retryAt);
  const withErrors = await withErrorSummary(page, sentences, retryAt);
  return sendPage(request, reply.headers(retryAfter(retryAt)), withErrors, status);
}
