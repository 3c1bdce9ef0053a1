import type { Access } from '../route-access.ts';
import type { IconName } from './icon.ts';
import type { RailCount, RailGroup } from './rail.ts';

/** Pages with one audience below one path, such as the admin area. */
export type Area<Tab = unknown> = {
  path: string;
  access: Access;
  /** The rail has this order. */
  pages: readonly AreaPage<Tab>[];
  /** Forms at and below these paths are for the sole owner, not for members. */
  soleOwnerForms?: readonly string[];
};

export type AreaPage<Tab = unknown> = {
  path: string;
  /** The name in the rail, its icon and its group; pages of one group follow each other. */
  tab?: Tab;
  icon?: IconName;
  group?: Tab;
  /** `plugin`: the routes of a third-party plugin. */
  kind?: 'file' | 'part' | 'plugin' | 'redirect';
  /** A query with which the page shows something: `?server=:serverId`. */
  example?: string;
};

export function tabsOf<Tab>({ pages }: Area<Tab>): { path: string; tab: Tab; icon: IconName; group?: Tab }[] {
  return pages.flatMap(({ path, tab, icon = 'list', group }) =>
    tab === undefined ? [] : [{ path, tab, icon, ...(group === undefined ? {} : { group }) }],
  );
}

/** The parts of an area's rail. `name`: the text of a part or group; `href`: the address of a path. */
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
