/**
 * The texts of record files as they last parsed, so that one a person broke is still served, and a running
 * session's file that vanished comes back. Keys are `<case-id>/case.md`, `<case-id>/sessions/1.md`.
 */
export interface LastGood {
  remember(key: string, text: string): void
  recall(key: string): string | null
  /** Drops all of a case. */
  forget(caseId: string): void
}

/** The case and the file, relative to its folder, that a key names. */
export function partsOfKey(key: string): [caseId: string, file: string] {
  const slash = key.indexOf('/')
  return [key.slice(0, slash), key.slice(slash + 1)]
}
