import { capital } from './one-line.ts'
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

type When = 'before' | 'after'

/** What will hold the programs of a run, as a sentence for the operator who decides on it. */
export function expectedWallsText({
  guard,
  reason,
  places,
  hosts,
}: {
  guard: 'mount' | 'comparison'
  reason: string | null
  places: { writes: string[]; hides: string[] } | null
  hosts: readonly string[] | null
}): string {
  const fields = { mode: 'work', guard, reason, ...places, ...(hosts && { hosts }) }
  const text = wallsText(fields, 'before') ?? ''
  return text.startsWith('can ') ? `The programs ${text}.` : `${capital(text)}.`
}

/** The same in a few words. */
export function wallsInShort({
  places,
  hosts,
}: Pick<Parameters<typeof expectedWallsText>[0], 'places' | 'hosts'>): string {
  const [first, ...more] = places?.writes ?? []
  const writes = first
    ? `Writes: ${first}${more.length > 0 ? ` and ${more.length} more` : ''}. `
    : ''
  const network = hosts === null ? 'open' : hosts.join(', ') || 'none'
  return visibleText(`${writes}Network: ${network}.`)
}

/** What held the programs of a run, and what it left open, for an operator; null while planning, if mounts held. */
export function wallsText(fields: GuardedFields, when: When = 'after'): string | null {
  const { mode, guard, reason, writes, hides } = fields
  const why = typeof reason === 'string' ? ` (${visibleText(reason)})` : ''
  const network = networkText(fields)
  if (guard !== 'mount' && network !== null) {
    const held = placesText(writes, hides, when) ?? 'written everywhere'
    return `${held}; ${network}; no mounts${why}, so the case files are compared before and after`
  }
  if (guard !== 'mount') {
    const held = 'nothing limits the programs: they can do what you can'
    return mode === 'work'
      ? `${held}${why}; the case files are compared before and after`
      : `no read-only mounts${why}; files are compared before and after`
  }
  if (mode !== 'work') return null
  const places = placesText(writes, hides, when)
  if (places === null) {
    const rest = network === null ? '' : `; ${network}`
    return `only the case files are read-only: the programs can do what you can elsewhere${rest}`
  }
  return `${places}; ${network ?? 'network: open'}`
}

function placesText(writes: unknown, hides: unknown, when: When): string | null {
  const places = namesIn(writes)
  if (places.length === 0) return null
  const unseen = namesIn(hides)
  const [can, cannot] = when === 'before' ? ['can', 'cannot'] : ['could', 'could not']
  const seen = unseen.length === 0 ? '' : `; ${cannot} see: ${unseen.join(', ')}`
  return `${can} write only to: ${places.join(', ')}${seen}`
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
