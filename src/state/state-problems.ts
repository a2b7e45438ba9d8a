import type { Problem } from '../model/problem.ts'
import { DATABASE_FILE, type Database } from './database.ts'

/** Problems of the state folder, reported while this service runs. */
export function stateProblems({
  setAside,
  damage,
}: Pick<Database, 'setAside' | 'damage'>): Problem[] {
  const place = { file: DATABASE_FILE, line: null }
  const problems: Problem[] = []
  if (setAside !== null) problems.push({ code: 'state_reset', ...place, message: setAside })
  if (damage !== null) problems.push({ code: 'state_damaged', ...place, message: damage })
  return problems
}
