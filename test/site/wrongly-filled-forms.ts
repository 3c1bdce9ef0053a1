import { Parser } from 'htmlparser2';

/** A field of a form, with the value that it has when the page opens. */
type Field = { name: string; type: string; value: string };

/** A form of a page that changes something. */
export type PageForm = { action: string; isUpload: boolean; fields: Field[] };

/** The forms of a page with the method POST. */
export function formsOf(page: string): PageForm[] {
  const forms: PageForm[] = [];
  let current: PageForm | undefined;
  const parser = new Parser({
    onopentag(tag, { method, action = '', enctype, name, type = tag, value = '' }) {
      if (tag === 'form') {
        current = { action, isUpload: enctype === 'multipart/form-data', fields: [] };
        if (method === 'post') forms.push(current);
      }
      if (['input', 'select', 'textarea'].includes(tag) && name) current?.fields.push({ name, type, value });
    },
    onclosetag(tag) {
      if (tag === 'form') current = undefined;
    },
  });
  parser.end(page);
  return forms;
}

/** The ways in which a form is filled in wrongly. */
export const MISTAKES = ['nothing', 'empty', 'too long', 'wrong'] as const;
export type Mistake = (typeof MISTAKES)[number];

const GIVEN = ['hidden', 'checkbox', 'radio'];

/** The mistakes that are possible in a form. If it has only hidden fields, only their values can be wrong. */
export function mistakesOf({ fields }: PageForm): readonly Mistake[] {
  if (fields.some(({ type }) => !GIVEN.includes(type))) return MISTAKES;
  return fields.length > 0 ? ['wrong'] : [];
}

/** The body of a wrongly filled form. */
export function bodyOf({ fields, isUpload }: PageForm, mistake: Mistake): FormData | URLSearchParams {
  const body = isUpload ? new FormData() : new URLSearchParams();
  for (const field of mistake === 'nothing' ? [] : fields) {
    if (field.type === 'file' && body instanceof FormData)
      body.set(field.name, fileFor(mistake), 'picture.png');
    else body.append(field.name, valueFor(field, mistake));
  }
  return body;
}

function valueFor({ type, value }: Field, mistake: Mistake): string {
  if (mistake === 'wrong') return '?';
  if (GIVEN.includes(type)) return value;
  return mistake === 'empty' ? '' : 'x'.repeat(2_500);
}

function fileFor(mistake: Mistake): Blob {
  return new Blob([mistake === 'empty' ? '' : 'x'.repeat(mistake === 'wrong' ? 100 : 1_100_000)]);
}
