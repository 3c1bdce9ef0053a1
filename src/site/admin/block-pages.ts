import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { inEnglish } from '../../language/t.ts';
import { BLOCKS_APPLY_SECONDS, type Block, isEffective } from '../../votes/blocks/block-list.ts';
import { addBlock, liftBlock, listBlocks } from '../../votes/blocks/change-blocks.ts';
import { OPERATOR } from '../route-options.ts';
import { fieldText, queryOf, queryText, type Typed } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { count, time, timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { badge, button, card, checkbox, confirmed, cursorPager, dataTable } from '../shared/parts.ts';
import { optionalUtcMoment } from './admin-fields.ts';
import { type AdminParts, adminPage, adminPath } from './admin-frame.ts';

const ROWS = 50;

const MESSAGES = inEnglish({
  added: `Blocked. It applies everywhere within ${BLOCKS_APPLY_SECONDS} seconds.`,
  lifted: `Block lifted. It ends everywhere within ${BLOCKS_APPLY_SECONDS} seconds. Votes that it held back stay excluded.`,
});

const blockForm = z.object({
  kind: fieldText,
  value: fieldText,
  reason: fieldText,
  endsAt: optionalUtcMoment.optional(),
  isWideMeant: z.literal('yes').optional(),
});

export function blockPages(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  const path = adminPath(base, '/blocks');

  const page = async (request: FastifyRequest, typed: Typed): Promise<Page> => {
    const { from } = queryOf(request);
    await deps.blockList.flush();
    const { rows, next } = await listBlocks(deps, { from, limit: ROWS });
    const now = deps.clock.now();
    const body = html`${addCard(path, typed)} ${listCard(path, rows, now)}
      ${cursorPager(path, { from, next })}`;
    return adminPage({ base, part: '/blocks', title: 'Blocks', messages: MESSAGES, body });
  };

  app.get('/blocks', OPERATOR, async (request, reply) => {
    const { kind = 'name', value = '' } = queryOf(request);
    return sendPage(request, reply, await page(request, { values: { kind, value }, errors: {} }));
  });

  formRoute(app, {
    path: '/blocks',
    access: OPERATOR,
    schema: blockForm,
    show: page,
    run: async ({ by, data: { endsAt, isWideMeant, ...block } }) => {
      const wanted = { ...block, endsAt: endsAt ?? undefined, isWideMeant: isWideMeant === 'yes' };
      await addBlock(deps, wanted, by);
      return `${path}?done=added`;
    },
  });

  formRoute(app, {
    path: '/blocks/:blockId/lift',
    access: OPERATOR,
    run: async ({ request, by }) => {
      const block = await liftBlock(deps, idParam(request, 'blockId'), by);
      if (!block) return refused(404, 'There is no such block. It may be lifted already.');
      return `${path}?done=lifted`;
    },
  });
}

function addCard(path: string, typed: Typed): Html {
  const fields = fieldsOf(typed);
  const { errors } = typed;
  return card({
    title: 'Block a name or a network',
    body: html`<p class="soft small">
        Votes of a blocked name, in every spelling, and votes from a blocked network are refused on the pages. The
        player does not learn why. Votes of a blocked name that come with the API are accepted, but neither counted nor
        delivered.
      </p>
      <form method="post" action="${path}" class="stack fields">
        ${fields.select('kind', {
          label: 'Kind',
          options: [
            ['name', 'Player name'],
            ['network', 'Network'],
          ],
        })}
        ${fields.text('value', {
          label: 'Name or network',
          hint: 'A network such as 203.0.113.0/24 or 2001:db8:1::/48. A home connection has an IPv6 /64 or wider.',
          required: true,
          maxlength: 100,
          spellcheck: false,
        })}
        ${fields.text('endsAt', {
          label: 'End (optional)',
          hint: 'UTC. Without it, the block lasts until you lift it.',
          type: 'datetime-local',
        })}
        ${fields.area('reason', {
          label: 'Internal reason',
          hint: 'For operators only.',
          rows: 2,
          maxlength: 500,
          required: true,
        })}
        ${
          errors.isWideMeant
            ? checkbox({
                name: 'isWideMeant',
                label: 'Block this very large network',
                error: errors.isWideMeant,
              })
            : ''
        }
        <button class="danger" type="submit">Block</button>
      </form>`,
  });
}

function listCard(path: string, rows: Block[], now: Date): Html {
  return card({
    title: 'Blocks',
    body: dataTable<Block>({
      caption: 'Blocks, newest first',
      rows,
      empty: 'Nothing is blocked.',
      columns: [
        { title: 'Name or network', heads: true, cell: what },
        { title: 'Reason', cell: ({ reason }) => html`<bdi>${reason}</bdi>` },
        { title: 'By', kind: 'address', cell: ({ by, at }) => html`${by}, ${timeAgo(at, now)}` },
        { title: 'State', cell: (block) => state(block, now) },
        { title: 'Stopped', kind: 'number', cell: ({ hits }) => count(hits) },
        { title: 'Last', cell: ({ lastHitAt }) => (lastHitAt ? timeAgo(lastHitAt, now) : 'never') },
        { title: 'Action', cell: (block) => lifting(path, block, now) },
      ],
    }),
  });
}

function what({ kind, value, username }: Block): Content {
  if (kind === 'name') return html`<bdi>${username ?? value}</bdi>`;
  const network = html`<span class="mono">${value}</span>`;
  return kind === 'origin' ? html`network with the hash ${network}` : network;
}

function state(block: Block, now: Date): Content {
  const { endsAt, lifted } = block;
  if (lifted) return html`${badge('quiet', 'lifted')} by ${lifted.by}, ${timeAgo(lifted.at, now)}`;
  if (!isEffective(block, now)) return html`${badge('quiet', 'ended')} ${endsAt ? time(endsAt) : ''}`;
  return html`${badge('bad', 'blocked')} ${endsAt ? html`until ${time(endsAt)}` : ''}`;
}

function lifting(path: string, block: Block, now: Date): Content {
  if (!isEffective(block, now)) return '';
  const of = block.username ?? block.value;
  return confirmed({
    text: 'Lift…',
    of,
    consequence: 'New votes are accepted and counted again.',
    form: button({ to: `${path}/${block._id.toHexString()}/lift`, text: 'Lift the block', of }),
  });
}

export function blockPath(base: string, kind: Block['kind'], value: string): string {
  return adminPath(base, `/blocks${queryText({ kind, value })}`);
}
