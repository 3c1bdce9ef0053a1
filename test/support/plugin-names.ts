const DISPLAY_NAME = Symbol.for('fastify.display-name');

/**
 * Gives each plugin the name of its function, or one for all that have none. Without a name Fastify compares the plugin
 * with every loaded module, twice; that was a third of the time in which a test builds the application.
 */
export function namePlugins(): void {
  const functions: object = Object.getPrototypeOf(namePlugins);
  Object.defineProperty(functions, DISPLAY_NAME, {
    configurable: true,
    get(this: { name: string }) {
      return this.name || 'without a name';
    },
    set(this: object, value: string) {
      Object.defineProperty(this, DISPLAY_NAME, { value, writable: true, configurable: true });
    },
  });
}
