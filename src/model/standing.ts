import type { Actor } from './history.ts'

/** What needs no separate approval, as `standing` in casefile.md says. */
export interface StandingIntent {
  /** As in an intent: what they do not name is not within. */
  paths: readonly string[]
  commands: readonly string[]
  /** What an intent within must be proved by, too. These commands may also run. */
  proof: readonly string[]
}

/** The text whose SHA-256 audit trails have, and what a person reads. */
export function standingText({ paths, commands, proof }: StandingIntent): string {
  const lists = Object.entries({ paths, commands, proof })
  return lists.map(([key, entries]) => `${key}: ${JSON.stringify(entries)}`).join(', ')
}

/** Who approves what lies within a standing intent: the line of casefile.md that the operator trusted. */
export const STANDING_ACTOR: Actor = { who: 'casefile.md', from: 'standing' }
