import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { z } from 'zod';
import { t } from '../../language/t.ts';
import { InvalidDocumentError } from '../../platform/document.ts';
import { PageError, retryAfter } from '../error-pages.ts';
import { withErrorSummary } from './error-summary.ts';
import { INCOMPLETE, readForm, sentencesOf, type Typed } from './form.ts';
import { type Page, sendPage } from './layout.ts';

/** Why a form is not accepted: a sentence for each field, or under `form` for the whole form. */
export type Refused = {
  /** 400 by default. */
  status?: number;
  errors: Record<string, string>;
  /** When the form will be accepted, for 429 and 503. */
  retryAt?: Date;
  /** The page that says so, if it is not that of the form: what was entered is stored. */
  on?: Page;
};

/** A page of its own, for what has no address: secrets that are shown once, and previews. */
export type Shown = { page: Page | Promise<Page>; status?: number };

/** An answer of another kind, such as a file. */
export type Sending = { send: (reply: FastifyReply) => FastifyReply | Promise<FastifyReply> };

/** What a form leads to: a redirect to a path, a page, the form again with its errors, or another answer. */
export type FormAnswer = string | Shown | Refused | Sending;

/** A request with a valid form. */
export type SentForm<S extends z.ZodObject> = {
  request: FastifyRequest;
  /** For cookies and headers. */
  reply: FastifyReply;
  data: z.output<S>;
  /** The values as they were entered. */
  values: Record<string, string>;
};

/** A form of the site. */
export type Form<S extends z.ZodObject> = {
  path: string;
  /** The options of the route (page-route.ts): who may send the form. */
  access: RouteShorthandOptions;
  /** Its fields; none for a button. */
  schema?: S | ((request: FastifyRequest) => S);
  /** Fields that are never filled in again, such as passwords. */
  secrets?: (keyof z.output<S>)[];
  /** The form's names of fields that the feature names differently in an `InvalidDocumentError`. */
  fields?: Record<string, string>;
  /** Answers before the fields are checked, for example if the page has no form any more. */
  check?: (request: FastifyRequest) => FormAnswer | null | Promise<FormAnswer | null>;
  /** Calls the feature. An `InvalidDocumentError` of it shows the form again. */
  run: (sent: SentForm<S>) => FormAnswer | Promise<FormAnswer>;
  /** What another error of the feature says about the form; undefined if the form did not cause it. */
  refusalOf?: (error: unknown, values: Record<string, string>) => Refused | undefined;
  /**
   * The page of the form with what was entered; null if what was entered does not make one. Without it, an error page
   * says what is wrong, as for a button.
   */
  show?: (request: FastifyRequest, typed: Typed) => Page | null | Promise<Page | null>;
};

/** The form is refused as a whole. `retryAt`: when it will be accepted. */
export function refused(status: number, sentence: string, retryAt?: Date): Refused {
  return { status, errors: { form: sentence }, ...(retryAt ? { retryAt } : {}) };
}

/**
 * Registers the route of a form (docs/adr/0120-one-route-for-forms.md): reads the fields, runs the feature, and redirects
 * or shows the form again with what was entered and a summary of the errors.
 */
export function formRoute<S extends z.ZodObject = typeof NO_FIELDS>(
  app: FastifyInstance,
  form: Form<S>,
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

async function answerOf<S extends z.ZodObject>(
  { schema = NO_FIELDS as unknown as S, check, run, refusalOf, fields = {}, show }: Form<S>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Answered> {
  const { data, typed } = readForm(typeof schema === 'function' ? schema(request) : schema, request);
  const { values, errors } = typed;
  try {
    const early = await check?.(request);
    if (early) return { answer: early, values };
    if (data) return { answer: await run({ request, reply, data, values }), values };
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

/** The errors of the feature's own rules, by the form's names of the fields. */
function invalid(error: unknown, fields: Record<string, string>): Refused | undefined {
  if (!(error instanceof InvalidDocumentError)) return undefined;
  const named = Object.entries(error.errors).map(([field, rule]) => [fields[field] ?? field, rule]);
  return { errors: Object.fromEntries(named) };
}

type Again = { values: Record<string, string>; refused: Refused };

/** @throws {PageError} if the form has no page of its own */
async function sendAgain<S extends z.ZodObject>(
  { show, secrets = [] }: Form<S>,
  request: FastifyRequest,
  reply: FastifyReply,
  { values, refused: { status = 400, errors, retryAt, on } }: Again,
): Promise<FastifyReply> {
  const sentences = sentencesOf(errors);
  const hidden = new Set<string>(secrets.map(String));
  const open = Object.fromEntries(Object.entries(values).filter(([name]) => !hidden.has(name)));
  const page = on ?? (await show?.(request, { values: open, errors: sentences }));
  if (!page) throw new PageError(status, sentences.form ?? Object.values(sentences).join(' '), retryAt);
  const withErrors = await withErrorSummary(page, sentences, retryAt);
  return sendPage(request, reply.headers(retryAfter(retryAt)), withErrors, status);
}
