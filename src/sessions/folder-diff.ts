import { hash } from 'node:crypto'
import { posix } from 'node:path'
import type { FileChange as TreeChange, TreeDiff } from '../git/diff.ts'
import { type FolderContents, readFolder } from '../git/folder-contents.ts'
import { findRepository, type GitRepository } from '../git/repository.ts'
import { fenceFor } from '../markdown/sections.ts'
import { counted } from '../model/amounts.ts'
import type { PlanScope } from '../model/scope.ts'
import type { Candidate, Diff, FileChange } from '../model/session.ts'
import { resultEntry } from '../model/session-results.ts'
import { createArtifact } from '../runners/output/artifacts.ts'
import { isPathInScope } from '../runners/outside-scope.ts'
import { changeHashes } from '../snapshots/change-hash.ts'
import type { Layout } from '../workspace/layout.ts'
import type { Redactor } from './redaction.ts'
import { isTakenArtifact, underFreeName } from './step-artifacts.ts'

const MAX_PATCH_BYTES = 5 * 1024 * 1024
/** The file list is one line of frontmatter, which may have at most 64 KiB in total. */
const MAX_FILES = 200
const MAX_NAMES_BYTES = 32 * 1024

/** When a session is stopped, its operator waits for git for at most this long. */
const ENDING_GIT_MS = 5_000

export type FolderDiff =
  | {
      diff: Diff
      candidates: Candidate[]
      /** The text of `## Changes`. */
      changes: string
      /** Of the patch; null without one. */
      patch_sha256: string | null
      /** What is missing from the diff or its patch, and why. */
      warnings: string[]
      /** Changed files outside the scope of the plan. */
      outside: OutsideFiles
      /** How the files are now, as the audit trail has it. */
      results: ListedResults
      /** Whether it has what changed before the plan was approved. */
      from_start: boolean
    }
  | { reason: string }

interface ListedResults {
  entries: string[]
  isCut: boolean
}

interface OutsideFiles {
  files: string[]
  /** How many more there are. */
  more: number
}

export interface FolderDiffRun {
  /** What changed in the folder since the start, no matter who changed it. */
  finish(): Promise<FolderDiff>
  close(): Promise<void>
}

export interface DiffContext {
  layout: Layout
  scratch: string
  case_id: string
  number: number
  /** From the compared folder to the working folder, which files are named from. */
  prefix: string
  /** Folders that are never part of the diff: the memory root and the state folder. */
  exclude: string[]
  /** Aborted when the session is stopped. */
  signal: AbortSignal
  /** Removes secrets from names, warnings and the patch. */
  redactor: Redactor
  /** Of the plan that runs. */
  scope: PlanScope
  /** The objects of the repository, if the session can write to those that git finds in the folder. */
  objects?: string | undefined
}

/**
 * Reads the working folder, to compare with later. With `early`, what it had before an agent in a terminal planned, it is
 * compared with that, which stays open. Never rejects: without a repository, or if git fails, there is no diff, and the
 * result has the reason.
 */
export async function startDiff(
  repository: GitRepository | { reason: string },
  place: DiffContext,
  early: FolderContents | null = null,
): Promise<FolderDiffRun> {
  if ('reason' in repository) return noDiff(place, repository.reason)
  const git = new AbortController()
  const { scratch, exclude, objects, signal } = place
  const undo = abortAfter(0, signal, git)
  try {
    const contents =
      early ?? (await readFolder(repository, { scratch, exclude, objects, signal: git.signal }))
    if ('reason' in contents) return noDiff(place, contents.reason)
    return {
      async finish() {
        const undo = abortAfter(ENDING_GIT_MS, signal, git)
        try {
          return redacted(place, await finishDiff(contents, place, early !== null))
        } catch (error) {
          return redacted(place, { reason: reasonOf(error) })
        } finally {
          undo()
        }
      },
      close: async () => (early ? undefined : contents.close()),
    }
  } catch (error) {
    return noDiff(place, reasonOf(error))
  } finally {
    undo()
  }
}

/** The repository of a folder, or why there is none that git can use. */
export async function repositoryAt(folder: string): Promise<GitRepository | { reason: string }> {
  return findRepository(folder, {}).catch((error: unknown) => ({ reason: reasonOf(error) }))
}

function noDiff(place: DiffContext, reason: string): FolderDiffRun {
  return {
    finish: async () => redacted(place, { reason }),
    close: async () => undefined,
  }
}

/** Redacts before the evidence is hashed: the hash covers the text in the record. */
function redacted({ redactor }: DiffContext, found: FolderDiff): FolderDiff {
  if ('reason' in found) return { reason: redactor.text(found.reason) }
  const candidates = found.candidates.map((each) => ({ ...each, note: redactor.text(each.note) }))
  const { diff, warnings, outside, results, changes, patch_sha256, from_start } = found
  return {
    ...redactor.value({ diff, warnings, outside, results }),
    candidates,
    changes, // as the patch
    patch_sha256,
    from_start,
  }
}

/** Aborts `git` `ms` after `signal` aborts. Returns a function that cancels this. */
function abortAfter(ms: number, signal: AbortSignal, git: AbortController): () => void {
  let timer: NodeJS.Timeout | undefined
  const onAbort = () => {
    timer = setTimeout(() => git.abort(), ms)
  }
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  return () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

/** As many files as one line has room for. */
function thatFit<T extends { file: string }>(files: readonly T[]): T[] {
  let bytes = 0
  return files.slice(0, MAX_FILES).filter(({ file }) => {
    bytes += Buffer.byteLength(JSON.stringify(file))
    return bytes <= MAX_NAMES_BYTES
  })
}

/** Both names of a renamed file count. */
function namesOutside(scope: PlanScope, { file, from }: TreeChange): string[] {
  return [file, ...(from === undefined ? [] : [from])].filter((name) => !isPathInScope(scope, name))
}

function outsideFiles(scope: PlanScope, changes: readonly TreeChange[]): OutsideFiles {
  const names = changes.flatMap((change) => namesOutside(scope, change))
  const files = thatFit(names.map((file) => ({ file }))).map(({ file }) => file)
  return { files, more: names.length - files.length }
}

/** The files outside the scope first, then those with the most changed lines. */
function listedFiles(scope: PlanScope, changes: readonly TreeChange[]): FileChange[] {
  const isOutside = (change: TreeChange) => namesOutside(scope, change).length > 0
  const [outside, inside] = [changes.filter(isOutside), changes.filter((each) => !isOutside(each))]
  return thatFit([...outside, ...inside]).map(({ file, additions, deletions }) => ({
    file,
    additions,
    deletions,
  }))
}

/** How each file is now; of a renamed file, that its old name is gone. `patch` is empty if it is not whole. */
function listedResults({ inOrder }: TreeDiff, patch: string): ListedResults {
  const changes = changeHashes(patch)
  const all = inOrder.flatMap(({ file, from, object }, index) => [
    ...(from === undefined ? [] : [{ file: from, object: null, change: null }]),
    // its patch is one of two names, which a commit is not compared by
    { file, object, change: from === undefined ? (changes[index] ?? null) : null },
  ])
  const listed = thatFit(all)
  return {
    entries: listed.map(({ file, ...result }) => resultEntry(file, result)),
    isCut: listed.length < all.length,
  }
}

/** The reason when git refuses or times out. It is recorded; the rest of the evidence is not affected. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'AbortError') return 'the session was stopped before git finished'
  return error.message.split('\n')[0]!
}

async function finishDiff(
  contents: FolderContents,
  place: DiffContext,
  from_start: boolean,
): Promise<FolderDiff> {
  const changes = await contents.changes(MAX_PATCH_BYTES)
  const { text, truncated } = changes.patch
  const found = namedFrom(place.prefix, changes.diff)
  const files = listedFiles(place.scope, found.files)
  const { file, additions, deletions } = found
  const diff: Diff = { file, additions, deletions, ...(files.length > 1 ? { files } : {}) }
  const result = {
    diff,
    candidates: [],
    changes: 'No file changed.',
    patch_sha256: null,
    warnings: changes.warnings,
    outside: outsideFiles(place.scope, found.files),
    results: listedResults(found, truncated ? '' : text),
    from_start,
  }
  if (found.files.length === 0) return result
  const early = from_start ? ', with what changed before the plan was approved' : ''
  const note = `${counted(found.files.length, 'file')}, +${additions} \u2212${deletions}${early}`
  const patch = patchText(place, text, truncated)
  try {
    const artifact = await storePatch(place, patch)
    return {
      ...result,
      candidates: [{ artifact, note }],
      changes: changesText(patch, artifact),
      patch_sha256: hash('sha256', patch),
    }
  } catch (error) {
    return {
      ...result,
      changes: changesText(patch, null),
      warnings: [`no patch: ${reasonOf(error)}`, ...changes.warnings],
    }
  }
}

/** With names relative to the working folder. */
function namedFrom(prefix: string, found: TreeDiff): TreeDiff {
  if (prefix === '') return found
  const nameOf = (file: string) => (file === '' ? '' : posix.relative(prefix, file))
  const named = (change: TreeChange) => ({
    ...change,
    file: nameOf(change.file),
    ...(change.from === undefined ? {} : { from: nameOf(change.from) }),
  })
  const files = found.files.map(named)
  return { ...found, file: nameOf(found.file), files, inOrder: found.inOrder.map(named) }
}

function patchText({ redactor }: DiffContext, text: string, truncated: boolean): string {
  if (!truncated) return redactor.text(text)
  // the redactor holds back bytes that may begin a secret whose end was cut off
  const sure = redactor.stream().write(Buffer.from(text)).toString()
  return `${sure}\n[casefile: the patch was cut here at 5 MiB]\n`
}

const MAX_CHANGED_LINES = 200
const MAX_CHANGED_BYTES = 32 * 1024
/** What git prints above the names of a file. */
const GIT_LINES = /^diff --git .*\n(?:(?:new|deleted) file mode .*\n)?index .*\n(?=--- )/gm

/** The first lines of a patch in a fence, and how many more there are. */
function changesText(patch: string, artifact: string | null): string {
  const lines = patch.replace(GIT_LINES, '').trimEnd().split('\n')
  let bytes = 0
  const shown = lines.slice(0, MAX_CHANGED_LINES).filter((line) => {
    bytes += Buffer.byteLength(line) + 1
    return bytes <= MAX_CHANGED_BYTES
  })
  const more = lines.length - shown.length
  const where = artifact === null ? 'are left out' : `in \`artifacts/${artifact}\``
  const text = shown.join('\n')
  const fence = fenceFor(text)
  return `${fence}diff\n${text}\n${fence}${more === 0 ? '' : `\n\n… ${counted(more, 'more line')} ${where}`}`
}

/** Writes the patch as an artifact and returns its name. */
function storePatch({ layout, case_id, number }: DiffContext, text: string): Promise<string> {
  return underFreeName(`${number}-changes.patch`, isTakenArtifact, async (name) => {
    await createArtifact(layout, case_id, name, text)
    return name
  })
}
