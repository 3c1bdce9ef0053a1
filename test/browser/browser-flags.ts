/** Flags of the browser: headless and without background requests. */
export const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // No optimizing compilers: a test runs each script once, and optimizing it would take a quarter of the browser's CPU
  // time.
  '--js-flags=--no-maglev,--no-turbofan',
];
