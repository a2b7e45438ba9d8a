/**
 * Names what a run commits to the record, and keeps it from counting. The memory root is closed to most runs, but the
 * repository is not: the operator's next `git restore`, switch or merge would bring what a run put there.
 */

import { basename, join } from 'node:path'
import { readNow } from '../files/read-now.ts'
import { decodeUtf8 } from '../files/safe-read.ts'
import { readCase, roughCase } from '../markdown/case-file.ts'
import { actLines } from '../markdown/history-file.ts'
import { readProof } from '../markdown/proof-file.ts'
import { readSession } from '../markdown/session-file.ts'
import {
  applyBaseline,
  type Baseline,
  type CommittedChange,
  captureBaseline,
  changeKey,
  EMPTY_BASELINE,
  type IgnoredChange,
  lineKey,
  progressOf,
} from '../model/baseline.ts'
import { HISTORY_FILE } from '../model/history.ts'
import { visibleText } from '../model/visible-text.ts'
import type { GitStart } from '../state/runs.ts'
import { type BroughtFile, broughtSince, gitMoment } from '../workspace/git/brought-files.ts'
import { gitNamesOf, readBlobs } from '../workspace/git/git-contents.ts'
import { MAX_MEMORY_BYTES } from '../workspace/memory-files.ts'
import type { SessionDeps } from './deps.ts'
import type { Job } from './jobs.ts'
import { lineOf } from './run-guard.ts'
import { appendLines } from './run-recorder.ts'

type Run = Pick<Job, 'case_id' | 'session_id' | 'number' | 'ending'>

const MAX_NAMED = 100
const MAX_SHOWN = 10
/** What the service writes while steps run; nothing depends on it. */
const OUTPUT = /^cases\/[^/]+\/artifacts\/\d+-/

/** Call before the first program of a run, and `nameCommitted` after its last one. */
export async function rememberGit({ layout, runs }: SessionDeps, { session_id }: Run) {
  await runs.begin(session_id, { at: Date.now(), ...(await gitMoment(layout.memoryRoot)) })
}

/**
 * Records what git could bring below the memory root since the run began. Returns a note about it; empty without any.
 * Does nothing the second time. Throws if git cannot say it.
 */
export async function nameCommitted(deps: SessionDeps, run: Run): Promise<string> {
  const { layout, runs, runGuard } = deps
  const start = runs.beganWith(run.session_id)
  if (start === null) return ''
  const brought = await broughtSince(layout.memoryRoot, start)
  const files = brought
    .map((file) => ({ ...file, disk: onDisk(deps, file, start) }))
    .filter(({ path, disk }) => disk.is !== 'same' && !OUTPUT.test(path))
  const objects = files.map(({ object }) => object)
  const texts = await readBlobs(layout.memoryRoot, objects)
  const named: { case_id: string; what: NamedChange }[] = []
  const byCase = new Map<string, Map<string, CommittedChange>>()
  for (const file of files) {
    const place = placeIn(file.path)
    const bytes = texts.get(file.object)
    // what the service appends to, such as the log of a step
    if (bytes && file.disk.is === 'other' && isStartOf(bytes, file.disk.bytes)) continue
    if (place === null || !bytes) {
      named.push({ case_id: run.case_id, what: otherFile(file.path) })
      continue
    }
    const { id } = place
    const changes = await changesIn(deps, place, { bytes, disk: file.disk })
    if (changes === null) {
      named.push({ case_id: run.case_id, what: otherFile(file.path) })
      continue
    }
    const known = byCase.get(id) ?? new Map()
    byCase.set(id, known)
    for (const change of changes) {
      const by = { case_id: run.case_id, number: run.number }
      const committed = { ...change, by }
      known.set(`${changeKey(committed)} ${committed.to}`, committed)
      named.push({ case_id: id, what: committed })
    }
  }
  for (const [id, changes] of byCase)
    if (changes.size > 0) await runGuard.addCommitted(id, [...changes.values()])
  const lines = named
    .slice(0, MAX_NAMED)
    .map(({ case_id, what }) => lineOf(run, case_id, what, { in_git: true }))
  if (lines.length > 0) await appendLines(deps, run, lines)
  await runs.forgetStart(run.session_id)
  const names = [...new Set(named.map(({ what }) => visibleText(what.file)))]
  const more = names.length > MAX_SHOWN ? `, and ${names.length - MAX_SHOWN} more` : ''
  return names.length === 0
    ? ''
    : `The run put changes of the record into git, which do not count unless you confirm them: ${names.slice(0, MAX_SHOWN).join(', ')}${more}.`
}

/** The same; a clause that says why it failed, or null. */
export async function whyNotNamed(
  deps: SessionDeps,
  run: Run,
): Promise<{ note: string; reason: string | null }> {
  try {
    return { note: await nameCommitted(deps, run), reason: null }
  } catch (error) {
    const why = (error instanceof Error ? error.message : String(error)).split('\n')[0]
    deps.log(`what session ${run.number} of case ${run.case_id} put into git is unknown: ${why}`)
    const reason = `what it put into git below the memory root is unknown, so look at it before git brings it: ${why}`
    return { note: '', reason }
  }
}

type NamedChange = Pick<IgnoredChange, 'file' | 'from' | 'to'> & {
  kind: IgnoredChange['kind'] | 'file'
}

function otherFile(file: string): NamedChange {
  return { kind: 'file', file, from: 'as on disk', to: 'as in git' }
}

/** A file as it is on disk: with the same content, which git may have brought while the run was at work, or not. */
type OnDisk = { is: 'same' | 'brought' | 'missing' } | { is: 'other'; bytes: Buffer }

function onDisk({ layout, isGits }: SessionDeps, file: BroughtFile, { at }: GitStart): OnDisk {
  const read = readNow(join(layout.memoryRoot, file.path), MAX_MEMORY_BYTES, layout.memoryRoot)
  if (!read.ok) return { is: 'missing' }
  if (!gitNamesOf(read.bytes).includes(file.object)) return { is: 'other', bytes: read.bytes }
  const { ctimeMs } = read.stat
  return { is: ctimeMs >= at && isGits(ctimeMs) ? 'brought' : 'same' }
}

function isStartOf(start: Buffer, whole: Buffer): boolean {
  return start.equals(whole.subarray(0, start.length))
}

interface Place {
  id: string
  file: string
}

function placeIn(path: string): Place | null {
  const [, id, file] = /^cases\/([^/]+)\/(.+)$/.exec(path) ?? []
  const isRecord = /^(?:case\.md|history\.md|sessions\/\d+\.md|proof\/[^/]+\.md)$/.test(file ?? '')
  return isRecord ? { id: id!, file: file! } : null
}

/**
 * What a version of a file says otherwise than the record; empty for one that the record had while the run was at work,
 * and null for a change that nothing depends on.
 */
async function changesIn(
  { catalog }: SessionDeps,
  { id, file }: Place,
  { bytes, disk }: { bytes: Buffer; disk: OnDisk },
): Promise<(IgnoredChange & Pick<CommittedChange, 'lines'>)[] | null> {
  const decoded = decodeUtf8(bytes)
  if (!decoded.ok) return null
  const { text } = decoded
  const folder = catalog.folder(id)
  const origin = { id, case_id: id, created_at: new Date(0).toISOString() }
  const nothing = { case: folder?.case ?? roughCase('', origin), sessions: [], proofs: [] }
  const frozen = folder ? captureBaseline(folder, () => false) : EMPTY_BASELINE
  const others = disk.is === 'missing' ? null : []
  const only = (some: Partial<Baseline>): Baseline => ({ ...EMPTY_BASELINE, ...some })
  const name = basename(file, '.md')
  if (file === HISTORY_FILE) {
    const lines = new Set(actLines(disk.is === 'other' ? disk.bytes.toString() : ''))
    return actLines(text).every((line) => lines.has(line)) ? [] : null
  }
  if (file.startsWith('proof/')) {
    const { value } = readProof(text, { ...origin, id: name })
    // its picture may come with it
    const proof = value && { ...value, intact: value.intact || value.image !== null }
    const { [name]: _, ...before } = frozen.proofs
    const proofs = disk.is === 'brought' ? before : frozen.proofs
    const changes =
      proof && applyBaseline({ ...nothing, proofs: [proof] }, only({ proofs })).ignored
    return changes?.length ? changes : others
  }
  if (file.startsWith('sessions/')) {
    const place = { ...origin, number: Number(name), case_title: '' }
    const { value } = readSession(text, place)
    if (!value) return others
    const present = folder?.sessions.find((each) => each.id === value.id)
    const known = new Set(present?.trail.map(lineKey))
    const lines = value.trail.map(lineKey).filter((key) => !known.has(key))
    if (present && lines.length === 0) return []
    const was = present ? progressOf(present) : null
    const to = progressOf(value)
    return [{ kind: 'session', file, id: value.id, from: was ?? 'missing', to, was, lines }]
  }
  const { value } = await readCase(text, origin)
  const { state, required } = frozen
  return value && folder
    ? applyBaseline({ ...nothing, case: value }, only({ state, required })).ignored
    : others
}
