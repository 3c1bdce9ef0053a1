import { defaultLanguage, inLanguage, offeredLanguages } from '../language/language.ts';
import type { Config } from '../platform/config.ts';
import type { User } from './user.ts';

type Settings = Pick<Config, 'DEFAULT_LANGUAGE' | 'LANGUAGES'>;

/** Words a mail to a user that another user or a worker caused. Mails that users cause themselves are worded as the page. */
export function inLanguageOfUser<T>(
  config: Settings,
  { language }: Pick<User, 'language'>,
  make: () => T,
): T {
  const isOffered = language && offeredLanguages(config).includes(language);
  return inLanguage(isOffered ? language : defaultLanguage(config), make);
}
