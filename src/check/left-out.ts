import { dirname, join, relative } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { stampNow } from '../files/read-now.ts'
import { runGit } from '../git/run-git.ts'
import { counted } from '../model/amounts.ts'
import { AppError } from '../model/app-error.ts'
import { visibleText } from '../model/visible-text.ts'
import type { Layout } from '../workspace/layout.ts'

/**
 * Throws `not_found` if git has files of the record that are not there: a sparse checkout, a submodule that is not
 * initialized, or a worktree without files leaves them out. `folders` are the places that matter, relative to the
 * memory root; all of it if not given.
 */
export async function mustBeCheckedOut(
  { memoryRoot }: Layout,
  folders: readonly string[] = [],
): Promise<void> {
  const from = repositoryFolder(memoryRoot)
  const record = relative(from, memoryRoot) || '.'
  const places = folders.length === 0 ? [record] : folders.map((each) => join(record, each))
  const left = await filesLeftOut(from, record, places)
  if (left === null || left.files.length === 0) return
  const [first = ''] = left.files
  const more = left.files.length > 1 ? ` and ${counted(left.files.length - 1, 'more file')}` : ''
  throw new AppError(
    'not_found',
    `The record could not be checked: ${left.why} leaves out ${visibleText(relative(record, first) || first)}${more}. Check all of it out: ${left.command}`,
  )
}

interface LeftOut {
  /** Relative to the folder that git ran in. */
  files: string[]
  why: string
  command: string
}

async function filesLeftOut(
  from: string,
  record: string,
  places: readonly string[],
): Promise<LeftOut | null> {
  const index = await listed(from, ['ls-files', '-t', '-s', '-z', '--', `:(literal)${record}`])
  if (index === null) return null
  const isMissing = (file: string) => stampNow(join(from, file)) === null
  const entries = index.map((entry) => /^(\S) (\d+) \S+ \d\t(.*)$/s.exec(entry)?.slice(1) ?? [])
  const [, , module] =
    entries.find(([, mode, file = '']) => mode === '160000' && isMissing(join(file, '.git'))) ?? []
  if (module !== undefined) {
    const command = `git submodule update --init ${visibleText(module)}`
    return { files: [module], why: 'the submodule, which is not initialized,', command }
  }
  const isAsked = (file: string) =>
    places.some((place) => place === '.' || file === place || file.startsWith(`${place}/`))
  const sparse = entries
    .filter(([tag, , file = '']) => tag === 'S' && isAsked(file) && isMissing(file))
    .map(([, , file = '']) => file)
  if (sparse.length > 0) {
    const command = `git sparse-checkout add ${record} (or: git sparse-checkout disable)`
    return { files: sparse, why: 'a sparse checkout', command }
  }
  if (entries.length > 0 && !isMissing(record)) return null
  const committed = await listed(from, [
    'ls-tree',
    '-r',
    '-z',
    '--name-only',
    'HEAD',
    '--',
    ...places,
  ])
  const files = (committed ?? []).filter(isMissing)
  if (committed === null || files.length < committed.length) return null
  return { files, why: 'this working folder', command: `git checkout HEAD -- ${record}` }
}

/** The lines of a listing; null without a repository, a commit or git. */
async function listed(cwd: string, args: string[]): Promise<string[] | null> {
  try {
    const { exit, stdout } = await runGit(args, { cwd })
    return exit === 0 ? stdout.toString().split('\0').slice(0, -1) : null
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  }
}

/** The memory root if it is a separate repository, else the nearest repository around it. */
function repositoryFolder(memoryRoot: string): string {
  if (stampNow(join(memoryRoot, '.git'))) return memoryRoot
  let folder = dirname(memoryRoot)
  while (stampNow(folder) === null && dirname(folder) !== folder) folder = dirname(folder)
  return folder
}
