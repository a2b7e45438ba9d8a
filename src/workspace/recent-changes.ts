/** Counts changes, and says for a while which cases they were of. */
export interface RecentChanges {
  /** Of one case. */
  add(id: string): void
  /** Of more than can be told. */
  addUnknown(): void
  /** Grows with each. */
  version(): number
  /** The cases of all changes since a version, some of them twice; null where that is not known any more. */
  since(version: number): readonly string[] | null
}

/** As many as a checkout may bring at once; beyond, all cases are looked through. */
const KEPT = 4096

export function createRecentChanges(): RecentChanges {
  let ids: string[] = []
  /** Before the first of them. */
  let base = 0

  return {
    add(id) {
      if (ids.length >= KEPT) {
        base += ids.length
        ids = []
      }
      ids.push(id)
    },
    addUnknown() {
      base += ids.length + 1
      ids = []
    },
    version: () => base + ids.length,
    since: (version) => (version < base ? null : ids.slice(version - base)),
  }
}
