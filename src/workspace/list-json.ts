/** The JSON of all cases in one array, the newest case first, as `GET /cases` answers it. */
export interface ListJson {
  bytes(): Buffer
  /** A case has changed, or is gone. */
  changed(id: string): void
}

interface ListJsonDeps {
  /** All cases in their order. */
  ids(): string[]
  json(id: string): string | undefined
  /** The JSON of those cases whose values are in the database. */
  stored(): Iterable<{ id: string; json: Uint8Array }>
}

/** The bytes are large: they make room so long after the last request for them. */
const IDLE_MS = 30_000

const [OPEN, COMMA, CLOSE] = ['[', ',', ']\n'].map((text) => Buffer.from(text)) as [
  Buffer,
  Buffer,
  Buffer,
]

/** After a change only the JSON of the changed cases is made, and all is copied once. */
export function createListJson({ ids, json, stored }: ListJsonDeps): ListJson {
  /** Of each case, a view into `all` or what has to go there. */
  let rows: Map<string, Uint8Array> | null = null
  let all: Buffer | null = null
  const forgetting = setTimeout(() => {
    rows = null
    all = null
  }, IDLE_MS).unref()

  function joined(): Buffer {
    const before = rows ?? new Map(Array.from(stored(), ({ id, json }) => [id, json]))
    const parts: Uint8Array[] = [OPEN]
    const now: [id: string, length: number][] = []
    for (const id of ids()) {
      const text = before.has(id) ? undefined : json(id)
      const row = before.get(id) ?? (text === undefined ? null : Buffer.from(text))
      if (!row) continue
      if (now.length > 0) parts.push(COMMA)
      parts.push(row)
      now.push([id, row.length])
    }
    parts.push(CLOSE)
    const whole = Buffer.concat(parts)
    let at = OPEN.length
    rows = new Map()
    for (const [id, length] of now) {
      rows.set(id, whole.subarray(at, at + length))
      at += length + COMMA.length
    }
    return whole
  }

  return {
    bytes() {
      all ??= joined()
      forgetting.refresh()
      return all
    },
    changed(id) {
      rows?.delete(id)
      all = null
    },
  }
}
