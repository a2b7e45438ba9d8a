import { relative } from 'node:path'
import { findRepository } from '../../git/repository.ts'
import { findUncommitted } from '../../git/uncommitted.ts'
import { visibleText } from '../../model/visible-text.ts'
import { layoutOf } from '../../workspace/layout.ts'
import type { ReadContext } from '../context.ts'

const GIT_MS = 3_000
const MOST_FILES = 5
const PLAIN = /^[\w./-]+$/

/** How to commit the record of a case, and what else is not committed; null if git does not keep it, or has all of it. */
export async function commitCommand(
  { root, memoryRoot }: ReadContext['workspace'],
  caseId: string,
): Promise<string | null> {
  const folder = layoutOf(root, memoryRoot).caseFolder(caseId)
  const found = await findUncommitted(folder, [])
  if ('reason' in found || found.changes.length === 0) return null
  const top = async (path: string) => {
    const repository = await findRepository(path, { timeoutMs: GIT_MS }).catch(() => null)
    return repository === null || 'reason' in repository ? null : repository.top
  }
  const here = process.cwd()
  // the cases can have a repository of their own
  const isHere = (await top(here)) === (await top(folder))
  const git = isHere ? 'git' : `git -C ${shown(relative(here, memoryRoot) || '.')}`
  const path = shown(relative(isHere ? here : memoryRoot, folder) || '.')
  const command = `${git} add ${path} && ${git} commit -m "Resolve case ${caseId.slice(0, 8)}"`
  const others = await findUncommitted(root, [memoryRoot])
  const files = 'reason' in others ? [] : others.changes.map(({ file }) => visibleText(file))
  if (files.length > MOST_FILES) files.splice(MOST_FILES, files.length, '…')
  const fix =
    files.length === 0 ? '' : `First git add what belongs to the fix: ${files.join(', ')}\n`
  return `The record is not committed yet. ${fix}Next: ${command}`
}

function shown(path: string): string {
  return PLAIN.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
