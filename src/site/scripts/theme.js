// Runs before the page is drawn. If it ran later, the page could first appear in the wrong colour scheme, with the
// wrong kind of list, or with the vote form although this browser has voted for the server.

// The clock of a device may be wrong by days, so scripts compare times with that of the server: `serverTime.now()`.
{
  const address = new URL('../time', document.currentScript.src);
  const followers = new Set();
  // What the device's clock lacks, in milliseconds: from the last answer, until there is a new one.
  let lacks;
  let isAsked = false;
  try {
    lacks = JSON.parse(localStorage.getItem('clock-lacks')) ?? undefined;
  } catch {
    // If the browser stores nothing for this site: each page asks.
  }

  async function ask() {
    isAsked = true;
    const sent = Date.now();
    try {
      const answer = await fetch(address, { cache: 'no-store' });
      const time = Number(await answer.text());
      if (!(answer.ok && time > 0)) throw new Error('no time');
      lacks = Math.round(time - (sent + Date.now()) / 2);
      localStorage.setItem('clock-lacks', JSON.stringify(lacks));
    } catch {
      // If the server does not answer: the last known difference holds.
    }
    lacks ??= 0;
    for (const show of followers) show();
  }

  globalThis.serverTime = {
    now: () => Date.now() + (lacks ?? 0),
    /** Calls `show` now if the server has ever told this browser its time, and after each answer. */
    follow(show) {
      followers.add(show);
      if (lacks !== undefined) show();
      if (!isAsked) void ask();
    },
  };

  // Meanwhile the clock may have been set.
  const askAgain = () => {
    if (isAsked && !document.hidden) void ask();
  };
  document.addEventListener('visibilitychange', askAgain);
  addEventListener('pageshow', ({ persisted }) => persisted && askAgain());
}

try {
  const theme = localStorage.getItem('theme');
  if (theme === 'light' || theme === 'dark') {
    document.documentElement.dataset.theme = theme;
    // Until the stylesheet is loaded, the browser uses this scheme for the background of the empty page.
    document.querySelector('meta[name="color-scheme"]').content = theme;
  }
  const list = localStorage.getItem('list');
  if (list === 'cards' || list === 'compact') document.documentElement.dataset.list = list;
} catch {
  // If the browser stores nothing for this site: the page follows the system and shows cards.
}

// If this browser has voted for the server of the page: the stylesheet hides the form, and scripts/vote.js shows the
// time that is left. The home page keeps a line free for the servers for which this browser can vote again
// (scripts/page.js).
{
  const mark = (name, isSet) => document.documentElement.toggleAttribute(`data-${name}`, isSet);
  const markVoted = () => {
    const voted = JSON.parse(localStorage.getItem('voted-servers')) ?? {};
    const now = serverTime.now();
    mark('voted', Date.parse(voted[location.pathname]?.next) > now);
    mark(
      'due',
      Object.values(voted).some(({ next }) => Date.parse(next) <= now),
    );
  };
  try {
    if (localStorage.getItem('voted-servers')) serverTime.follow(markVoted);
  } catch {
    // If the browser stores nothing for this site: it has no votes to show.
  }
}
