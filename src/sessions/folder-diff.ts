import type { Candidate, Diff, FileChange } from '../model/session.ts'
import { createArtifact } from '../workspace/artifacts.ts'
import { makeFolder } from '../workspace/durable-write.ts'
import { openTreeSnapshots, type TreeSnapshots } from '../workspace/git-tree.ts'
import type { Layout } from '../workspace/layout.ts'

const MAX_PATCH_BYTES = 5 * 1024 * 1024
/** A diff stands on one line of frontmatter, which may have 64 KiB in all. */
const MAX_FILES = 200
const MAX_NAMES_BYTES = 32 * 1024

export type FolderDiff = { diff: Diff; candidates: Candidate[] } | { reason: string }

export interface DiffTaker {
  /** What changed in the folder since the taker was made, whoever did it. */
  take(): Promise<FolderDiff>
  close(): Promise<void>
}

export interface DiffPlace {
  layout: Layout
  scratch: string
  case_id: string
  number: number
  /** What is never part of it: the memory root, the state folder. */
  exclude: string[]
}

/**
 * Takes a snapshot of the working folder by git's means, to tell later what changed (design §6).
 * Without a repository there is no diff, and the reason is kept.
 */
export async function startDiff(workdir: string, place: DiffPlace): Promise<DiffTaker> {
  await makeFolder(place.scratch, 0o700)
  const opened = await openTreeSnapshots(workdir, {
    scratch: place.scratch,
    exclude: place.exclude,
  })
  if (opened.kind === 'none') {
    return { take: async () => ({ reason: opened.reason }), close: async () => undefined }
  }
  try {
    const before = await opened.take()
    return {
      take: () => takeDiff(opened, before, place).catch(withoutDiff),
      close: () => opened.close(),
    }
  } catch (error) {
    await opened.close()
    return { take: async () => withoutDiff(error), close: async () => undefined }
  }
}

/** As many files as the frontmatter has room for, those with most changed lines first. */
function largest(files: readonly FileChange[]): FileChange[] {
  let bytes = 0
  return files
    .slice(0, MAX_FILES)
    .filter(({ file }) => {
      bytes += Buffer.byteLength(JSON.stringify(file))
      return bytes <= MAX_NAMES_BYTES
    })
    .map(({ file, additions, deletions }) => ({ file, additions, deletions }))
}

/** git's own refusal or time-out: told in the trail, and no reason to lose the rest of the evidence. */
function withoutDiff(error: unknown): FolderDiff {
  return { reason: error instanceof Error ? error.message.split('\n')[0]! : String(error) }
}

async function takeDiff(
  trees: TreeSnapshots,
  before: string,
  place: DiffPlace,
): Promise<FolderDiff> {
  const { layout, case_id, number } = place
  const after = await trees.take()
  const found = await trees.diff(before, after)
  const files = largest(found.files)
  const { file, additions, deletions } = found
  const diff: Diff = { file, additions, deletions, ...(files.length > 1 ? { files } : {}) }
  if (found.files.length === 0) return { diff, candidates: [] }
  const artifact = `${number}-changes.patch`
  const patch = await trees.patch(before, after, MAX_PATCH_BYTES)
  const cut = patch.truncated ? '\n[casefile: the patch was cut here at 5 MiB]\n' : ''
  await createArtifact(layout, case_id, artifact, patch.text + cut)
  const changed = found.files.length === 1 ? file : `${found.files.length} files`
  const note = `${changed}: +${additions} -${deletions}`
  return { diff, candidates: [{ artifact, note }] }
}
