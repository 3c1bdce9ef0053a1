import type { Access } from '../route-access.ts';
import type { Html } from './html.ts';
import type { IconName } from './icon.ts';
import { type RailCount, rail } from './rail.ts';

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

/** `name`: the text of a part or group. `href`: the address of a path. `part`: the path of the current part. */
type AreaRail<Tab> = {
  label: string;
  whose: Html;
  name: (tab: Tab) => string;
  href: (path: string) => string;
  part: string;
  counts?: Partial<Record<string, RailCount>> | undefined;
};

export function areaRail<Tab>(area: Area<Tab>, side: AreaRail<Tab>): Html {
  const { label, whose, name, href, part, counts = {} } = side;
  const groups = Map.groupBy(tabsOf(area), ({ group }) => group);
  return rail({
    label,
    whose,
    groups: [...groups].map(([group, pages]) => ({
      name: group === undefined ? undefined : name(group),
      parts: pages.map(({ path, tab, icon }) => ({
        href: href(path),
        text: name(tab),
        icon,
        count: counts[path],
      })),
    })),
    current: href(part),
  });
}

/** The name of a part, which is also the heading of its page. */
export function tabOf<Tab>(area: Area<Tab>, part: string): Tab | undefined {
  return tabsOf(area).find(({ path }) => path === part)?.tab;
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
