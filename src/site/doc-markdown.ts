import MarkdownIt from 'markdown-it';
import { ERROR_CODES } from '../http/error-codes.ts';

type Rendered = { title: string; parts: { id: string; title: string }[]; body: string };

/** `null`: no page shows the document, so its link is plain text. */
type AddressOf = (document: string, hash: string) => string | null;

const parser = new MarkdownIt();

type Token = ReturnType<typeof parser.parse>[number];

/** A document of `docs/`, which we wrote: its first heading is the title, and it has no HTML except comments. */
export function renderDocument(text: string, addressOf: AddressOf): Rendered {
  const tokens = parser.parse(text.replaceAll(/<!--[\s\S]*?-->/g, ''), {});
  const title = tokens[1]?.content ?? '';
  const body = tokens.slice(3);
  nameTables(body);
  const parts = nameHeadings(body);
  for (const token of body) if (token.children) token.children = linked(token.children, addressOf);
  return { title, parts, body: parser.renderer.render(body, parser.options, {}) };
}

/** As on GitHub, so that links of other documents lead here too. */
function nameHeadings(tokens: Token[]): Rendered['parts'] {
  return tokens.flatMap((token, at) => {
    if (token.type !== 'heading_open') return [];
    const heading = (tokens[at + 1]?.content ?? '').replaceAll('`', '');
    const id = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    token.attrSet('id', id);
    return token.tag === 'h2' ? [{ id, title: heading }] : [];
  });
}

/** The parts of a narrow table, whose rows become cards. The row of an error has the id to which `doc_url` leads. */
function nameTables(tokens: Token[]): void {
  let titles: string[] = [];
  let row: Token | undefined;
  let column = 0;
  for (const [at, token] of tokens.entries()) {
    const content = tokens[at + 1]?.content ?? '';
    if (token.type === 'table_open') {
      token.attrSet('class', 'data');
      titles = [];
    } else if (token.type === 'tr_open') {
      row = token;
      column = 0;
    } else if (token.type === 'th_open') {
      titles.push(content);
      const close = tokens[at + 2];
      // The column of the rows' names has no title, and an empty header is none.
      if (content === '' && close) token.tag = close.tag = 'td';
      else token.attrSet('scope', 'col');
    } else if (token.type === 'td_open') {
      token.attrSet('data-title', (titles[column] ?? '').replaceAll('`', ''));
      const code = /^`([\w-]+)`$/.exec(content)?.[1];
      if (column === 1 && code && Object.hasOwn(ERROR_CODES, code)) row?.attrSet('id', code);
      column += 1;
    }
  }
}

/** Links between documents become links between pages. */
function linked(children: Token[], addressOf: AddressOf): Token[] {
  let isPlain = false;
  return children.filter((token) => {
    if (token.type === 'link_open') {
      const href = String(token.attrGet('href') ?? '');
      const [, document, hash = ''] = /^([\w./-]+)\.md(#.*)?$/.exec(href) ?? [];
      const isOther = document === undefined && !/^(#|https?:|\/)/.test(href);
      const address = document === undefined ? href : addressOf(document, hash);
      isPlain = isOther || address === null;
      if (address !== null) token.attrSet('href', address);
      return !isPlain;
    }
    return token.type !== 'link_close' || !isPlain;
  });
}
