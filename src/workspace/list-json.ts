/** The JSON array of all cases, newest first, as in `GET /cases`. */
export interface ListJson {
  bytes(): Buffer
  /** Call it when a case has changed or was deleted. */
  changed(id: string): void
}

interface ListJsonDeps {
  /** All cases, in list order. */
  ids(): string[]
  json(id: string): string | undefined
  /** The JSON of cases whose values are in the database. */
  stored(): Iterable<{ id: string; json: Uint8Array }>
}

/** The bytes are large and are freed after this time without a request. */
const IDLE_MS = 30_000

const [OPEN, COMMA, CLOSE] = ['[', ',', ']\n'].map((text) => Buffer.from(text)) as [
  Buffer,
  Buffer,
  Buffer,
]

const textDecoder = new TextDecoder()

/** After a change only the JSON of changed cases is created; then all bytes are copied once. */
export function createListJson({ ids, json, stored }: ListJsonDeps): ListJson {
  /** For each case, in list order, a view into the bytes built last. */
  let rows: Map<string, Uint8Array> | null = null
  /** Cases changed since then. */
  const changedIds = new Set<string>()
  let all: Buffer | null = null
  const forgetting = setTimeout(() => {
    rows = null
    all = null
    changedIds.clear()
  }, IDLE_MS).unref()

  function joined(): Buffer {
    const before = rows ?? new Map(Array.from(stored(), (row) => [row.id, row.json]))
    const order = rows && [...changedIds].every(hasItsPlace) ? [...rows.keys()] : ids()
    const parts: Uint8Array[] = [OPEN]
    const now: [id: string, length: number][] = []
    for (const id of order) {
      const row = (!changedIds.has(id) && before.get(id)) || fresh(id)
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
    changedIds.clear()
    return whole
  }

  function fresh(id: string): Uint8Array | null {
    const text = json(id)
    return text === undefined ? null : Buffer.from(text)
  }

  /** Whether a changed case keeps its position in the list, as most do. */
  function hasItsPlace(id: string): boolean {
    const [before, after] = [rows?.get(id), fresh(id)]
    return before !== undefined && after !== null && creationOf(before) === creationOf(after)
  }

  return {
    bytes() {
      all ??= joined()
      forgetting.refresh()
      return all
    },
    changed(id) {
      if (rows) changedIds.add(id)
      all = null
    },
  }
}

function creationOf(json: Uint8Array): string {
  return JSON.parse(textDecoder.decode(json)).created_at
}
