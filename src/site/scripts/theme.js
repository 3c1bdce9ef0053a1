// Runs before the page is drawn, so that a page does not appear in the other scheme, with the other kind of list or with
// the vote form of a server that this browser has voted for first.
try {
  const theme = localStorage.getItem('theme');
  if (theme === 'light' || theme === 'dark') {
    document.documentElement.dataset.theme = theme;
    // The empty page before the stylesheet has this colour.
    document.querySelector('meta[name="color-scheme"]').content = theme;
  }
  const list = localStorage.getItem('list');
  if (list === 'cards' || list === 'compact') document.documentElement.dataset.list = list;
  // On the page of such a server, scripts/vote.js shows the time that is left.
  const voted = JSON.parse(localStorage.getItem('voted-servers'))?.[location.pathname];
  if (Date.parse(voted?.next) > Date.now()) document.documentElement.dataset.voted = '';
} catch {
  // The browser stores nothing for this site: the page follows the system and shows cards.
}
