import { realpath } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { type GitCommandOptions, runGit } from './git-command.ts'

export interface GitRepository {
  /** Its working tree, without symbolic links. */
  top: string
  /** The folder asked for, relative to `top`; empty if it is `top`. */
  prefix: string
  /** Null where no repository of the user's is made use of. */
  objects: string | null
  /** `info/exclude`, which need not exist. */
  exclude: string
  /** The user's `core.excludesFile`, if one is configured. */
  excludesFile: string | null
  objectFormat: string
}

/** Where the repository of a folder is, or git's own words for why there is none to use. */
export async function findRepository(
  workdir: string,
  options: Pick<GitCommandOptions, 'timeoutMs' | 'signal'>,
): Promise<GitRepository | { reason: string }> {
  const cwd = await realpath(workdir)
  const ask = async (...args: string[]) => {
    const { exit, stdout, stderr } = await runGit(args, { ...options, cwd })
    // Only the line end: a folder's name may end with a space.
    return { exit, value: stdout.toString().replace(/\n$/, ''), stderr }
  }
  const parse = async (...args: string[]) => (await ask('rev-parse', ...args)).value

  const found = await ask('rev-parse', '--show-toplevel').catch(missingGit)
  if (found.exit !== 0) return { reason: firstLine(found.stderr) }
  if ((await ask('check-ignore', '--quiet', cwd)).exit === 0) {
    return { reason: `the folder is ignored by the git repository ${found.value}` }
  }
  const excludesFile = await ask('config', '--type=path', '--get', 'core.excludesFile')
  return {
    top: found.value,
    prefix: relative(found.value, cwd),
    objects: resolve(cwd, await parse('--git-path', 'objects')),
    exclude: resolve(cwd, await parse('--git-path', 'info/exclude')),
    excludesFile: excludesFile.exit === 0 ? resolve(found.value, excludesFile.value) : null,
    objectFormat: await parse('--show-object-format'),
  }
}

/** Stands for a folder that has no repository to use: it is its own top, and its `.gitignore` files count. */
export function noRepository(top: string): GitRepository {
  return {
    top,
    prefix: '',
    objects: null,
    exclude: join(top, '.git', 'info', 'exclude'),
    excludesFile: null,
    objectFormat: 'sha1',
  }
}

function missingGit(error: NodeJS.ErrnoException) {
  if (error.code !== 'ENOENT') throw error
  return { exit: -1, value: '', stderr: 'git was not found on the PATH' }
}

function firstLine(stderr: string): string {
  return (stderr.split('\n')[0] ?? '').replace(/^fatal: /, '')
}
