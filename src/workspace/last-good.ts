/**
 * The last readable text of each record file. It is served if a person breaks the file, and restores a running
 * session's file that disappeared. Keys are `<case-id>/case.md`, `<case-id>/sessions/1.md`.
 */
export interface LastGood {
  remember(key: string, text: string): void
  recall(key: string): string | null
  /** Forgets all texts of a case. */
  forget(caseId: string): void
}

/** Splits a key into the case id and the file, relative to the case folder. */
export function partsOfKey(key: string): [caseId: string, file: string] {
  const slash = key.indexOf('/')
  return [key.slice(0, slash), key.slice(slash + 1)]
}
