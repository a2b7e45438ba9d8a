/** Restores the file of a running session if a checkout removes it. */

import { lstat } from 'node:fs/promises'
import { createDurable } from '../files/durable-write.ts'
import { hasCode } from '../files/errno.ts'
import { AppError } from '../model/app-error.ts'
import type { CaseEntry } from './case-entry.ts'
import { makeInnerFolder } from './case-making.ts'
import type { ReaderDeps } from './readers.ts'

/**
 * Writes a running session's file again where it vanished, by a branch switch say: its journal must
 * not stop in the middle. The case's own file comes back with it. True when it did.
 */
export async function restoreMissingSession(deps: ReaderDeps, entry: CaseEntry): Promise<boolean> {
  const { layout, isRunningHere } = deps
  const held = [...entry.sessions.values()].filter(
    (each) => each.value && isRunningHere(each.value.id),
  )
  let restored = false
  for (const { value } of held) {
    const { number } = value!
    if (!(await isMissing(layout.sessionFile(entry.id, number)))) continue
    await makeInnerFolder(layout.sessions(entry.id))
    restored = (await put(deps, entry.id, `sessions/${number}.md`)) || restored
    await put(deps, entry.id, 'case.md')
  }
  return restored
}

/** Certainly: what a folder without permission hides may well be there. */
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

async function put({ layout, lastGood }: ReaderDeps, id: string, file: string): Promise<boolean> {
  const text = await lastGood.recall(`${id}/${file}`)
  if (text === null) return false
  try {
    const within = layout.caseFolder(id)
    await createDurable(`${within}/${file}`, Buffer.from(text), { within })
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'already_exists') return false // back by itself
    throw error
  }
}
