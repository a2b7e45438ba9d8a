import { linesOf } from './lines.ts'

export interface ConflictSides {
  ours: string
  theirs: string
}

/**
 * Returns the two texts of a file with git conflict markers, in either style (`merge`, `diff3`); null if the markers
 * are incomplete. If a person has started to resolve the conflict, the texts include their changes.
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
      const line = text.slice(start, next)
      if (part === 'both' || part === 'ours') sides.ours += line
      if (part === 'both' || part === 'theirs') sides.theirs += line
    }
  }
  return part === 'both' ? sides : null
}
