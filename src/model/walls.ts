import { visibleText } from './visible-text.ts'

/** The fields of `guarded`, as read. */
interface GuardedFields {
  mode?: unknown
  guard?: unknown
  reason?: unknown
  writes?: unknown
  hides?: unknown
}

/** What held the programs of a run, and what it left open, for an operator; null while planning, if mounts held. */
export function wallsText({ mode, guard, reason, writes, hides }: GuardedFields): string | null {
  const why = typeof reason === 'string' ? ` (${visibleText(reason)})` : ''
  if (guard !== 'mount') {
    const held = 'nothing holds the programs back: they can do what you can'
    return mode === 'work'
      ? `${held}${why}; the case files are compared before and after`
      : `no read-only mounts${why}; files are compared before and after`
  }
  if (mode !== 'work') return null
  const places = namesIn(writes)
  if (places.length === 0) {
    return 'only the case files are read-only: the programs can do what you can elsewhere'
  }
  const unseen = namesIn(hides)
  const seen = unseen.length === 0 ? '' : `; not seen: ${unseen.join(', ')}`
  return `written only: ${places.join(', ')}${seen}; network and other services as you have them`
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map((name) => visibleText(String(name))) : []
}
