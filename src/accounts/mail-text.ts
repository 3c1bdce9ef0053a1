import type { Config } from '../platform/config.ts';

export type SiteNameAndUrl = Pick<Config, 'PUBLIC_URL' | 'SERVICE_NAME'>;
export type MailText = { subject: string; text: string };

/** A mail about an account, with the listing's name in the subject, and its name and URL below the text. */
export function mailText(site: SiteNameAndUrl, subject: string, ...paragraphs: string[]): MailText {
  return { subject: `${subject} (${site.SERVICE_NAME})`, text: signed(site, ...paragraphs) };
}

/** Paragraphs with the listing's name and URL below them. */
export function signed({ SERVICE_NAME, PUBLIC_URL }: SiteNameAndUrl, ...paragraphs: string[]): string {
  return [...paragraphs, `-- \n${SERVICE_NAME}, ${PUBLIC_URL}`].join('\n\n');
}
