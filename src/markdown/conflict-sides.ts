import { linesOf } from './lines.ts'

export interface ConflictSides {
  ours: string
  theirs: string
}

/**
 * The two texts that git merged into a file with conflict markers, in either style (`merge`,
 * `diff3`). Null if the markers are incomplete. Trap: the texts differ from git's once a person has
 * begun to resolve the conflict.
 */
export function conflictSides(text: string): ConflictSides | null {
  const sides = { ours: '', theirs: '' }
  let part: 'both' | 'ours' | 'base' | 'theirs' = 'both'
  for (const { text: line, start, next } of linesOf(text)) {
    if (part === 'both' && line.startsWith('<<<<<<< ')) part = 'ours'
    else if (part === 'ours' && line.startsWith('|||||||')) part = 'base'
    else if ((part === 'ours' || part === 'base') && line === '=======') part = 'theirs'
    else if (part === 'theirs' && line.startsWith('>>>>>>> ')) part = 'both'
    else {
      const whole = text.slice(start, next)
      if (part === 'both' || part === 'ours') sides.ours += whole
      if (part === 'both' || part === 'theirs') sides.theirs += whole
    }
  }
  return part === 'both' ? sides : null
}
