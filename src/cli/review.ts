import { type Command, Option } from 'commander';
import type { AppDeps } from '../process/app-deps.ts';
import { moderateReview } from '../reviews/moderate-review.ts';
import { listReviews } from '../reviews/read-reviews.ts';
import { REVIEW_STATES, type ReviewState } from '../reviews/review.ts';
import { LONGEST_REVIEW, writeReview } from '../reviews/write-review.ts';
import { type Answer, withDeps } from './answer.ts';
import { CommandError } from './failure.ts';
import { BY, objectIdOf, requireServer } from './find.ts';
import { examples, invocation } from './invocation.ts';
import { limit, rating } from './option-values.ts';
import { iso, when } from './output-format.ts';
import type { Session } from './session.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';

export function addReviewCommands(review: Command, terminal: Terminal): void {
  review
    .command('add')
    .description('write a review; it is public only after it is approved')
    .argument('<server>', 'id or slug')
    .requiredOption('--username <name>', 'the player')
    .requiredOption('--rating <1-5>', 'whole stars', rating)
    .option('--content <text>', `up to ${LONGEST_REVIEW.toLocaleString('en')} characters`)
    .addHelpText(
      'after',
      examples(terminal, 'review add alpha-craft --username Steve --rating 5 --content "Good people."'),
    )
    .action(withDeps(terminal, add));

  review
    .command('list')
    .description('show a server’s reviews, newest first')
    .argument('<server>', 'id or slug; also of a removed server')
    .addOption(new Option('--state <state>', 'only reviews in this state').choices(REVIEW_STATES))
    .option('--limit <n>', 'how many', limit, 20)
    .addHelpText('after', examples(terminal, 'review list alpha-craft --state pending'))
    .action(withDeps(terminal, list));

  for (const [verb, state] of [
    ['approve', 'approved'],
    ['reject', 'rejected'],
  ] as const) {
    review
      .command(verb)
      .description(verb === 'approve' ? 'make a review public' : 'do not show a review')
      .argument('<review_id>')
      .addHelpText('after', examples(terminal, `review ${verb} 692019c0f0d3b1a2c4e5f607`))
      .action(withDeps(terminal, (deps, text: string) => moderate(deps, text, state)));
  }
}

async function add(
  deps: Session,
  text: string,
  options: { username: string; rating: number; content?: string },
): Promise<Answer> {
  const { _id: serverId } = await requireServer(deps, text);
  const { reviewId } = await writeReview(deps, { serverId, ...options });
  return {
    json: { review_id: reviewId },
    text: `Stored as ${reviewId}, not public yet. Next: ${invocation(`review approve ${reviewId}`, deps.terminal.env)}`,
  };
}

async function list(
  deps: AppDeps,
  text: string,
  options: { state?: ReviewState; limit: number },
): Promise<Answer> {
  const { _id: serverId } = await requireServer(deps, text, { removed: true });
  const reviews = await listReviews(deps, serverId, options);
  const now = deps.clock.now();
  const rows = reviews.map((review) => [
    review._id.toHexString(),
    review.state,
    review.rating,
    review.username,
    when(review.createdAt, now),
    beginning(review.content ?? ''),
  ]);
  return {
    json: {
      reviews: reviews.map((review) => ({
        review_id: review._id.toHexString(),
        state: review.state,
        username: review.username,
        rating: review.rating,
        content: review.content ?? null,
        created_at: iso(review.createdAt),
        moderated_at: iso(review.moderatedAt),
      })),
    },
    text: table(
      ['REVIEW ID', 'STATE', 'RATING', 'PLAYER', 'WRITTEN', 'CONTENT'],
      rows,
      'There is no review to show.',
    ),
  };
}

function beginning(text: string): string {
  const characters = [...text.replace(/\s+/g, ' ')];
  return characters.length <= 60 ? characters.join('') : `${characters.slice(0, 59).join('')}…`;
}

async function moderate(deps: AppDeps, text: string, state: 'approved' | 'rejected'): Promise<Answer> {
  const reviewId = objectIdOf(text);
  const review = reviewId && (await moderateReview(deps, reviewId, state, BY));
  if (!review) throw new CommandError('review-not-found', `There is no review with the id “${text}”.`);
  return {
    json: { review_id: review._id.toHexString(), state: review.state },
    text: `The review of “${review.username}” is ${review.state}.`,
  };
}
