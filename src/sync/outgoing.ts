/** What leaves this machine with a push: it is searched for secrets, and pushed. */

import { decodeUtf8 } from '../files/safe-read.ts'
import type { RecordGit, Upstream } from './record-git.ts'
import { SyncStop, saidBy } from './sync-stop.ts'
import { type Blobs, createBlobs, GITLINK, type TreeChange } from './trees.ts'

/** Replaces the secrets in a text; see `sessions/redaction.ts`. */
type Redact = (text: string) => string

interface NamedBlob {
  path: string
  id: string
}

const SOME = 200

/** Throws a `SyncStop` if these files contain the value of a secret variable. Other objects than files are passed over. */
export async function mustHaveNoSecret(
  blobs: Blobs,
  files: readonly NamedBlob[],
  redact: Redact,
  then: string,
): Promise<void> {
  for (let at = 0; at < files.length; at += SOME) {
    const some = files.slice(at, at + SOME)
    await blobs.load(some.map(({ id }) => id))
    for (const { path, id } of some) {
      const bytes = await blobs.find(id)
      const found = bytes && findSecret(bytes, redact)
      if (!found) continue
      throw new SyncStop(
        'secret_found',
        `${path}:${found.line} contains the value of ${found.name}, which looks like a secret. ${then}`,
      )
    }
  }
}

function findSecret(bytes: Buffer, redact: Redact): { line: number; name: string } | null {
  const decoded = decodeUtf8(bytes)
  if (!decoded.ok || redact(decoded.text) === decoded.text) return null
  const lines = decoded.text.split('\n')
  const index = lines.findIndex((line) => redact(line) !== line)
  const marked = redact(index < 0 ? decoded.text : lines[index]!)
  return {
    line: Math.max(0, index) + 1,
    name: /\[redacted ([^\]]+)\]/.exec(marked)?.[1] ?? 'a variable',
  }
}

export function blobsIn(changes: readonly TreeChange[]): NamedBlob[] {
  return changes.flatMap(({ path, after }) =>
    after && after.mode !== GITLINK ? [{ path, id: after.id }] : [],
  )
}

/** Searches every version of every file in the commits that the remote does not have. */
export async function mustPushNoSecret(
  git: RecordGit,
  { remote, name }: Upstream,
  tip: string,
  redact: Redact,
): Promise<void> {
  const listed = await git.text(['rev-list', '--objects', tip, '--not', `--remotes=${remote}`])
  const files = listed.split('\n').flatMap((line) => {
    const [, id, path] = /^([0-9a-f]+) (.+)$/.exec(line) ?? []
    return id === undefined ? [] : [{ id, path: path! }]
  })
  for (let at = 0; at < files.length; at += SOME) {
    const then = `It is in a commit that was not pushed. Remove it from the file, then from the commit: git -C ${git.top} reset --soft ${remote}/${name}, then sync again.`
    await mustHaveNoSecret(createBlobs(git), files.slice(at, at + SOME), redact, then)
  }
}

/** Pushes a commit. Returns false if the remote has commits that are not here. Throws a `SyncStop` if it refuses. */
export async function push(git: RecordGit, upstream: Upstream, tip: string): Promise<boolean> {
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
export async function fetch(git: RecordGit, upstream: Upstream): Promise<string | null> {
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
    `${remote} cannot be reached: ${saidBy(stderr)}. Your changes are committed here; run it again when it can.`,
  )
}

async function remotely(git: RecordGit, args: string[], code: 'push_failed' | 'fetch_failed') {
  try {
    return await git.run(args, { isRemote: true })
  } catch (error) {
    if (!(error instanceof Error) || !/was ended by/.test(error.message)) throw error
    throw new SyncStop(
      code,
      `The remote did not answer: ${error.message}. Your changes are committed here; run it again later.`,
    )
  }
}
