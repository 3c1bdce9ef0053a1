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

/** The refusal of a form: a sentence for each field with an error, and under `form` one for the whole form. */
export type RefusedForm = {
  /** 400 by default. */
  status?: number;
  errors: Record<string, string>;
  /** The time at which the form will be accepted, for 429 and 503. */
  retryAt?: Date;
  /** The page that shows the errors, if it is not that of the form: for example, if the values are already stored. */
  on?: Page;
};

/** A page in the response to the form itself, without a redirect: for secrets that are shown once, and for previews. */
export type ShownPage = { page: Page | Promise<Page>; status?: number };

/** A response that is not a page, such as a file. */
export type Sending = { send: (reply: FastifyReply) => FastifyReply | Promise<FastifyReply> };

/** The answer to a form: a redirect to a path, a page, the form with its errors, or another response. */
export type FormAnswer = string | ShownPage | RefusedForm | Sending;

/** A request with a valid form. */
export type SentForm<S extends z.ZodObject> = {
  request: FastifyRequest;
  /** The reply, for setting cookies and headers. */
  reply: FastifyReply;
  data: z.output<S>;
  /** The values as they were entered. */
  values: Record<string, string>;
};

/** The user who sent a form. `by`: the user in the audit log. */
type Sender = { user: SignedIn['user']; by: string };

/** Makes the path of a part of the server's dashboard, such as `/settings`. */
export type PathOfServer = (part?: string) => string;

/** What `run` knows of a request, by the access of its form. */
export type ContextOf<A extends Access> = A extends 'owner' | 'sole-owner'
  ? Sender & { server: WithId<Server>; path: PathOfServer }
  : A extends 'user' | 'operator'
    ? Sender
    : unknown;

/** A field of any of the schemas, if a form has several. */
type FieldOf<Output> = Output extends unknown ? keyof Output : never;

export type Form<S extends z.ZodObject, A extends Access = Access> = {
  path: string;
  /** The options of the route, which say who may send the form (route-options.ts). */
  access: RouteShorthandOptions & { config: { access: A } };
  /** Absent if the form is only a button. */
  schema?: S | ((request: FastifyRequest) => S);
  /** Fields that are empty when the form is shown again, such as passwords. */
  secrets?: FieldOf<z.output<S>>[];
  /** For fields that an `InvalidDocumentError` names differently: the name in the form, by the name in the error. */
  fields?: Record<string, string>;
  /** Runs before `run`. If it returns an answer, this answer is sent, even if fields are invalid. */
  check?: (request: FastifyRequest) => FormAnswer | null | Promise<FormAnswer | null>;
  /** Calls the feature. If it throws an `InvalidDocumentError`, the form is shown again. */
  run: (sent: SentForm<S> & ContextOf<A>) => FormAnswer | Promise<FormAnswer>;
  /** Converts an error of `run` or `check` to a refusal; undefined if the form did not cause the error. */
  refusalOf?: (error: unknown, values: Record<string, string>) => RefusedForm | undefined;
  /**
   * Makes the form's page with the entered values, to show a refusal. If `show` is absent (as for a button) or returns
   * null: the refusal is shown on an error page.
   */
  show?: (request: FastifyRequest, typed: Typed) => Page | null | Promise<Page | null>;
};

/** Refuses a form as a whole. `retryAt`: the time at which the form will be accepted. */
export function refused(status: number, sentence: string, retryAt?: Date): RefusedForm {
  return { status, errors: { form: sentence }, ...(retryAt ? { retryAt } : {}) };
}

/**
 * Registers the route of a form (docs/adr/0120-one-route-for-forms.md). The route validates the fields and calls `run`.
 * A refused form is shown again, with the entered values and a summary of the errors.
 */
export function formRoute<S extends z.ZodObject = typeof NO_FIELDS, A extends Access = Access>(
  app: FastifyInstance,
  form: Form<S, A>,
): void {
  app.post(form.path, form.access, async (request, reply) => {
    const { answer, values } = await answerOf(form, request, reply);
    if (typeof answer === 'string') return reply.redirect(answer, 303);
    if ('page' in answer) return sendPage(request, reply, await answer.page, answer.status);
    if ('send' in answer) return answer.send(reply);
    return sendAgain(form, request, reply, { values, refused: answer });
  });
}

const NO_FIELDS = z.object({});

type Answered = { answer: FormAnswer; values: Record<string, string> };

async function answerOf<S extends z.ZodObject, A extends Access>(
  { schema = NO_FIELDS as unknown as S, check, run, refusalOf, fields = {}, show }: Form<S, A>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Answered> {
  const { data, typed } = readForm(typeof schema === 'function' ? schema(request) : schema, request);
  const { values, errors } = typed;
  try {
    const early = await check?.(request);
    if (early) return { answer: early, values };
    if (data) {
      const sent = { request, reply, data, values, ...contextOf(request) };
      return { answer: await run(sent as SentForm<S> & ContextOf<A>), values };
    }
    return {
      answer: show ? { errors } : refused(400, t(INCOMPLETE)),
      values,
    };
  } catch (error) {
    const answer = refusalOf?.(error, values) ?? invalid(error, fields);
    if (!answer) throw error;
    return { answer, values };
  }
}

/** What is known of the sender and the server: for each access, what `guardRoutes` has required. */
function contextOf({ signedIn, ownServer: server, server: { site } }: FastifyRequest) {
  return {
    ...(signedIn ? { user: signedIn.user, by: signedIn.user.email } : {}),
    ...(server ? { server, path: (part?: string) => serverPath(site.base, server, part) } : {}),
  };
}

/** The refusal for an `InvalidDocumentError`, with the field names of the form; undefined for any other error. */
function invalid(error: unknown, fields: Record<string, string>): RefusedForm | undefined {
  if (!(error instanceof InvalidDocumentError)) return undefined;
  const named = Object.entries(error.errors).map(([field, rule]) => [fields[field] ?? field, rule]);
  return { errors: Object.fromEntries(named) };
}

type Again = { values: Record<string, string>; refused: RefusedForm };

/** @throws {PageError} with the errors, if no page can show them */
async function sendAgain<S extends z.ZodObject, A extends Access>(
  { show, secrets = [] }: Form<S, A>,
  request: FastifyRequest,
  reply: FastifyReply,
  { values, refused: { status = 400, errors, retryAt, on } }: Again,
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
