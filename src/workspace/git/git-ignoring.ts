/** Makes git ignore derived files such as index.md, so that they never block a checkout or merge. */

import { join, relative, resolve } from 'node:path'
import { makeFolder, writeDurable } from '../../files/durable-write.ts'
import { type FileStamp, readRegular, sameStamp, stampOf } from '../../files/safe-read.ts'
import { AppError } from '../../model/app-error.ts'
import { gitText, runGit } from './git-command.ts'
import { findRepository, gitNotFound } from './git-repository.ts'

/** Makes git ignore the derived files of a memory root. */
export interface GitIgnoring {
  /** Call before writing index.md. Returns why it must not be written; empty if it may. */
  ensure(): Promise<string>
}

/**
 * The memory root has a .gitignore only if the service or `casefile init` created it, and a branch may lack it. A
 * derived file that is neither ignored nor committed would block a checkout or merge, so it is added to the clone's
 * own `info/exclude`, which is not part of any branch. `lost` is aborted if this process may no longer write.
 */
export function createGitIgnoring(memoryRoot: string, lost?: AbortSignal): GitIgnoring {
  const ignoreFile = join(memoryRoot, '.gitignore')
  let seen: FileStamp | null | undefined
  let reason = ''

  async function ensure(): Promise<string> {
    if (lost?.aborted) return `index.md is not written: ${lost.reason.message}`
    const stamp = await stampOf(ignoreFile)
    const isSame = seen === null || stamp === null ? seen === stamp : seen && sameStamp(seen, stamp)
    if (!isSame || reason !== '') {
      reason = await look()
      seen = stamp
    }
    return reason
  }

  async function look(): Promise<string> {
    const git = { cwd: memoryRoot }
    const isIgnored = await runGit(['check-ignore', '--quiet', 'index.md'], git).catch(gitNotFound)
    // 0: ignored; 1: not; else it is in no repository
    if (isIgnored.exit !== 1) return ''
    const repository = await findRepository(memoryRoot, {})
    if ('reason' in repository) return ''
    if ((await runGit(['ls-files', '--error-unmatch', 'index.md'], git)).exit === 0) {
      return 'index.md is not written: git tracks it, and it would stop every checkout. Run git rm --cached on it, and it will be ignored.'
    }
    const dirs = await gitText(['rev-parse', '--git-dir', '--git-common-dir'], git)
    const [own, common] = dirs
      .trimEnd()
      .split('\n')
      .map((dir) => resolve(memoryRoot, dir))
    if (own !== common) {
      // the list applies to all worktrees, and another project folder may have its own index.md
      return 'index.md is not written: git would not ignore it. Add the line index.md to .gitignore beside it.'
    }
    const folder = excludePattern(relative(repository.top, memoryRoot))
    const lines = [`${folder}/index.md`, `${folder}/cases/*/sessions/latest.md`]
    await addToExclude(repository.exclude, lines)
    return ''
  }

  return { ensure }
}

/** Returns a pattern for exactly this path from the top of a repository. */
export function excludePattern(path: string): string {
  return path === '' ? '' : `/${path.replace(/[\\*?[\]!#]/g, '\\$&')}`
}

/** Adds lines to the clone's own list of ignored files. */
export async function addToExclude(exclude: string, lines: readonly string[]): Promise<void> {
  await writeExclude(exclude, await planExclude(exclude, lines))
}

export interface ExcludeEdit {
  before: Buffer | null
  after: Buffer
}

/** The file with these lines added. Throws `unreadable_file`. */
export async function planExclude(exclude: string, lines: readonly string[]): Promise<ExcludeEdit> {
  const read = await readRegular(exclude, { maxBytes: 1024 * 1024 })
  if (!read.ok && read.reason !== 'missing') {
    throw new AppError('unreadable_file', `${exclude} cannot be read: ${read.detail}.`)
  }
  const present = read.ok ? read.bytes : null
  const gap = present && present.length > 0 && present.at(-1) !== 0x0a ? '\n' : ''
  const added = lines.map((line) => `${line}\n`).join('')
  const after = Buffer.concat([present ?? Buffer.alloc(0), Buffer.from(gap + added)])
  return { before: present, after }
}

export async function writeExclude(exclude: string, { before, after }: ExcludeEdit): Promise<void> {
  await makeFolder(resolve(exclude, '..'))
  await writeDurable(exclude, after, { expect: before })
}
