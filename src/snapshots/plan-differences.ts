/** Compares the contents of a folder before and after planning. */

import { UNREADABLE } from './plan-contents.ts'

/**
 * Returns the paths that exist in only one of the two, or have different values; sorted. A new or deleted folder (its
 * path ends with a slash) is listed only if none of its contents are; a folder that became unreadable stands for all
 * its contents.
 */
export function differences(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] {
  const names = [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => before.get(name) !== after.get(name))
    .sort()
  return names.filter((name, at) => {
    if (isHidden(name, after)) return false
    const isChanged = before.has(name) && after.has(name)
    return isChanged || !name.endsWith('/') || !names[at + 1]?.startsWith(name)
  })
}

function isHidden(name: string, after: ReadonlyMap<string, string>): boolean {
  if (after.has(name)) return false
  for (let end = name.lastIndexOf('/', name.length - 2); end > 0; ) {
    if (after.get(name.slice(0, end + 1))?.endsWith(UNREADABLE)) return true
    end = name.lastIndexOf('/', end - 1)
  }
  return after.get('./')?.endsWith(UNREADABLE) ?? false
}
