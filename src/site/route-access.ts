/**
 * Who may use a route of the site:
 *
 * - `anyone`;
 * - `user`: signed-in users;
 * - `owner`: the owner of the server in `:serverId`, its members, and operators; members with the role `read` may only
 *   GET;
 * - `sole-owner`: the owner of the server in `:serverId`, and operators;
 * - `operator`: an operator with a second factor.
 */
export type Access = 'anyone' | 'user' | 'owner' | 'sole-owner' | 'operator';
