import { isAbsolute, relative } from 'node:path'

/** Whether `path` is `folder` or lies in it; both with links resolved by the caller. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way)
}
