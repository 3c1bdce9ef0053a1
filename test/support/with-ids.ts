/** The address of a route with ids instead of parameters such as `:serverId`. @throws if `ids` lacks one of them */
export function withIds(route: string, ids: Record<string, string>): string {
  return route.replaceAll(/:([a-z]\w*)/gi, (_, name: string) => {
    const id = ids[name];
    if (id === undefined) throw new Error(`there is no :${name} for ${route}`);
    return id;
  });
}
