import { capital } from '../model/one-line.ts'
import type { Ending } from './item.ts'
import { oneLine } from './text.ts'

/** How another tool's task ended. */
export type End = 'done' | 'dropped' | 'duplicate'

export interface EndFacts {
  /** `Closed on GitHub as not planned` */
  how: string
  at?: string | null | undefined
  /** The tool's own reason. */
  why?: string | null | undefined
}

export const STILL_OPEN: Ending = { state: 'OPEN', outcome: null, reason: null }

/**
 * A task that is done elsewhere has no verified proof, so its case does not become RESOLVED but COMPRESSED: done, with
 * its record elsewhere. Setting it to VERIFYING asks for proof.
 */
export function ended(end: End, { how, at, why }: EndFacts): Ending {
  const reason = oneLine(`${how}${at ? ` on ${at.slice(0, 10)}` : ''}${why ? `: ${why}` : ''}`)
  switch (end) {
    case 'dropped':
      return { state: 'WONT_FIX', outcome: 'WontFix', reason: shortened(reason) }
    case 'duplicate':
      return { state: 'NON_ISSUE', outcome: 'Duplicate', reason: shortened(reason) }
    case 'done':
      return {
        state: 'COMPRESSED',
        outcome: null,
        reason: `${shortened(reason)}; no verified proof here`,
      }
  }
}

const DONE = /^(?:done|closed?|completed?|finished|merged|resolved|shipped)$/
const DROPPED =
  /^(?:cancell?ed|abandoned|rejected|archived|obsolete|wont ?(?:fix|do)|not planned|invalid)$/
const DUPLICATE = /^duplicated?$/
const OTHERS: [RegExp, Ending['state']][] = [
  [/^(?:in ?progress|doing|started|active)$/, 'IMPLEMENTING'],
  [/^(?:(?:in ?)?review|reviewing|testing|in ?testing|qa|verify(?:ing)?)$/, 'VERIFYING'],
  [/^blocked$/, 'BLOCKED'],
  [/^(?:deferred|on hold|paused|someday|icebox)$/, 'WATCHLIST'],
]

/** The state for a status whose words a tool or its user chose; one that is not known stays OPEN. */
export function endingOf(
  status: string,
  { where, ...facts }: Omit<EndFacts, 'how'> & { where: string },
): Ending {
  const words = status
    .trim()
    .toLowerCase()
    .replace(/['\u2019]/g, '')
    .replace(/[-_\s]+/g, ' ')
  const how = `${capital(words)} ${where}`
  if (DONE.test(words)) return ended('done', { how, ...facts })
  if (DROPPED.test(words)) return ended('dropped', { how, ...facts })
  if (DUPLICATE.test(words)) return ended('duplicate', { how, ...facts })
  const state = OTHERS.find(([pattern]) => pattern.test(words))?.[1]
  return state ? { state, outcome: null, reason: how } : STILL_OPEN
}

/** The limit of the field, with room for the end of the sentence. */
function shortened(text: string): string {
  return text.length <= 1900 ? text : `${text.slice(0, 1900).toWellFormed()}\u2026`
}
