import { SETTINGS_FILE } from '../model/settings.ts'
import type { Walls } from './walls.ts'

const REFUSED = /read-only file system|\bEROFS\b/i
const SHOWN = 10

/** A note for a failed run: which wall its output seems to speak of, and how to move it. Empty without one. */
export function wallsNote(said: string, places: Walls['places']): string {
  if (places === null) return ''
  const notes: string[] = []
  const turnOff = `sandbox: none in ${SETTINGS_FILE} turns this off; it needs casefile doctor --trust.`
  if (REFUSED.test(said)) {
    notes.push(
      `Runs can write only here: ${places.writes.join(', ')}. To add a folder, name it in cache: of ${SETTINGS_FILE} and run: casefile doctor --trust. ${turnOff}`,
    )
  }
  const unseen = places.hides.filter((name) => said.includes(name.replace(/^~\/|\/$/g, '')))
  if (unseen.length > 0) {
    notes.push(
      `Runs do not see ${unseen.slice(0, SHOWN).join(', ')}. To show one, take it out of hide:, or name it in cache: of ${SETTINGS_FILE} and run: casefile doctor --trust.`,
    )
  }
  if (/^sudo: /m.test(said)) notes.push(`sudo does not work in a run that is held. ${turnOff}`)
  return notes.join('\n')
}
