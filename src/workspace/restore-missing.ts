/** Restores the file of a running session if a checkout removes it. */

import { lstat } from 'node:fs/promises'
import { hashOf } from '../files/decoded.ts'
import { createDurable } from '../files/durable-write.ts'
import { hasCode } from '../files/errno.ts'
import { AppError } from '../model/app-error.ts'
import type { CaseEntry } from './case-entry.ts'
import { makeInnerFolder } from './case-making.ts'
import type { ReaderDeps } from './record-readers.ts'

/**
 * Writes a running session's file again if it disappeared, for example by a branch switch, so that its journal can
 * continue. Restores case.md too. Returns true if it restored a session.
 */
export async function restoreMissingSession(deps: ReaderDeps, entry: CaseEntry): Promise<boolean> {
  const { layout, isRunningHere } = deps
  const running = [...entry.sessions.values()].filter(
    (each) => each.value && isRunningHere(each.value.id),
  )
  let restored = false
  for (const { value } of running) {
    const { number } = value!
    if (!(await isMissing(layout.sessionFile(entry.id, number)))) continue
    await makeInnerFolder(layout.sessions(entry.id))
    restored = (await put(deps, entry.id, `sessions/${number}.md`)) || restored
    await put(deps, entry.id, 'case.md', entry.file.hash)
  }
  return restored
}

/** Returns true only if it is certain: a folder without permission may contain the file. */
async function isMissing(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return false
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return true
    if (hasCode(error, 'EACCES')) return false
    throw error
  }
}

/** Without a hash, any text will do. */
async function put(
  { layout, lastText }: ReaderDeps,
  id: string,
  file: string,
  hash?: string,
): Promise<boolean> {
  const text = lastText(`${id}/${file}`)
  if (text === null || (hash && hashOf(Buffer.from(text)) !== hash)) return false
  try {
    const within = layout.caseFolder(id)
    await createDurable(`${within}/${file}`, Buffer.from(text), { within })
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'already_exists') return false // the file is back already
    throw error
  }
}
