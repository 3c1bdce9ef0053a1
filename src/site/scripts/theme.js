// Runs before the page is drawn, so that a page does not appear in the other scheme first.
try {
  const theme = localStorage.getItem('theme');
  if (theme === 'light' || theme === 'dark') {
    document.documentElement.dataset.theme = theme;
    // The empty page before the stylesheet has this colour.
    document.querySelector('meta[name="color-scheme"]').content = theme;
  }
} catch {
  // The browser stores nothing for this site: the page follows the system.
}
