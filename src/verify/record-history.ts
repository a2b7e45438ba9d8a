import { type GitCommandOptions, runGit } from '../workspace/git/git-command.ts'
import { readBlobs } from '../workspace/git/git-contents.ts'
import { EACH_PARENT, gitLog } from '../workspace/git/git-log.ts'

/** What a file of a case once was. */
export interface FileVersion {
  /** Relative to the case's folder, such as `sessions/2.md`. */
  path: string
  /** The newest commit that wrote it. */
  commit: string
  bytes: Buffer
}

export interface RecordHistory {
  /** By case; newest first. */
  versions: Map<string, FileVersion[]>
  /** Why the history is not complete, as a sentence; null if it is. */
  gap: string | null
}

const RECORDED = /^cases\/([^/]+)\/((?:sessions|proof)\/[^/]+\.md)$/

/** Reads every version of the sessions and proofs of these cases that the history of the record has. */
export async function readRecordHistory(
  memoryRoot: string,
  caseIds: Iterable<string>,
): Promise<RecordHistory> {
  const git: GitCommandOptions = { cwd: memoryRoot, env: { GIT_NO_REPLACE_OBJECTS: '1' } }
  const versions = new Map<string, FileVersion[]>()
  const ids = [...caseIds]
  if (ids.length === 0) return { versions, gap: null }
  const head = await runGit(['rev-parse', '--verify', '--quiet', 'HEAD'], git)
  if (head.exit !== 0) {
    const gap = 'The record is in no commit, so it was not compared with its history.'
    return { versions, gap }
  }
  const folders = ids.map((id) => `:(literal)cases/${id}`)
  const words = ['--full-history', EACH_PARENT, '--relative', 'HEAD', '--', ...folders]
  const written = (await gitLog(words, git)).flatMap(({ id: commit, changes }) =>
    changes.flatMap(({ path, object }) => {
      const [, caseId, inCase] = RECORDED.exec(path) ?? []
      return caseId && inCase && object ? [{ caseId, path: inCase, commit, object }] : []
    }),
  )
  const contents = await readBlobs(
    memoryRoot,
    written.map(({ object }) => object),
  )
  const seen = new Set<string>()
  for (const { caseId, path, commit, object } of written) {
    const key = `${caseId} ${path} ${object}`
    const bytes = contents.get(object)
    if (!bytes || seen.has(key)) continue
    seen.add(key)
    const known = versions.get(caseId)
    if (known) known.push({ path, commit, bytes })
    else versions.set(caseId, [{ path, commit, bytes }])
  }
  const shallow = await runGit(['rev-parse', '--is-shallow-repository'], git)
  const isShallow = shallow.stdout.toString().trim() === 'true'
  return {
    versions,
    gap: isShallow
      ? 'This clone is shallow, so the record was compared only with the history that is here. Fetch all of it.'
      : null,
  }
}
