/**
 * Who may use a route of the site:
 * - `anyone`;
 * - `person`: whoever is signed in;
 * - `owner`: whoever owns the server that `:serverId` names, and operators;
 * - `operator`: an operator with a second factor.
 */
export type Access = 'anyone' | 'person' | 'owner' | 'operator';
