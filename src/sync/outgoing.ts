/** What leaves this machine with a push: it is searched for secrets, and pushed. */

import type { MemoryGit, Upstream } from './memory-git.ts'
import { mustHaveNoSecret, type NamedBlob, type Redact } from './secret-search.ts'
import { SyncStop, saidBy } from './sync-stop.ts'
import { GITLINK } from './trees.ts'

/** Searches what the commits that the remote does not have add to every version of every file. */
export async function mustPushNoSecret(
  git: MemoryGit,
  upstream: Upstream,
  tip: string,
  redact: Redact,
): Promise<void> {
  const { remote, name } = upstream
  const { files, known } = await unpushedFiles(git, tip, remote)
  const then = `It is in a commit that was not pushed. Remove it from the file, then from the commit: git -C ${git.top} reset --soft ${remote}/${name}, then sync again.`
  await mustHaveNoSecret(git, { files, known, redact, then })
}

/** The new files in commits, and the ids of what they replace. Of a merge, those that differ from all its parents. */
async function unpushedFiles(
  git: MemoryGit,
  tip: string,
  remote: string,
): Promise<{ files: NamedBlob[]; known: Set<string> }> {
  const args = ['rev-list', '--objects', tip, '--not', `--remotes=${remote}`]
  const objects = (await git.text(args)).split('\n')
  const commits = objects.filter((line) => !line.includes(' ')).join('\n')
  const made = new Set(objects.map((line) => line.split(' ', 1)[0]!))
  const each = ['diff-tree', '--stdin', '-r', '-c', '--root', '--raw', '-z', '--no-commit-id']
  const listed = await git.text([...each, '--no-renames', '--no-ext-diff'], { input: commits })
  const parts = listed.split('\0')
  const files = new Map<string, NamedBlob>()
  const known = new Set<string>()
  for (let at = 0; at + 1 < parts.length; at += 2) {
    // a colon, a mode and an id for each parent, then mode and id of the commit, then a status
    const parents = parts[at]!.lastIndexOf(':') + 1
    const fields = parts[at]!.slice(parents).split(' ')
    for (const id of fields.slice(parents + 1, -2)) if (!made.has(id)) known.add(id)
    const id = fields.at(-2)!
    if (fields[parents] !== GITLINK && made.has(id)) files.set(id, { path: parts[at + 1]!, id })
  }
  return { files: [...files.values()], known }
}

/** Pushes a commit. Returns false if the remote has commits that are not here. Throws a `SyncStop` if it refuses. */
export async function push(git: MemoryGit, upstream: Upstream, tip: string): Promise<boolean> {
  const { remote, name, branch, isSet } = upstream
  const args = ['push', '--porcelain', remote, `${tip}:refs/heads/${name}`]
  const { exit, stdout, stderr } = await remotely(git, args, 'push_failed')
  if (exit === 0) {
    if (!isSet) {
      await git.text(['config', `branch.${branch}.remote`, remote])
      await git.text(['config', `branch.${branch}.merge`, `refs/heads/${name}`])
    }
    return true
  }
  const said = `${stdout.toString()}${stderr}`
  if (/\[rejected\]|cannot lock ref|failed to update ref|reference already exists/.test(said))
    return false
  const refused = /^!\t[^\t]*\t(.*)$/m.exec(stdout.toString())?.[1]
  // such as what a hook of the remote prints
  const printed = stderr.split('\n').filter((line) => /^remote:\s*\S/.test(line))
  const reasons =
    refused && printed.length > 0 ? `${refused}: ${saidBy(printed.join('\n'))}` : refused
  const why = reasons ?? saidBy(stderr)
  throw new SyncStop(
    'push_failed',
    `${remote} did not accept the record: ${why}. The commits stay here; once you may push, run it again.`,
  )
}

/** Gets the remote's branch. Returns its commit; null if the remote has no such branch yet. */
export async function fetch(git: MemoryGit, upstream: Upstream): Promise<string | null> {
  const { remote, name, ref } = upstream
  const args = [
    'fetch',
    '--quiet',
    '--no-tags',
    '--no-recurse-submodules',
    '--no-write-fetch-head',
    remote,
    `+refs/heads/${name}:${ref}`,
  ]
  const { exit, stderr } = await remotely(git, args, 'fetch_failed')
  if (exit === 0) return git.find(ref)
  if (/couldn't find remote ref/.test(stderr)) return null
  throw new SyncStop(
    'fetch_failed',
    `${remote} cannot be reached: ${saidBy(stderr)}. Run it again when it can.`,
  )
}

async function remotely(git: MemoryGit, args: string[], code: 'push_failed' | 'fetch_failed') {
  try {
    return await git.run(args, { isRemote: true })
  } catch (error) {
    if (!(error instanceof Error) || !/was ended by/.test(error.message)) throw error
    throw new SyncStop(code, `The remote did not answer: ${error.message}. Run it again later.`)
  }
}
