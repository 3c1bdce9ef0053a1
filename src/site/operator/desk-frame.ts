import { html } from 'hono/html';
import type { Content, Html } from '../html.ts';
import { tabs } from '../parts.ts';

/** The parts of the desk, in the order of their tabs. */
const PARTS = [
  ['', 'Attention'],
  ['/reviews', 'Reviews'],
  ['/servers', 'Servers'],
  ['/votes', 'Votes'],
  ['/people', 'People'],
  ['/audit', 'Audit log'],
  ['/queues', 'Queues'],
] as const;

type DeskPart = (typeof PARTS)[number][0];

/** The path of the desk, or of something on it. */
export function deskPath(base: string, path = ''): string {
  return `${base}/operator${path}`;
}

/** The desk's page of one server. */
export function deskServerPath(base: string, server: { _id: { toHexString(): string } }, path = ''): string {
  return deskPath(base, `/servers/${server._id.toHexString()}${path}`);
}

/** What stands over each page of the desk; `part` is the tab that the page belongs to. */
export function deskFrame(frame: { base: string; part: DeskPart; head?: Content; body: Content }): Html {
  const { base, part, head, body } = frame;
  return html`${head ?? html`<h1>Operator desk</h1>`}
    ${tabs(
      'Operator desk',
      PARTS.map(([path, text]) => ({ href: deskPath(base, path), text })),
      deskPath(base, part),
    )}
    ${body}`;
}
