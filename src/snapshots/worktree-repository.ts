/**
 * The repository in which an isolated session commits: its own objects, branches, configuration and stash, over the
 * objects of the user's. What a session does there cannot damage the user's repository, nor another session's branch.
 */

import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { type GitCommandOptions, gitText, runGit } from '../git/run-git.ts'
import { borrowObjects, initRepository, isolatedGit, openScratchFolder } from '../git/scratch.ts'
import type { WorktreeNote, WorktreePaths } from './worktree-notes.ts'
import { COMMIT, type OtherCommit, otherCommits, refFile } from './worktree-refs.ts'

type Options = Pick<GitCommandOptions, 'signal' | 'env' | 'timeoutMs'>

/** Makes the repository, on the session's branch at the base, with the user's other branches as they are now. */
export async function makeOwnRepository(
  note: WorktreeNote,
  { own }: WorktreePaths,
  options: Options,
): Promise<void> {
  const { common, base, branch, objectFormat } = note
  const git = { ...options, cwd: note.top }
  await rm(own, { recursive: true, force: true })
  await initRepository(own, objectFormat, await ownConfig(note, git))
  for (const name of ['attributes', 'exclude']) {
    await rm(join(own, 'info', name), { force: true })
    await copyIfThere(join(common, 'info', name), join(own, 'info', name))
  }
  await copyIfThere(join(common, 'shallow'), join(own, 'shallow'))
  await borrowObjects(own, [join(common, 'objects')])
  const format = '--format=%(objectname) %(refname)'
  const listed = await gitText(
    ['for-each-ref', format, 'refs/heads', 'refs/tags', 'refs/remotes'],
    git,
  )
  const others = listed.split('\n').filter((line) => !line.endsWith(` refs/heads/${branch}`))
  await writeFile(join(own, 'packed-refs'), others.join('\n'))
  await mkdir(dirname(join(own, 'refs', 'heads', branch)), { recursive: true })
  await writeFile(join(own, 'refs', 'heads', branch), `${base}\n`)
  await writeFile(join(own, 'HEAD'), `ref: refs/heads/${branch}\n`)
}

/** Settings that are about the user's folder or would ask a server for objects. */
const LEFT_OUT =
  /^(?:core\.(?:bare|worktree|repositoryformatversion|fsmonitor|sparsecheckout.*|hookspath|untrackedcache)|extensions\..*|gc\..*|maintenance\..*|remote\..*\.(?:promisor|partialclonefilter)|include\..*|includeif\..*)$/

/** The user's settings of the repository, and its hooks where they are. */
async function ownConfig({ common }: WorktreeNote, git: GitCommandOptions): Promise<string> {
  const listed = await gitText(['config', '--local', '--includes', '--list', '-z'], git)
  // the command line turns hooks off
  const asked = ['config', '--show-scope', '-z', '--get-all', 'core.hooksPath']
  const scopes = (await runGit(asked, git)).stdout.toString().split('\0')
  const isSet = scopes.some((scope) => /^(?:system|global|local|worktree)$/.test(scope))
  const local = scopes[scopes.lastIndexOf('local') + 1]
  const hooks = isSet ? (scopes.includes('local') ? local! : '') : join(common, 'hooks')
  const entries = listed
    .split('\0')
    .filter((entry) => entry !== '')
    .map((entry) => {
      const end = entry.indexOf('\n')
      return end < 0
        ? { key: entry, value: null }
        : { key: entry.slice(0, end), value: entry.slice(end + 1) }
    })
    .filter(({ key }) => !LEFT_OUT.test(key.toLowerCase()))
  const all = [
    ...(hooks === '' ? [] : [{ key: 'core.hooksPath', value: hooks }]),
    { key: 'core.bare', value: 'false' },
    { key: 'gc.auto', value: '0' },
    ...entries,
  ]
  return all.map(configLine).join('')
}

function configLine({ key, value }: { key: string; value: string | null }): string {
  const first = key.indexOf('.')
  const last = key.lastIndexOf('.')
  const section = key.slice(0, first)
  const name = key.slice(last + 1)
  const sub = first === last ? '' : ` ${quoted(key.slice(first + 1, last))}`
  return `[${section}${sub}]\n\t${name}${value === null ? '' : ` = ${quoted(value)}`}\n`
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`
}

async function copyIfThere(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to)
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'EISDIR', 'ENOTDIR')) throw error
  }
}

export interface ImportedCommits {
  tips: string[]
  /** What other branches, tags and stashes of the session lead to, by a name for it. */
  others: OtherCommit[]
  /** Why commits of the session are not among them, as a clause; null if none is missing. */
  reason: string | null
}

/**
 * Brings what the session committed on its branch, or on the one that it checked out last, into the user's repository.
 * Everything in the session's repository may be forged: its files are read as texts, git runs only in a new repository
 * that borrows its objects, and each object is checked. Commits that do not continue the base stay out.
 */
export async function importCommits(
  note: WorktreeNote,
  places: WorktreePaths,
  scratch: string,
  options: Options,
): Promise<ImportedCommits> {
  try {
    return await importTips(note, places, scratch, options)
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error)
    return { tips: [], others: [], reason: `its repository could not be read: ${why}` }
  }
}

async function importTips(
  note: WorktreeNote,
  { own }: WorktreePaths,
  scratch: string,
  options: Options,
): Promise<ImportedCommits> {
  const found = await tipsIn(note, own)
  const isNew = found.filter((tip) => tip !== note.base)
  const other = await otherCommits(own, [note.base])
  if (isNew.length + other.commits.length === 0) return { tips: [], others: [], reason: null }
  const folder = await openScratchFolder(scratch)
  try {
    const { common, top, base, objectFormat } = note
    const git = isolatedGit(folder.path, folder.path, options, {})
    await rm(folder.path, { recursive: true })
    // git would follow it wherever it leads
    await rm(join(own, 'objects', 'info', 'alternates'), { recursive: true, force: true })
    await initRepository(folder.path, objectFormat)
    await borrowObjects(folder.path, [join(own, 'objects'), join(common, 'objects')])
    await mkdir(join(folder.path, 'refs', 'heads'), { recursive: true })
    /** Git's message if it does not accept the commit. */
    const fetch = async (commit: string): Promise<string | null> => {
      await writeFile(join(folder.path, 'refs', 'heads', 'tip'), `${commit}\n`)
      const { exit, stderr } = await runGit([...FETCH, folder.path, 'refs/heads/tip'], {
        ...options,
        cwd: top,
        env: { ...options.env, GIT_DIR: common },
      })
      return exit === 0 ? null : lastLine(stderr)
    }
    const tips: string[] = []
    const reasons = new Set<string>()
    for (const tip of isNew) {
      const isLater = await runGit(['merge-base', '--is-ancestor', base, tip], git)
      const why = isLater.exit === 0 ? await fetch(tip) : null
      if (isLater.exit !== 0)
        reasons.add('its commits do not continue the commit that it began from')
      else if (why === null) tips.push(tip)
      else reasons.add(`git did not accept its commits: ${why}`)
    }
    const others: OtherCommit[] = []
    const made = { ...git, env: { ...git.env, GIT_OBJECT_DIRECTORY: join(own, 'objects') } }
    for (const each of other.commits) {
      // what it did not make is in the user's repository
      if ((await runGit(['cat-file', '-e', `${each.commit}^{commit}`], made)).exit !== 0) continue
      const why = await fetch(each.commit)
      if (why === null) others.push(each)
      else reasons.add(`git did not accept ${each.name}: ${why}`)
    }
    if (other.left > 0)
      reasons.add(`${other.left} more of its branches, tags and stashes were left`)
    return { tips, others, reason: reasons.size === 0 ? null : [...reasons].join('; ') }
  } finally {
    await folder.remove()
  }
}

const FETCH = [
  '-c',
  'fetch.fsckObjects=true',
  '-c',
  'protocol.file.allow=always',
  'fetch',
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-auto-maintenance',
  '--no-recurse-submodules',
]

function lastLine(stderr: string): string {
  return (
    stderr
      .trim()
      .split('\n')
      .at(-1)
      ?.replace(/^\w+: /, '') ?? ''
  )
}

/** The commits of the session's branch and of the HEAD of its repository. */
async function tipsIn({ branch }: WorktreeNote, own: string): Promise<string[]> {
  const textOf = (name: string) => refFile(own, name)
  const packed = await textOf('packed-refs')
  const commitAt = async (ref: string) => {
    const loose = (await textOf(ref)).trim()
    if (COMMIT.test(loose)) return loose
    return packed
      .split('\n')
      .find((line) => line.endsWith(` ${ref}`))
      ?.split(' ')[0]
  }
  const head = (await textOf('HEAD')).trim()
  const [, ref] = /^ref: (refs\/heads\/[^\0]+)$/.exec(head) ?? []
  const isSafe = ref !== undefined && !ref.split('/').includes('..')
  const tips = [await commitAt(`refs/heads/${branch}`), isSafe ? await commitAt(ref) : head]
  return [...new Set(tips.filter((tip) => tip !== undefined && COMMIT.test(tip)))] as string[]
}
