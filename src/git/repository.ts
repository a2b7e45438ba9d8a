/** Asks git for a repository's top folder, objects and exclude files. */

import { realpath } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { type GitCommandOptions, runGit } from './command.ts'

export interface GitRepository {
  /** The top folder of its working tree, without symbolic links. */
  top: string
  /** The folder asked for, relative to `top`; empty if it is `top`. */
  prefix: string
  /** Its object folder. */
  objects: string
  /** `info/exclude`, which need not exist. */
  exclude: string
  /** The user's `core.excludesFile`, if one is configured. */
  excludesFile: string | null
  objectFormat: string
}

/** Returns the repository of a folder, or git's message why there is none. */
export async function findRepository(
  workdir: string,
  options: Pick<GitCommandOptions, 'timeoutMs' | 'signal'>,
): Promise<GitRepository | { reason: string }> {
  const cwd = await realpath(workdir)
  const runQuery = async (...args: string[]) => {
    const { exit, stdout, stderr } = await runGit(args, { ...options, cwd })
    // removes only the line end, as a folder name may end with a space
    return { exit, value: stdout.toString().replace(/\n$/, ''), stderr }
  }
  const found = await runQuery('rev-parse', ...QUERIES.flat()).catch(gitNotFound)
  if (found.exit !== 0) return { reason: firstLine(found.stderr) }
  let answers = found.value.split('\n')
  if (answers.length !== QUERIES.length) {
    // a folder name may contain a line end
    const each = QUERIES.map(async (query) => (await runQuery('rev-parse', ...query)).value)
    answers = await Promise.all(each)
  }
  const [top = '', objectFormat = '', objects = '', exclude = ''] = answers
  // a repository cannot ignore its own top
  if (top !== cwd && (await runQuery('check-ignore', '--quiet', cwd)).exit === 0) {
    return { reason: 'the folder is ignored by the git repository around it' }
  }
  const excludesFile = await runQuery('config', '--type=path', '--get', 'core.excludesFile')
  return {
    top,
    objectFormat,
    prefix: relative(top, cwd),
    objects: resolve(cwd, objects),
    exclude: resolve(cwd, exclude),
    excludesFile: excludesFile.exit === 0 ? resolve(top, excludesFile.value) : null,
  }
}

/** `git rev-parse` answers all of them in one run, with a line for each. */
const QUERIES = [
  ['--show-toplevel'],
  ['--show-object-format'],
  ['--git-path', 'objects'],
  ['--git-path', 'info/exclude'],
]

/** The result of a query if git is not installed. */
export function gitNotFound(error: NodeJS.ErrnoException) {
  if (error.code !== 'ENOENT') throw error
  return { exit: -1, value: '', stderr: error.message }
}

function firstLine(stderr: string): string {
  return (stderr.split('\n')[0] ?? '').replace(/^fatal: /, '')
}
