/** Compares two readings of a folder. */

import { UNREADABLE } from './plan-contents.ts'

/**
 * The names that are in only one reading or have different values; sorted. A folder (its name ends
 * with a slash) that appeared or disappeared is listed only if no entry in it is. A folder that
 * became unreadable is listed instead of its entries.
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
