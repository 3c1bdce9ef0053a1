/** Flags of the browser: headless and without background requests. */
export const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // A test runs the scripts of a page once: to optimize them costs a quarter of the browser's processor time.
  '--js-flags=--no-maglev,--no-turbofan',
];
