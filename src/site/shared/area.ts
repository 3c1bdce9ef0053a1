import type { Access } from '../route-access.ts';
import type { IconName } from './icon.ts';
import type { RailCount, RailGroup } from './rail.ts';

/** Pages with one audience below one path, such as the admin area. */
export type Area<Tab = unknown> = {
  /** The path, with its parameters: `/dashboard/servers/:serverId`. */
  path: string;
  /** The access of every route at and below the path. */
  access: Access;
  /** Every page. The rail has this order. */
  pages: readonly AreaPage<Tab>[];
  /** The paths at and below which forms are for the sole owner, not for members. */
  soleOwnerForms?: readonly string[];
};

/** A page, or another GET route; its forms are in its own file. */
export type AreaPage<Tab = unknown> = {
  /** The path below that of the area, with its parameters: `/users/:userId`. */
  path: string;
  /** The page's name in the rail. Absent if it is not there. */
  tab?: Tab;
  /** The icon before the name in the rail. */
  icon?: IconName;
  /** The group of the rail. Pages of one group follow each other. */
  group?: Tab;
  /** What there is at the path if it is no page. `plugin`: the routes of a third-party plugin. */
  kind?: 'file' | 'part' | 'plugin' | 'redirect';
  /** A query with which the page shows something. It may have the parameters of paths: `?server=:serverId`. */
  example?: string;
};

/** The pages of an area that are in its rail, in this order. */
export function tabsOf<Tab>({ pages }: Area<Tab>): { path: string; tab: Tab; icon: IconName; group?: Tab }[] {
  return pages.flatMap(({ path, tab, icon = 'list', group }) =>
    tab === undefined ? [] : [{ path, tab, icon, ...(group === undefined ? {} : { group }) }],
  );
}

/** The pages of the rail in their groups. `name`: the text of a page or group; `href`: the address of a path. */
export function railGroups<Tab>(
  area: Area<Tab>,
  name: (tab: Tab) => string,
  href: (path: string) => string,
  counts: Partial<Record<string, RailCount>> = {},
): RailGroup[] {
  const groups = Map.groupBy(tabsOf(area), ({ group }) => group);
  return [...groups].map(([group, pages]) => ({
    name: group === undefined ? undefined : name(group),
    parts: pages.map(({ path, tab, icon }) => ({
      href: href(path),
      text: name(tab),
      icon,
      count: counts[path],
    })),
  }));
}

/** The access that the areas give a route; undefined if it is in none of them. */
export function accessIn(areas: readonly Area[], method: string, url: string): Access | undefined {
  const area = areas.find(({ path }) => isBelow(url, path));
  const isOfSoleOwner =
    method === 'POST' && area?.soleOwnerForms?.some((path) => isBelow(url, area.path + path));
  return isOfSoleOwner ? 'sole-owner' : area?.access;
}

/** Whether a route is at or below a path. The names of parameters may differ. */
function isBelow(url: string, path: string): boolean {
  const [one, other] = [url, path].map((text) => `${text.replaceAll(/:\w+/g, ':')}/`) as [string, string];
  return one.startsWith(other);
}
