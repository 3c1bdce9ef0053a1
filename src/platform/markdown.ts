import MarkdownIt from 'markdown-it';
import sanitizeHtml from 'sanitize-html';
import { containedText } from './contained-text.ts';
import { writtenLink } from './written-link.ts';

/** How deeply quotes and lists may nest. Deeper ones are left out, so the result is at most about 20 times the text. */
const DEEPEST = 10;

/** The `rel` attribute of links that users write: no weight for search engines, and no access to the page's window. */
const LINK_RELATIONS = 'nofollow ugc noopener';

// Images and tables are off. References are off too, because they can repeat one long address many times.
const parser = new MarkdownIt({ html: false, linkify: true, breaks: true, maxNesting: DEEPEST }).disable([
  'image',
  'reference',
  'table',
  'html_block',
  'html_inline',
]);
// Only complete URLs become links. A domain alone is often the address of a game server.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
// By default, markdown-it shows `xn--bnk-6cd.example` in Unicode, where it looks like the name of another site.
parser.normalizeLink = (address) => writtenLink(address)?.href ?? '';
parser.normalizeLinkText = (address) => writtenLink(address)?.href ?? address;
parser.validateLink = (address) => writtenLink(address) !== null;
parser.core.ruler.push('demote-headings', ({ tokens }) => {
  for (const token of tokens) {
    if (token.type === 'heading_open' || token.type === 'heading_close') token.tag = demoted(token.tag);
  }
});

type Token = ReturnType<typeof parser.parse>[number];

// In `https://bank@evil.example` the library would make a link of the first part only, which reads like the whole.
parser.core.ruler.push('no-user-names', ({ tokens }) => {
  for (const token of tokens) token.children &&= withoutUserNames(token.children);
});

/**
 * Removes the automatic link of an address (tokens: open, text, close) if the address is followed by `@`, or by `:`, a
 * password and `@`.
 */
function withoutUserNames(children: Token[]): Token[] {
  const hasAt = (at: number) => /^(?::[^\s/@]*)?@/.test(children[at]?.content ?? '');
  const isWritten = (token: Token | undefined) => token?.markup === 'linkify';
  return children.filter(
    (token, at) =>
      !(token.type === 'link_open' && isWritten(token) && hasAt(at + 3)) &&
      !(token.type === 'link_close' && isWritten(children[at - 2]) && hasAt(at + 1)),
  );
}

// The author chooses the text of a link, and it may name another site. So the host that the link opens is shown too.
parser.core.ruler.push('show-hosts', (state) => {
  const isolated = (text: string): Token[] => {
    const [open, shown, close] = [
      new state.Token('bdi_open', 'bdi', 1),
      new state.Token('text', '', 0),
      new state.Token('bdi_close', 'bdi', -1),
    ];
    shown.content = text;
    return [open, shown, close];
  };
  for (const token of state.tokens) {
    if (token.children) token.children = withHosts(token.children, isolated);
  }
});

/** Adds ` (host)` to each link whose text is neither its address nor its host. */
function withHosts(children: Token[], isolated: (text: string) => Token[]): Token[] {
  let link: URL | null = null;
  let text = '';
  return children.flatMap((token) => {
    if (token.type === 'link_open') {
      link = writtenLink(String(token.attrGet('href') ?? ''));
      text = '';
    } else if (token.type !== 'link_close') text += token.content;
    else if (link && text !== link.href && text !== link.host) return [...isolated(` (${link.host})`), token];
    return [token];
  });
}

/** The page itself uses `h1` and `h2`, so in a user's text these become `h3`, and lower headings become `h4`. */
function demoted(tag: string): string {
  return Number(tag.slice(1)) <= 2 ? 'h3' : 'h4';
}

/** A second line of defence: whatever the parser produces, only these elements and attributes reach a page. */
const ALLOWED: sanitizeHtml.IOptions = {
  allowedTags: [
    'p',
    'br',
    'h3',
    'h4',
    'strong',
    'em',
    's',
    'ul',
    'ol',
    'li',
    'blockquote',
    'code',
    'pre',
    'hr',
    'a',
    'bdi',
  ],
  allowedAttributes: { a: ['href', 'rel'], ol: ['start'] },
  allowedSchemes: ['http', 'https'],
  allowProtocolRelative: false,
  transformTags: { a: sanitizeHtml.simpleTransform('a', { rel: LINK_RELATIONS }) },
};

/**
 * Renders a subset of Markdown as safe HTML: paragraphs, headings, emphasis, lists, quotes, code and http(s) links. Raw
 * HTML and images stay text. A link shows the host of its target, in ASCII. Time and size are linear in the length of
 * `text`, which the caller limits.
 */
export function renderMarkdown(text: string): string {
  return sanitizeHtml(parser.render(containedText(text)), ALLOWED);
}
