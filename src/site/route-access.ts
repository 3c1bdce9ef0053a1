/**
 * Who may use a route of the site:
 * - `anyone`;
 * - `user`: whoever is signed in;
 * - `owner`: whoever owns the server that `:serverId` names, and operators;
 * - `operator`: an operator with a second factor.
 */
export type Access = 'anyone' | 'user' | 'owner' | 'operator';
