import { visibleText } from './visible-text.ts'

/** The fields of `guarded`, as read. */
interface GuardedFields {
  mode?: unknown
  guard?: unknown
  reason?: unknown
  writes?: unknown
  hides?: unknown
  hosts?: unknown
  runtime?: unknown
}

/** What held the programs of a run, and what it left open, for an operator; null while planning, if mounts held. */
export function wallsText(fields: GuardedFields): string | null {
  const { mode, guard, reason, writes, hides } = fields
  const why = typeof reason === 'string' ? ` (${visibleText(reason)})` : ''
  const network = networkText(fields)
  if (guard !== 'mount' && network !== null) {
    const held = placesText(writes, hides) ?? 'written everywhere'
    return `${held}; ${network}; no mounts${why}, so the case files are compared before and after`
  }
  if (guard !== 'mount') {
    const held = 'nothing limits the programs: they can do what you can'
    return mode === 'work'
      ? `${held}${why}; the case files are compared before and after`
      : `no read-only mounts${why}; files are compared before and after`
  }
  if (mode !== 'work') return null
  const places = placesText(writes, hides)
  if (places === null) {
    const rest = network === null ? '' : `; ${network}`
    return `only the case files are read-only: the programs can do what you can elsewhere${rest}`
  }
  return `${places}; ${network ?? 'network and other services as you have them'}`
}

function placesText(writes: unknown, hides: unknown): string | null {
  const places = namesIn(writes)
  if (places.length === 0) return null
  const unseen = namesIn(hides)
  const seen = unseen.length === 0 ? '' : `; could not see: ${unseen.join(', ')}`
  return `could write only to: ${places.join(', ')}${seen}`
}

/** Null if nothing limits it. */
function networkText({ hosts, runtime }: GuardedFields): string | null {
  if (!Array.isArray(hosts)) return null
  const names = namesIn(hosts)
  const by = typeof runtime === 'string' ? ` (sandbox-runtime ${visibleText(runtime)})` : ''
  return names.length === 0
    ? `nothing on the network${by}`
    : `on the network only: ${names.join(', ')}${by}`
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map((name) => visibleText(String(name))) : []
}
