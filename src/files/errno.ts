/** Error codes of system calls. */

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
 * The code of a system error, else an empty string. Trap: libuv does not know some codes, such as
 * EDQUOT and ESTALE. It reports them as `Unknown system error -122`, and synchronous calls as
 * `UNKNOWN`. This function returns their real names.
 */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error && 'code' in error)) return ''
  const code = String(error.code)
  if (!/^(Unknown system error|UNKNOWN$)/.test(code) || !('errno' in error)) return code
  const known = Object.entries(constants.errno).find(([, number]) => -number === error.errno)
  return known?.[0] ?? code
}
