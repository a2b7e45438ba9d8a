import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type GitCommandOptions, gitText } from './git-command.ts'
import type { GitRepository } from './git-repository.ts'

type Limits = Pick<GitCommandOptions, 'timeoutMs' | 'signal'>

/** Bytes as they are: no line-end conversion, filter, keyword, encoding or diff driver. */
const EXACT = '* -text !eol !crlf !filter !ident !working-tree-encoding !diff\n'

/**
 * Makes a repository of our own in an empty folder, over the user's working tree and with access to
 * the user's objects. Returns how git is to be run there. It has the user's exclude rules as they
 * are now, and nothing else of the user's configuration.
 */
export async function createScratchRepository(
  repository: GitRepository,
  folder: string,
  limits: Limits,
): Promise<GitCommandOptions> {
  const { objects, exclude, objectFormat } = repository
  const git = commandOptions(repository, folder, limits)
  const isolated = { ...git, env: { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' } }
  const init = ['init', '--quiet', '--bare', '--template=', `--object-format=${objectFormat}`]
  await gitText([...init, folder], isolated)
  await mkdir(join(folder, 'info'))
  await writeFile(join(folder, 'info', 'attributes'), EXACT)
  await copyFile(exclude, join(folder, 'info', 'exclude')).catch(ignoreMissing)
  await mkdir(join(folder, 'objects', 'info'), { recursive: true })
  await writeFile(join(folder, 'objects', 'info', 'alternates'), `${alternate(objects)}\n`)
  return git
}

/** One path for each line; git unquotes a line that begins with a quotation mark. */
function alternate(path: string): string {
  return path.includes('\n') ? JSON.stringify(path) : path
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

function commandOptions(
  { top, excludesFile }: GitRepository,
  folder: string,
  { timeoutMs, signal }: Limits,
): GitCommandOptions {
  const config: Record<string, string> = {
    'core.bare': 'false',
    'core.quotePath': 'false',
    // Names that Windows or macOS would not have: nothing is ever checked out from here.
    'core.protectNTFS': 'false',
    'core.protectHFS': 'false',
    // None of it has to survive a crash.
    'core.fsync': 'none',
    'advice.addIgnoredFile': 'false',
    ...(excludesFile === null ? {} : { 'core.excludesFile': excludesFile }),
  }
  const env: Record<string, string> = {
    GIT_DIR: folder,
    GIT_WORK_TREE: top,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: String(Object.keys(config).length),
  }
  Object.entries(config).forEach(([key, value], index) => {
    env[`GIT_CONFIG_KEY_${index}`] = key
    env[`GIT_CONFIG_VALUE_${index}`] = value
  })
  return {
    cwd: top,
    env,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(signal === undefined ? {} : { signal }),
  }
}
