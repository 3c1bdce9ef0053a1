import { z } from 'zod';
import { PASSWORD_LENGTH } from '../../accounts/auth.ts';
import { isCommonPassword, isOwnPassword } from '../../accounts/common-passwords.ts';
import { t } from '../../language/t.ts';
import type { RefusedForm } from '../shared/form-route.ts';

/** The rules for a new password. */
export const newPassword = z
  .string()
  .min(PASSWORD_LENGTH.min, { error: () => t('Use at least {min} characters.', PASSWORD_LENGTH) })
  .max(PASSWORD_LENGTH.max, { error: () => t('Use at most {max} characters.', PASSWORD_LENGTH) })
  .refine((password) => !isCommonPassword(password), {
    error: () => t('This password is too common. Choose another one.'),
  });

/** Returns the refusal if the password is the user's own address or name; otherwise null. */
export function refuseOwn(password: string, user: { email: string; name: string }): RefusedForm | null {
  if (!isOwnPassword(password, user)) return null;
  return {
    errors: { password: t('The password must not be your e-mail address or name. Choose another one.') },
  };
}
