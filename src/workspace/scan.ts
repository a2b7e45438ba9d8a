import { basename } from 'node:path'
import type { Problem } from '../model/problem.ts'
import { UUID } from '../model/words.ts'
import type { CaseEntry, Catalog, Change } from './catalog.ts'
import { differences } from './differences.ts'
import { type EntryKind, entriesIn, kindsIn, proofIds, sessionNumbers } from './folder-names.ts'
import type { KeyedMutex } from './keyed-mutex.ts'
import { type ReaderNeeds, readCaseRecord, readProofRecord, readSessionRecord } from './readers.ts'
import type { RecordFile } from './record.ts'
import { restoreHeld } from './restore.ts'
import { sameStamp, stampOf } from './safe-read.ts'

/** Brings the catalog up to the disk, and publishes what it finds while it holds the case's mutex. */
export interface Scan {
  /** Looks at every file of one case by its stamp, and reads those that differ. The caller holds its mutex. */
  one(id: string): Promise<void>
  /** The names under cases/ only: cases that came or went. */
  names(): Promise<void>
  all(): Promise<void>
  /** Names under cases/ that are no case, as problems of the workspace. */
  strangers(): Problem[]
}

export interface ScanNeeds extends ReaderNeeds {
  catalog: Catalog
  mutex: KeyedMutex
  publish(changes: Change[]): void
}

export function createScan(needs: ScanNeeds): Scan {
  const { layout, catalog, mutex, publish } = needs
  const alone = (id: string) => mutex.run(id, () => one(id))
  let strangers: Problem[] = []

  async function one(id: string): Promise<void> {
    const known = catalog.entry(id)
    const restored = known ? await restoreHeld(needs, known) : false
    const inside = await kindsIn(layout.caseFolder(id))
    if (!inside) {
      const entry = catalog.remove(id)
      if (entry) publish([{ kind: 'case', case_id: id, before: entry.file.value, after: null }])
      return
    }
    const namesIn = async (folder: string) =>
      inside.get(basename(folder)) === 'folder' ? entriesIn(folder) : []
    const file = await refreshed(layout.caseFile(id), known?.file, (record) =>
      readCaseRecord(needs, id, record),
    )
    const of = { id, title: file.value.title }
    const sessions = await refreshedAll(
      sessionNumbers(await namesIn(layout.sessions(id))),
      known?.sessions,
      (number) => layout.sessionFile(id, number),
      (number, record) => readSessionRecord(needs, of, number, record),
    )
    const proofs = await refreshedAll(
      proofIds(await namesIn(layout.proofs(id))),
      known?.proofs,
      (proofId) => layout.proofFile(id, proofId),
      (proofId, record) => readProofRecord(needs, id, proofId, record),
    )
    const vanished = restored || known?.vanished === true
    const links = linkProblems(inside)
    const entry: CaseEntry = { id, file, sessions, proofs, vanished, links }
    const changes = differences(known, entry)
    const problemsChanged = JSON.stringify(problemsOf(known)) !== JSON.stringify(problemsOf(entry))
    if (
      !known ||
      restored ||
      changes.length > 0 ||
      problemsChanged ||
      known.file.mtimeMs !== file.mtimeMs
    ) {
      catalog.put(entry)
    } else Object.assign(known, entry)
    publish(changes)
  }

  async function names(): Promise<void> {
    const known = catalog.ids() // before the look: what is made meanwhile is not missing
    const found = await entriesIn(layout.cases)
    const present = new Set(found.filter((name) => UUID.test(name)))
    const fresh = [...present].filter((id) => !catalog.entry(id))
    const missing = known.filter((id) => !present.has(id))
    await inTurns([...missing, ...fresh], alone)
    const links = fresh.filter((id) => !catalog.entry(id))
    strangers = found
      .filter((name) => !UUID.test(name) && !name.startsWith('.'))
      .concat(links)
      .map(strangerProblem)
  }

  async function all(): Promise<void> {
    const known = catalog.ids()
    await names()
    await inTurns(
      known.filter((id) => catalog.entry(id)),
      alone,
    )
  }

  return { one, names, all, strangers: () => strangers }
}

/** Enough at once to keep the disk busy, few enough to leave threads for requests. */
const AT_ONCE = 16

async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < items.length) await work(items[next++]!)
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker))
}

async function refreshed<T>(
  path: string,
  known: RecordFile<T> | undefined,
  read: (known: RecordFile<T> | undefined) => Promise<RecordFile<T>>,
): Promise<RecordFile<T>> {
  if (known?.stamp) {
    const stamp = await stampOf(path)
    if (stamp && sameStamp(stamp, known.stamp)) return known
  }
  return read(known)
}

async function refreshedAll<K, T>(
  keys: K[],
  known: Map<K, RecordFile<T>> | undefined,
  path: (key: K) => string,
  read: (key: K, record: RecordFile<T> | undefined) => Promise<RecordFile<T>>,
): Promise<Map<K, RecordFile<T>>> {
  const files = new Map<K, RecordFile<T>>()
  for (const key of keys) {
    files.set(key, await refreshed(path(key), known?.get(key), (record) => read(key, record)))
  }
  return files
}

function linkProblems(inside: ReadonlyMap<string, EntryKind>): Problem[] {
  const message =
    'this folder is a symbolic link, which is not followed: put the folder itself here'
  return ['sessions', 'proof', 'artifacts']
    .filter((name) => inside.get(name) === 'link')
    .map((file) => ({ code: 'symbolic_link', file, line: null, message }))
}

function strangerProblem(name: string): Problem {
  const message = UUID.test(name)
    ? `"${name}" is no folder (a file or a symbolic link), so no case is read from it`
    : `"${name}" is no case id: a case's folder is named by a lower-case UUID`
  return { code: 'bad_name', file: `cases/${name}`, line: null, message }
}

function problemsOf(entry: CaseEntry | undefined): Problem[] {
  if (!entry) return []
  const { file, sessions, proofs, links } = entry
  return [file, ...sessions.values(), ...proofs.values()]
    .flatMap((each) => each.problems)
    .concat(links)
}
