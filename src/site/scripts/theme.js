// Runs before the page is drawn. If it ran later, the page could first appear in the wrong colour scheme, with the
// wrong kind of list, or with the vote form although this browser has voted for the server.
try {
  const theme = localStorage.getItem('theme');
  if (theme === 'light' || theme === 'dark') {
    document.documentElement.dataset.theme = theme;
    // Until the stylesheet is loaded, the browser uses this scheme for the background of the empty page.
    document.querySelector('meta[name="color-scheme"]').content = theme;
  }
  const list = localStorage.getItem('list');
  if (list === 'cards' || list === 'compact') document.documentElement.dataset.list = list;
  // If this browser has voted for the server of the page: the stylesheet hides the form, and scripts/vote.js shows the
  // time that is left.
  const voted = JSON.parse(localStorage.getItem('voted-servers')) ?? {};
  if (Date.parse(voted[location.pathname]?.next) > Date.now()) document.documentElement.dataset.voted = '';
  // The home page keeps a line free for the servers for which this browser can vote again (scripts/page.js).
  if (Object.values(voted).some(({ next }) => Date.parse(next) <= Date.now()))
    document.documentElement.dataset.due = '';
} catch {
  // If the browser stores nothing for this site: the page follows the system and shows cards.
}
