import { html } from 'hono/html';
import { COUNTED_AT_MOST } from '../../delivery/count-votes.ts';
import { QUEUE_NAMES, QUEUES } from '../../queues.ts';
import type { WaitingWork } from '../../waiting-work.ts';

/** A whole page, ready to send. Everything put into it is escaped by `html`. */
export type Page = ReturnType<typeof html>;

export const counting = new Intl.NumberFormat('en-GB');
/** A moment to the minute, in UTC. */
export const moment = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

/** The frame of every page of the desk. */
export function layout(deskPath: string, title: string, body: Page): Page {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="robots" content="noindex" />
    <title>${title} · Tallyport</title>
    <link rel="icon" type="image/svg+xml" href="${deskPath}/tallyport.svg" />
    <link rel="stylesheet" href="${deskPath}/desk.css" />
  </head>
  <body>
    ${body}
  </body>
</html>`;
}

/**
 * The page on which an operator signs in.
 *
 * @param fault - why the last try was refused
 */
export function signInPage(page: { deskPath: string; next: string; fault?: string }): Page {
  const { deskPath, next, fault } = page;
  return layout(
    deskPath,
    'Sign in',
    html`<main class="alone">
      <div class="card">
        <div class="brand">
          <img src="${deskPath}/tallyport.svg" alt="" width="40" height="40" />
          <div>
            <h1>Operator desk</h1>
            <p class="soft">Tallyport</p>
          </div>
        </div>
        ${fault ? html`<p class="warning" role="alert">${fault}</p>` : ''}
        <form method="post" action="${deskPath}/sign-in">
          <input type="hidden" name="next" value="${next}" />
          <input type="text" name="username" value="operator" autocomplete="username" hidden />
          <label for="password">Password</label>
          <input
            id="password"
            name="password"
            type="password"
            autocomplete="current-password"
            required
            autofocus
            ${fault ? html`aria-invalid="true"` : ''}
          />
          <button type="submit">Sign in</button>
        </form>
      </div>
    </main>`,
  );
}

/** The desk itself: how much work waits, and the way to the queues. */
export function homePage(page: { deskPath: string; work: WaitingWork; until: Date }): Page {
  const { deskPath, work, until } = page;
  return layout(
    deskPath,
    'Operator desk',
    html`<main class="desk">
      <header>
        <div class="brand">
          <img src="${deskPath}/tallyport.svg" alt="" width="40" height="40" />
          <div>
            <h1>Operator desk</h1>
            <p class="soft">Signed in until ${moment.format(until)} UTC</p>
          </div>
        </div>
        <form method="post" action="${deskPath}/sign-out"><button class="quiet" type="submit">Sign out</button></form>
      </header>
      ${
        work.redisUp
          ? ''
          : html`<p class="warning" role="status">
            Redis does not answer. Votes are accepted and kept in MongoDB; they are forwarded when it is back.
          </p>`
      }
      ${
        work.mongodbUp
          ? ''
          : html`<p class="warning" role="status">MongoDB does not answer: no vote can be cast at the moment.</p>`
      }
      <section class="card">
        <h2>Votes on their way</h2>
        ${openVotes(work)}
      </section>
      <section class="card">
        <h2>Queues</h2>
        ${queueTable(work)}
        <a class="button" href="${deskPath}/queues">Open the queues</a>
      </section>
    </main>`,
  );
}

function openVotes({ openVotes: { active, unreachable, paused } }: WaitingWork): Page {
  const row = (label: string, count = 0) =>
    html`<tr>
      <th scope="row">${label}</th>
      <td>${counting.format(count)}${count >= COUNTED_AT_MOST ? ' or more' : ''}</td>
    </tr>`;
  if (active === undefined) return html`<p class="soft">Cannot be counted at the moment.</p>`;
  return html`<div class="figures">
    <table>
      <tbody>
        ${row('to listeners that answer', active)} ${row('held for listeners that cannot be reached', unreachable)}
        ${row('held for paused listeners', paused)}
      </tbody>
    </table>
  </div>`;
}

function queueTable({ jobs }: WaitingWork): Page {
  if (jobs.length === 0) return html`<p class="soft">Cannot be counted at the moment.</p>`;
  const states = ['active', 'waiting', 'delayed', 'failed'];
  const count = (queue: string, state: string) =>
    jobs.find((job) => job.queue === queue && job.state === state)?.count ?? 0;
  return html`<div class="figures">
    <table>
      <thead>
        <tr>
          <th scope="col">Jobs</th>
          ${states.map((state) => html`<th scope="col">${state}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${QUEUE_NAMES.map(
          (name) =>
            html`<tr>
              <th scope="row">${QUEUES[name].title}</th>
              ${states.map((state) => html`<td>${counting.format(count(name, state))}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
