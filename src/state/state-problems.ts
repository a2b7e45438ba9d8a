import { relative } from 'node:path'
import { codeOf } from '../files/errno.ts'
import { failingFolders } from '../files/failing-folders.ts'
import type { Problem } from '../model/problem.ts'
import { DATABASE_FILE, type Database } from './database.ts'

/** Problems of the state folder, reported while this service runs. */
export function stateProblems({
  setAside,
  damage,
  failure,
  waiting,
}: Pick<Database, 'setAside' | 'damage' | 'failure' | 'waiting'>): Problem[] {
  const place = { file: DATABASE_FILE, line: null }
  const problems: Problem[] = []
  if (setAside !== null) problems.push({ code: 'state_reset', ...place, message: setAside })
  if (damage !== null) problems.push({ code: 'state_damaged', ...place, message: damage })
  if (failure !== null && damage === null) {
    const message = `${DATABASE_FILE} cannot be written, so changes are rejected, and ${waiting} that are made wait with their events: ${causeOf(failure)}`
    problems.push({ code: 'not_writable', ...place, message })
  }
  return problems
}

/** What the disk said, without the path of the state folder. */
function causeOf(error: unknown): string {
  const { cause = error } = error as Error
  return codeOf(cause).startsWith('E') && !codeOf(cause).startsWith('ERR_')
    ? codeOf(cause)
    : (cause as Error).message
}

/** Folders of the workspace in which the disk rejected the last write, and still does. */
export async function folderProblems(root: string): Promise<Problem[]> {
  const failing = await failingFolders(root)
  return failing.map(([folder, code]) => ({
    code: 'not_writable',
    file: relative(root, folder) || '.',
    line: null,
    message: `writing into this folder fails (${code})`,
  }))
}
