import type { Typed } from './form.ts';
import type { Html } from './html.ts';
import { select, textArea, textField } from './parts.ts';

type Unfilled<F extends (field: never) => Html> = Omit<Parameters<F>[0], 'name' | 'error'>;

/** The fields of a form: `value` is shown until the user has entered another one; a `secret` is never shown again. */
export function fieldsOf({ values, errors }: Typed) {
  const shown = (name: string, value = '') => ({ name, value: values[name] ?? value, error: errors[name] });
  return {
    text: (name: string, field: Unfilled<typeof textField>) =>
      textField({ ...field, ...shown(name, field.value) }),
    secret: (name: string, field: Omit<Unfilled<typeof textField>, 'value'>) =>
      textField({ ...field, name, error: errors[name] }),
    area: (name: string, field: Unfilled<typeof textArea>) =>
      textArea({ ...field, ...shown(name, field.value) }),
    select: (name: string, field: Unfilled<typeof select>) =>
      select({ ...field, name, value: values[name] ?? field.value, error: errors[name] }),
  };
}
