import { type Content, type Html, html } from './html.ts';

type Option = { value: string; text: string; about: string };

type Radios = {
  name: string;
  label: Content;
  error?: string | undefined;
  required?: boolean;
  value?: string | undefined;
  options: Option[];
};

/** Each option has a sentence about what it means. Without such sentences, use `select`. */
export function radios({ name, label, error, required = false, value, options }: Radios): Html {
  const invalid = error ? html` aria-invalid="true" aria-describedby="${name}-error"` : '';
  return html`<fieldset id="${name}" class="field" tabindex="-1"${invalid}>
    <legend>${label}</legend>
    ${error ? html`<p class="error" id="${name}-error">${error}</p>` : ''}
    ${options.map((one) => option(name, one, { checked: one.value === value, required }))}
  </fieldset>`;
}

function option(
  name: string,
  { value, text, about }: Option,
  { checked, required }: { checked: boolean; required: boolean },
): Html {
  const id = `${name}-${value}`;
  return html`<div class="field check">
    <input id="${id}" name="${name}" type="radio" value="${value}" aria-describedby="${id}-about"
      ${checked ? 'checked' : ''} ${required ? 'required' : ''} />
    <label for="${id}">${text}</label>
    <p class="hint" id="${id}-about">${about}</p>
  </div>`;
}
