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
  if (!/^(Unknown system error|UNKNOWN$)/.test(code) || !('errno' in error)) return code
  const known = Object.entries(constants.errno).find(([, number]) => -number === error.errno)
  return known?.[0] ?? code
}
