/** Error codes of failed system calls. */

import { constants } from 'node:os'

/** Whether a caught value is a system error with one of these codes. */
export function hasCode(error: unknown, ...codes: string[]): error is NodeJS.ErrnoException {
  return codes.includes(codeOf(error))
}

/** Whether a path cannot be examined: no permission, too long, or a loop of links. */
export function isBarred(error: unknown): boolean {
  return hasCode(error, 'EACCES', 'EPERM', 'ENAMETOOLONG', 'ELOOP')
}

/**
 * Returns the code of a system error, else an empty string. Trap: codes that libuv does not know, such as EDQUOT and
 * ESTALE, arrive as `Unknown system error -122`, and from synchronous calls as `UNKNOWN`; they are translated here.
 */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error && 'code' in error)) return ''
  const code = String(error.code)
  const unknown = /^(?:Unknown system error (-\d+)|UNKNOWN)$/.exec(code)
  if (!unknown) return code
  // a native module gives no `errno`
  const errno = 'errno' in error ? error.errno : Number(unknown[1])
  const known = Object.entries(constants.errno).find(([, number]) => -number === errno)
  return known?.[0] ?? code
}
