import { dirname, join, resolve } from 'node:path'
import { createDurable, makeFolder } from '../files/durable-write.ts'
import { readRegular } from '../files/safe-read.ts'
import { gitText, runGit } from '../git/run-git.ts'

/** Where a repository's hooks are. */
export interface HooksFolder {
  path: string
  /** Whether it is configured for all repositories of the user or the machine; then we do not write to it. */
  isShared: boolean
  /** The folder that git will copy to `path` when it makes the repository; null if there is none. */
  template: string | null
}

interface Tree {
  /** Where git is asked: the tree itself, or that of the code if the tree does not exist yet. */
  from: string
  /** Whether the tree will be a repository, to which the settings of that of the code do not apply. */
  isNewRepository: boolean
}

/**
 * The hooks folder of a working tree whose top folder is `top`. `core.hooksPath` decides; a relative path starts at
 * `top` (githooks(5)).
 */
export async function hooksFolder(
  top: string,
  { from, isNewRepository }: Tree,
): Promise<HooksFolder> {
  const git = { cwd: from }
  const asked = ['config', '-z', '--show-scope', '--type=path', '--get-all', 'core.hooksPath']
  const parts = (await runGit(asked, git)).stdout.toString().split('\0')
  for (let at = parts.length - 3; at >= 0; at -= 2) {
    const [scope, value] = [parts[at]!, parts[at + 1]!]
    if (scope === 'command') continue // our own runs of git have no hooks
    const isShared = scope === 'global' || scope === 'system'
    if (isNewRepository && !isShared) continue
    return { path: resolve(top, value), isShared, template: null }
  }
  if (isNewRepository) {
    const set = await runGit(['config', '--type=path', '--get', 'init.templateDir'], git)
    const template = set.exit === 0 ? set.stdout.toString().replace(/\n$/, '') : null
    return {
      path: join(top, '.git', 'hooks'),
      isShared: false,
      template: template === null ? null : resolve(top, template, 'hooks'),
    }
  }
  const common = (await gitText(['rev-parse', '--git-common-dir'], git)).replace(/\n$/, '')
  return { path: resolve(from, common, 'hooks'), isShared: false, template: null }
}

/** Whether `path` has a hook, whether it contains `mark`, and whether it is for the workspace whose `line` it has. */
export async function hookAt(
  path: string,
  mark: string,
  line: string,
): Promise<'ours' | 'elsewhere' | 'other' | null> {
  const read = await readRegular(path, { maxBytes: 1024 * 1024 })
  if (read.ok && read.bytes.includes(mark)) return read.bytes.includes(line) ? 'ours' : 'elsewhere'
  if (read.ok) return 'other'
  return read.reason === 'missing' ? null : 'other'
}

/** Writes an executable hook; throws `already_exists` if there is one. */
export async function installHook(path: string, text: string): Promise<void> {
  await makeFolder(dirname(path))
  await createDurable(path, Buffer.from(text), { mode: 0o755 })
}
