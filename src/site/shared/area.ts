import type { Access } from '../route-access.ts';

/** Pages with one audience below one path, such as the admin area. */
export type Area<Tab = unknown> = {
  path: string;
  access: Access;
  /** Tabs have this order. */
  pages: readonly AreaPage<Tab>[];
  /** Forms at and below these paths are for the sole owner, not for members. */
  soleOwnerForms?: readonly string[];
};

export type AreaPage<Tab = unknown> = {
  path: string;
  tab?: Tab;
  /** `plugin`: the routes of a third-party plugin. */
  kind?: 'file' | 'part' | 'plugin' | 'redirect';
  /** A query with which the page shows something: `?server=:serverId`. */
  example?: string;
};

export function tabsOf<Tab>({ pages }: Area<Tab>): { path: string; tab: Tab }[] {
  return pages.flatMap(({ path, tab }) => (tab === undefined ? [] : [{ path, tab }]));
}

/** Undefined for a route outside the areas. */
export function accessIn(areas: readonly Area[], method: string, url: string): Access | undefined {
  const area = areas.find(({ path }) => isBelow(url, path));
  const isOfSoleOwner =
    method === 'POST' && area?.soleOwnerForms?.some((path) => isBelow(url, area.path + path));
  return isOfSoleOwner ? 'sole-owner' : area?.access;
}

function isBelow(url: string, path: string): boolean {
  const [one, other] = [url, path].map((text) => `${text.replaceAll(/:\w+/g, ':')}/`) as [string, string];
  return one.startsWith(other);
}
