import { expect } from 'vitest';
import { z } from 'zod';
import { codesOf } from '../../src/http/error-codes.ts';

/** A complete HTTP answer. */
export type Answer = {
  status: number;
  headers: Headers;
  /** The body as text, and parsed as JSON (empty if it is not JSON). */
  text: string;
  body: Record<string, unknown>;
};

/** Headers that an answer has only in a case that their description names. */
const SOMETIMES = new Set(['Idempotent-Replayed']);
const isSometimes = (name: string, header: unknown) =>
  SOMETIMES.has(name) || String((header as { description?: string }).description).startsWith('Only ');

/** Checks that a JSON error has a sentence, a code that belongs to its status, and the URL that explains the code. */
function expectCode({ status, body }: Answer): void {
  expect(body).toMatchObject({
    error: expect.any(String),
    code: expect.toBeOneOf(codesOf(status)),
    doc_url: expect.stringMatching(new RegExp(`/docs/errors#${body.code}$`)),
  });
}

/** Sends a request and reads the whole answer. */
export async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text ? JSON.parse(text) : {},
  };
}

type Schema = Parameters<typeof z.fromJSONSchema>[0];
type DescribedAnswer = {
  headers?: Record<string, unknown>;
  content?: { 'application/json'?: { schema: { $ref: string } } };
};
type Operation = { requestBody?: DescribedAnswer; responses: Record<string, DescribedAnswer> };
export type OpenApi = {
  openapi: string;
  info: Record<string, unknown>;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; headers: Record<string, unknown> };
};

/** The OpenAPI document of the API, with which answers are compared. */
export type ApiDescription = {
  /**
   * Fails unless the document describes this answer: its status, its headers, and exactly its fields. `endpoint`: `info`,
   * or a path below `/api/v1` as in the document, such as `/servers/{slug}`.
   */
  check(method: string, endpoint: string, answer: Answer): void;
};

/** The descriptions read in this process, by path: applications of one code have the same, up to their address. */
const descriptions = new Map<string, Promise<ApiDescription>>();

/** Reads the description at the address of an application of this process. */
export function readDescription(url: string): Promise<ApiDescription> {
  const { pathname } = new URL(url);
  const known = descriptions.get(pathname) ?? read(url);
  descriptions.set(pathname, known);
  return known;
}

async function read(url: string): Promise<ApiDescription> {
  const { text } = await ask(url);
  const document: OpenApi = JSON.parse(text);
  const parsers = new Map<string, z.ZodType>();
  /** The parser of a schema, which is compiled once. */
  const parserOf = (name: string) => {
    const schema = document.components.schemas[name];
    const parser = parsers.get(name) ?? (schema && z.fromJSONSchema(schema));
    if (parser) parsers.set(name, parser);
    return parser;
  };
  return {
    check(method, endpoint, answer) {
      if (answer.status >= 400 && method !== 'HEAD') expectCode(answer);
      const plain = endpoint.split('?')[0] ?? '';
      const path = plain.startsWith('/') ? `/api/v1${plain}` : `/api/v1/servers/{server_id}/${plain}`;
      const operation = document.paths[path]?.[method.replace('HEAD', 'GET').toLowerCase()];
      const described = operation?.responses[answer.status];
      // The answers for unknown paths and methods are described only in prose.
      if (!operation) expect([400, 404, 405]).toContain(answer.status);
      else expect(described, `${method} ${path} answered ${answer.status}`).toBeDefined();
      for (const [name, header] of Object.entries(described?.headers ?? {})) {
        if (isSometimes(name, header)) continue;
        expect(answer.headers.get(name), `${method} ${path} ${answer.status}: ${name}`).not.toBeNull();
      }
      const named = described?.content?.['application/json']?.schema.$ref;
      const parser = parserOf(named?.replace('#/components/schemas/', '') ?? '');
      if (parser && method !== 'HEAD') {
        expect(parser.safeParse(answer.body).error, answer.text).toBeUndefined();
      }
    },
  };
}
