import { dirname, relative } from 'node:path'
import { codeOf } from '../../files/errno.ts'
import { isWithin } from '../../files/real-path.ts'
import { stampOf } from '../../files/safe-read.ts'
import { AppError } from '../../model/app-error.ts'
import { visibleText } from '../../model/visible-text.ts'
import type { Layout } from '../layout.ts'
import { runGit } from './git-command.ts'

/**
 * Throws if git tracks files of the record and keeps them out of the working tree: by a sparse checkout, or in a
 * submodule without its content. What is left out looks as if it were not there.
 */
export async function mustBeCheckedOut({ root, memoryRoot }: Layout): Promise<void> {
  const places = isWithin(root, memoryRoot) ? [root] : [dirname(memoryRoot)]
  if ((await stampOf(memoryRoot)) !== null) places.push(memoryRoot)
  for (const cwd of places) {
    const path = relative(cwd, memoryRoot) || '.'
    const left = await firstLeftOut(cwd, path)
    if (left === null) continue
    const folder = visibleText(`${relative(root, memoryRoot) || memoryRoot}/`)
    throw new AppError(
      'not_found',
      `The record in ${folder} could not be checked: ${left}. Check out all of it first.`,
    )
  }
}

/** What git keeps out of the working tree below a path, as a clause; null if nothing, or without git. */
async function firstLeftOut(cwd: string, path: string): Promise<string | null> {
  const args = ['ls-files', '-t', '--stage', '-z', '--', path]
  const { exit, stdout } = await runGit(args, { cwd }).catch(noGit)
  if (exit !== 0) return null
  const entries = stdout.toString().split('\0')
  const skipped = entries.filter((entry) => entry.startsWith('S '))
  const named = (entry: string) => visibleText(entry.slice(entry.indexOf('\t') + 1))
  if (skipped.length > 0) {
    const more = skipped.length > 1 ? ` and ${skipped.length - 1} more` : ''
    return `a sparse checkout leaves out ${named(skipped[0]!)}${more} (git sparse-checkout disable)`
  }
  const modules = entries.filter((entry) => entry.startsWith('H 160000 '))
  for (const entry of modules) {
    const [, name = ''] = entry.split('\t')
    if ((await stampOf(`${cwd}/${name}/.git`)) === null)
      return `the submodule ${named(entry)} is empty (git submodule update --init)`
  }
  return null
}

function noGit(error: unknown): { exit: number; stdout: Buffer } {
  if (codeOf(error) !== 'ENOENT') throw error
  return { exit: -1, stdout: Buffer.alloc(0) }
}
