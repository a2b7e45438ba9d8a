import type { StoredRows } from '../../state/record-rows.ts'

/** The JSON of all cases in one buffer, from their rows and from what is newer in memory. */
export interface ListJson {
  /** The JSON array, in list order; the same object until something changes. */
  bytes(): Buffer
  /** Call it when a case has changed or is gone. */
  invalidate(): void
}

interface ListJsonDeps {
  /** All cases, in list order. */
  ids(): readonly { id: string }[]
  /** The JSON of a case whose row is outdated. */
  kept(id: string): string | undefined
  stored: StoredRows | undefined
}

/** The bytes are large and are freed after this time without a request. */
const IDLE_MS = 30_000

const [OPEN, COMMA, CLOSE] = [Buffer.from('['), Buffer.from(','), Buffer.from(']\n')]

export function createListJson({ ids, kept, stored }: ListJsonDeps): ListJson {
  let bytes: Buffer | null = null
  const forgetting = setTimeout(() => {
    bytes = null
  }, IDLE_MS).unref()

  function joined(): Buffer {
    const rows = new Map(Array.from(stored?.allJson() ?? [], ({ id, json }) => [id, json]))
    const parts: Uint8Array[] = []
    for (const { id } of ids()) {
      const json = kept(id) ?? rows.get(id)
      if (json === undefined) continue
      parts.push(parts.length === 0 ? OPEN : COMMA)
      parts.push(typeof json === 'string' ? Buffer.from(json) : json)
    }
    return Buffer.concat(parts.length === 0 ? [OPEN, CLOSE] : [...parts, CLOSE])
  }

  return {
    bytes() {
      bytes ??= joined()
      forgetting.refresh()
      return bytes
    },
    invalidate() {
      bytes = null
    },
  }
}
