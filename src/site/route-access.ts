/**
 * The users who may use a route of the site. A user is an operator here only while `mayActAsOperator` is true.
 *
 * - `user`: signed-in users;
 * - `owner`: owner and members of the server in `:serverId`, and operators. Members with the role `read` may only GET;
 * - `sole-owner`: the owner of the server in `:serverId`, and operators.
 */
export type Access = 'anyone' | 'user' | 'owner' | 'sole-owner' | 'operator';
