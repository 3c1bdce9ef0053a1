// Runs before the page is drawn, so that a page does not appear in the other scheme or with the other kind of list first.
try {
  const theme = localStorage.getItem('theme');
  if (theme === 'light' || theme === 'dark') {
    document.documentElement.dataset.theme = theme;
    // The empty page before the stylesheet has this colour.
    document.querySelector('meta[name="color-scheme"]').content = theme;
  }
  const list = localStorage.getItem('list');
  if (list === 'cards' || list === 'compact') document.documentElement.dataset.list = list;
} catch {
  // The browser stores nothing for this site: the page follows the system and shows cards.
}
