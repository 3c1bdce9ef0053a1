import { z } from 'zod';
import { PASSWORD_LENGTH } from '../../accounts/auth.ts';
import { isCommonPassword, isOwnPassword } from '../../accounts/common-passwords.ts';
import { t } from '../../language/t.ts';
import { isMailAddress, mailAddressRefusal, shownText } from '../../platform/text.ts';
import type { Typed } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import type { RefusedForm } from '../shared/form-route.ts';
import type { Html } from '../shared/html.ts';

type EmailOptions = { label?: string; autocomplete?: 'username' | 'email'; hint?: string | undefined };

/** The defaults are for the address with which the user signs in. */
export function emailField(
  typed: Typed,
  { label = t('E-mail address'), autocomplete = 'username', hint }: EmailOptions = {},
): Html {
  return fieldsOf(typed).text('email', {
    label,
    type: 'email',
    autocomplete,
    required: true,
    maxlength: 254,
    hint,
  });
}

export function userNameField(typed: Typed, value = ''): Html {
  return fieldsOf(typed).text('name', {
    label: t('Your name'),
    // Not `name`: browsers would fill in the name on the user's letters, and this one is public.
    autocomplete: 'nickname',
    required: true,
    maxlength: 60,
    value,
    hint: t('Shown with your reviews, if you enter no other name there, and with your answers to reviews.'),
  });
}

/** By default, the hint is the rule for its length. */
export function newPasswordField(
  typed: Typed,
  label = t('Password'),
  hint = t('At least {min} characters. Several words work well.', { min: PASSWORD_LENGTH.min }),
): Html {
  return fieldsOf(typed).secret('password', {
    label,
    type: 'password',
    autocomplete: 'new-password',
    required: true,
    minlength: PASSWORD_LENGTH.min,
    maxlength: PASSWORD_LENGTH.max,
    hint,
  });
}

/** Shown with reviews and answers. */
export const userName = shownText(60).refine((name) => !isMailAddress(name), { error: mailAddressRefusal });

export const newPassword = z
  .string()
  .min(PASSWORD_LENGTH.min, { error: () => t('Use at least {min} characters.', PASSWORD_LENGTH) })
  .max(PASSWORD_LENGTH.max, { error: () => t('Use at most {max} characters.', PASSWORD_LENGTH) })
  .refine((password) => !isCommonPassword(password), {
    error: () => t('This password is too common. Choose another one.'),
  });

export function refuseOwn(password: string, user: { email: string; name: string }): RefusedForm | null {
  if (!isOwnPassword(password, user)) return null;
  return {
    errors: { password: t('The password must not be your e-mail address or name. Choose another one.') },
  };
}
