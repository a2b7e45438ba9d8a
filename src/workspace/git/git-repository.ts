/** Asks git for a repository's top folder, objects and exclude files. */

import { realpath } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { type GitCommandOptions, runGit } from './git-command.ts'

export interface GitRepository {
  /** Its working tree, without symbolic links. */
  top: string
  /** The folder asked for, relative to `top`; empty if it is `top`. */
  prefix: string
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
  const ask = async (...args: string[]) => {
    const { exit, stdout, stderr } = await runGit(args, { ...options, cwd })
    // removes only the line end, as a folder name may end with a space
    return { exit, value: stdout.toString().replace(/\n$/, ''), stderr }
  }
  const found = await ask('rev-parse', ...QUESTIONS.flat()).catch(missingGit)
  if (found.exit !== 0) return { reason: firstLine(found.stderr) }
  let answers = found.value.split('\n')
  if (answers.length !== QUESTIONS.length) {
    // a folder name may contain a line end
    const each = QUESTIONS.map(async (question) => (await ask('rev-parse', ...question)).value)
    answers = await Promise.all(each)
  }
  const [top = '', objectFormat = '', objects = '', exclude = ''] = answers
  // a repository cannot ignore its own top
  if (top !== cwd && (await ask('check-ignore', '--quiet', cwd)).exit === 0) {
    return { reason: `the folder is ignored by the git repository ${top}` }
  }
  const excludesFile = await ask('config', '--type=path', '--get', 'core.excludesFile')
  return {
    top,
    objectFormat,
    prefix: relative(top, cwd),
    objects: resolve(cwd, objects),
    exclude: resolve(cwd, exclude),
    excludesFile: excludesFile.exit === 0 ? resolve(top, excludesFile.value) : null,
  }
}

/** Arguments of one `git rev-parse`, which prints one line for each. */
const QUESTIONS = [
  ['--show-toplevel'],
  ['--show-object-format'],
  ['--git-path', 'objects'],
  ['--git-path', 'info/exclude'],
]

function missingGit(error: NodeJS.ErrnoException) {
  if (error.code !== 'ENOENT') throw error
  return { exit: -1, value: '', stderr: 'git was not found on the PATH' }
}

function firstLine(stderr: string): string {
  return (stderr.split('\n')[0] ?? '').replace(/^fatal: /, '')
}
