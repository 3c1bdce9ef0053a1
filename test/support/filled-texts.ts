import { mailContext } from '../../src/mail/outbox.ts';
import { createSecretBox } from '../../src/platform/secrets.ts';

/** `SECRET_KEY` of `testDeps`. */
export const TEST_KEY = 'k3y-for-tests-0123456789-abcdefghij';

const box = createSecretBox(TEST_KEY);

const PLACEHOLDER = /\{[A-Za-z]\w*\}/;

/** Throws if a text for a reader still has a `{placeholder}`. */
export function requireFilled(text: string): void {
  const [found] = PLACEHOLDER.exec(text) ?? [];
  if (found) throw new Error(`${found} is not filled in: ${text.slice(0, 2_000)}`);
}

/** The texts of a page, without code and what users type. */
export function requireFilledPage(page: string): void {
  requireFilled(page.replace(/<(script|style|code|pre|textarea)\b.*?<\/\1>/gs, ' ').replace(/<[^>]*>/g, ' '));
}

/** mongoose calls this for each operation: every mail is put into the outbox. */
export function requireFilledMails(collection: string, operation: string, first: unknown): void {
  if (operation !== 'insertOne' || collection !== 'mails') return;
  const { _id, subject, sealedText } = first as { _id: string; subject: string; sealedText?: string };
  requireFilled(subject);
  // Some tests have another key.
  if (sealedText && box.sealedByOthers.$not.test(sealedText))
    requireFilled(box.open(sealedText, mailContext(_id)));
}
