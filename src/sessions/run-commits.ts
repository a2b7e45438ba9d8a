/**
 * Names what a run commits to the record, and keeps it from counting. The memory root is closed to most runs, but the
 * repository is not: the operator's next `git restore`, switch or merge would bring what a run put there.
 */

import { basename, join } from 'node:path'
import { readNow } from '../files/read-now.ts'
import { decodeUtf8 } from '../files/safe-read.ts'
import { type BroughtFile, broughtSince, gitMoment } from '../git/brought-files.ts'
import { gitNamesOf, readBlobs } from '../git/contents.ts'
import type { GitRepository } from '../git/repository.ts'
import { readCase, roughCase } from '../markdown/case-file.ts'
import { actLines } from '../markdown/history-file.ts'
import { readProof } from '../markdown/proof-file.ts'
import { readSession } from '../markdown/session-file.ts'
import {
  applyFrozenValues,
  type CommittedChange,
  type FrozenValues,
  freezeValues,
  type IgnoredChange,
  lineKey,
  NONE_EXISTED,
  progressOf,
} from '../model/frozen-values.ts'
import { HISTORY_FILE } from '../model/history.ts'
import { visibleText } from '../model/visible-text.ts'
import type { GitStart } from '../state/runs.ts'
import { MAX_MEMORY_BYTES } from '../workspace/memory-files.ts'
import type { SessionDeps } from './deps.ts'
import type { Job } from './jobs.ts'
import { isSame, lineOf } from './run-guard.ts'
import { appendLines } from './run-recorder.ts'

type Run = Pick<Job, 'case_id' | 'session_id' | 'number' | 'ending'>

const MAX_NAMED = 100
const MAX_SHOWN = 10
/** What the service writes while steps run; nothing depends on it. */
const OUTPUT = /^cases\/[^/]+\/artifacts\/\d+-/

/** Call before the first program of a run, and `tryNoteRunCommits` after its last one. */
export async function noteGitStart(
  { layout, runs }: SessionDeps,
  { session_id }: Run,
  repository: GitRepository | { reason: string },
): Promise<void> {
  const at = Date.now()
  const used = 'reason' in repository ? null : repository.top
  await runs.begin(session_id, { at, ...(await gitMoment(layout.memoryRoot, used)) })
}

/**
 * Records what git could bring below the memory root since the run began. Returns a note about it; empty without any.
 * Does nothing the second time, and after a crash only what is missing. Throws if git cannot say it.
 */
export async function noteRunCommits(deps: SessionDeps, run: Run): Promise<string> {
  const { catalog, layout, runs, runGuard } = deps
  const start = runs.beganWith(run.session_id)
  if (start === null) return ''
  const brought = await broughtSince(layout.memoryRoot, start)
  const files = brought
    .map((file) => ({ ...file, disk: onDisk(deps, file, start) }))
    .filter(({ path, disk }) => disk.is !== 'same' && !OUTPUT.test(path))
  const objects = files.map(({ object }) => object)
  const texts = await readBlobs(layout.memoryRoot, objects)
  const named: { case_id: string; what: NamedChange }[] = []
  const byCase = new Map<string, CommittedChange[]>()
  for (const { path, object, disk } of files) {
    const place = placeIn(path)
    const bytes = texts.get(object)
    // the beginning of a note, to which something was appended since
    if (!place && bytes && disk.is === 'other' && isStartOf(bytes, disk.bytes)) continue
    const changes = place && bytes ? await changesIn(deps, place, { bytes, disk }) : null
    if (changes === null) {
      named.push({ case_id: run.case_id, what: otherFile(path, disk) })
      continue
    }
    const { id } = place!
    for (const change of changes) {
      const committed = { ...change, by: { case_id: run.case_id, number: run.number } }
      byCase.set(id, [...(byCase.get(id) ?? []), committed])
      named.push({ case_id: id, what: committed })
    }
  }
  for (const [id, changes] of byCase) await runGuard.addCommitted(id, changes)
  const own = catalog.folder(run.case_id)?.sessions.find(({ id }) => id === run.session_id)
  const all = named.map(({ case_id, what }) => lineOf(run, case_id, what, { in_git: true }))
  const lines = [...new Map(all.map((line) => [JSON.stringify(line), line])).values()]
    .slice(0, MAX_NAMED)
    // a service that died may have appended some
    .filter((line) => !own?.trail.some((each) => isSame(each, line)))
  if (lines.length > 0) await appendLines(deps, run, lines)
  await runs.forgetStart(run.session_id)
  const names = [...new Set(named.map(({ what }) => visibleText(what.file)))]
  const more = names.length > MAX_SHOWN ? `, and ${names.length - MAX_SHOWN} more` : ''
  return names.length === 0
    ? ''
    : `The run put changes to case files into git. They are ignored until you confirm them: ${names.slice(0, MAX_SHOWN).join(', ')}${more}.`
}

/** The same; a clause that says why it failed, or null. */
export async function tryNoteRunCommits(
  deps: SessionDeps,
  run: Run,
): Promise<{ note: string; reason: string | null }> {
  try {
    return { note: await noteRunCommits(deps, run), reason: null }
  } catch (error) {
    const why = (error instanceof Error ? error.message : String(error)).split('\n')[0]
    const reason = `the service could not check what the run put into git (${why}); review it before you restore, switch or merge`
    deps.log(`session ${run.number} of case ${run.case_id}: ${reason}`)
    return { note: '', reason }
  }
}

type NamedChange = Pick<IgnoredChange, 'file' | 'from' | 'to'> & {
  kind: IgnoredChange['kind'] | 'file'
}

function otherFile(file: string, { is }: OnDisk): NamedChange {
  const from = is === 'missing' || is === 'unreadable' ? is : 'as on disk'
  return { kind: 'file', file, from, to: 'as in git' }
}

/** A file as it is on disk: with the same content, which git may have brought while the run was at work, or not. */
type OnDisk = { is: 'same' | 'brought' | 'missing' | 'unreadable' } | { is: 'other'; bytes: Buffer }

function onDisk({ layout, isGits }: SessionDeps, file: BroughtFile, { at }: GitStart): OnDisk {
  const read = readNow(join(layout.memoryRoot, file.path), MAX_MEMORY_BYTES, layout.memoryRoot)
  if (!read.ok) return { is: read.reason === 'missing' ? 'missing' : 'unreadable' }
  const { bytes } = read
  if (!gitNamesOf(bytes).includes(file.object)) return { is: 'other', bytes }
  const { ctimeMs } = read.stat
  return { is: ctimeMs >= at && isGits(ctimeMs) ? 'brought' : 'same' }
}

function isStartOf(start: Buffer, whole: Buffer): boolean {
  return start.equals(whole.subarray(0, start.length))
}

interface RecordFileName {
  id: string
  file: string
}

function placeIn(path: string): RecordFileName | null {
  const [, id, file] = /^cases\/([^/]+)\/(.+)$/.exec(path) ?? []
  const isRecord = /^(?:case\.md|history\.md|sessions\/\d+\.md|proof\/[^/]+\.md)$/.test(file ?? '')
  return isRecord ? { id: id!, file: file! } : null
}

/**
 * What a version of a file says otherwise than the record; empty if that opens nothing, and null for one that cannot be
 * compared with the record.
 */
async function changesIn(
  { catalog, historyLines }: SessionDeps,
  { id, file }: RecordFileName,
  { bytes, disk }: { bytes: Buffer; disk: OnDisk },
): Promise<(IgnoredChange & Pick<CommittedChange, 'lines'>)[] | null> {
  const decoded = decodeUtf8(bytes)
  if (!decoded.ok) return null
  const { text } = decoded
  const contents = catalog.folder(id)
  const origin = { id, case_id: id, created_at: new Date(0).toISOString() }
  const nothing = {
    case: contents?.case ?? (await roughCase('', origin)),
    sessions: [],
    proofs: [],
  }
  const frozen = contents ? freezeValues(contents, () => false) : NONE_EXISTED
  const only = (some: Partial<FrozenValues>): FrozenValues => ({ ...NONE_EXISTED, ...some })
  const name = basename(file, '.md')
  if (file === HISTORY_FILE) {
    const lines = new Set(actLines(disk.is === 'other' ? disk.bytes.toString() : ''))
    // the service may have appended some while git was at work
    const isOwn = historyLines.of(id)
    return actLines(text).every((line) => lines.has(line) || isOwn(line)) ? [] : null
  }
  if (file.startsWith('proof/')) {
    const { value } = readProof(text, { ...origin, id: name })
    if (!value) return null
    // its picture may come with it
    const proof = { ...value, intact: value.intact || value.image !== null }
    const { [name]: _, ...before } = frozen.proofs
    const proofs = disk.is === 'brought' ? before : frozen.proofs
    const { ignored } = applyFrozenValues({ ...nothing, proofs: [proof] }, only({ proofs }))
    return ignored.length === 0 && disk.is === 'missing' ? null : ignored
  }
  if (file.startsWith('sessions/')) {
    const place = { ...origin, number: Number(name), case_title: '' }
    const { value } = readSession(text, place)
    if (!value) return null
    const present = contents?.sessions.find((each) => each.id === value.id)
    const known = new Set(present?.trail.map(lineKey))
    const lines = value.trail.map(lineKey).filter((key) => !known.has(key))
    if (present && lines.length === 0) return []
    const was = present ? progressOf(present) : null
    const to = progressOf(value)
    return [{ kind: 'session', file, id: value.id, from: was ?? 'missing', to, was, lines }]
  }
  const { value } = await readCase(text, origin)
  const { state, required } = frozen
  return value && contents
    ? applyFrozenValues({ ...nothing, case: value }, only({ state, required })).ignored
    : null
}
