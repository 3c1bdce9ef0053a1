import type { Typed } from './form.ts';
import type { Html } from './html.ts';
import { select, textArea, textField } from './parts.ts';

type Unfilled<F extends (field: never) => Html> = Omit<Parameters<F>[0], 'name' | 'error'>;

/** `value` is shown until the user has entered another one. */
type Fields = {
  text(name: string, field: Unfilled<typeof textField>): Html;
  secret(name: string, field: Omit<Unfilled<typeof textField>, 'value'>): Html;
  area(name: string, field: Unfilled<typeof textArea>): Html;
  select(name: string, field: Unfilled<typeof select>): Html;
};

export function fieldsOf({ values, errors }: Typed): Fields {
  const shown = (name: string, value = '') => ({ name, value: values[name] ?? value, error: errors[name] });
  return {
    text: (name, field) => textField({ ...field, ...shown(name, field.value) }),
    secret: (name, field) => textField({ ...field, name, error: errors[name] }),
    area: (name, field) => textArea({ ...field, ...shown(name, field.value) }),
    select: (name, field) =>
      select({ ...field, name, value: values[name] ?? field.value, error: errors[name] }),
  };
}
