import { realpath } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Problem } from '../model/problem.ts'
import { UUID } from '../model/words.ts'
import type { CaseEntry, Catalog, Change } from './catalog.ts'
import { differences } from './differences.ts'
import { type EntryKind, kindsIn, proofIds, sessionNumbers } from './folder-names.ts'
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
  /** Names under cases/ that are no case, or why it cannot be looked into: problems of the workspace. */
  strangers(): Problem[]
}

interface ScanNeeds extends ReaderNeeds {
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
    const folders = inside === 'hidden' ? [hiddenProblem('.')] : linkProblems(inside)
    /** The keys of a folder's files: those that were known where it may not be listed. */
    const keysIn = async <K>(folder: string, keys: (names: string[]) => K[], was: Iterable<K>) => {
      const name = basename(folder)
      if (inside !== 'hidden' && inside.get(name) !== 'folder') return []
      const kinds = inside === 'hidden' ? inside : await kindsIn(folder)
      if (kinds !== 'hidden') return keys([...(kinds?.keys() ?? [])])
      if (inside !== 'hidden') folders.push(hiddenProblem(name))
      return [...was]
    }
    const file = await refreshed(layout.caseFile(id), known?.file, (record) =>
      readCaseRecord(needs, id, record),
    )
    const of = { id, title: file.value.title }
    const sessions = await refreshedAll(
      await keysIn(layout.sessions(id), sessionNumbers, known?.sessions.keys() ?? []),
      known?.sessions,
      (number) => layout.sessionFile(id, number),
      (number, record) => readSessionRecord(needs, of, number, record),
    )
    const proofs = await refreshedAll(
      await keysIn(layout.proofs(id), proofIds, known?.proofs.keys() ?? []),
      known?.proofs,
      (proofId) => layout.proofFile(id, proofId),
      (proofId, record) => readProofRecord(needs, id, proofId, record),
    )
    const vanished = restored || known?.vanished === true
    const entry: CaseEntry = { id, file, sessions, proofs, vanished, links: folders }
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
    const inside = await kindsIn(layout.cases)
    const wrong = await casesProblem(layout.cases, inside)
    if (wrong) strangers = [wrong]
    if (inside === 'hidden') return // what is known goes on being served
    const found = wrong || !inside ? [] : [...inside.keys()]
    const present = new Set(found.filter((name) => UUID.test(name)))
    const fresh = [...present].filter((id) => !catalog.entry(id))
    const missing = known.filter((id) => !present.has(id))
    await inTurns([...missing, ...fresh], alone)
    const links = fresh.filter((id) => !catalog.entry(id))
    if (wrong) return
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

/** Why no case is read from the folder of all cases, or none. */
async function casesProblem(
  cases: string,
  inside: Awaited<ReturnType<typeof kindsIn>>,
): Promise<Problem | null> {
  if (inside === 'hidden') return hiddenProblem('cases')
  const inPlace =
    inside === null ? (await stampOf(cases)) === null : (await realpath(cases)) === cases
  if (inPlace) return null
  const message =
    'this is no folder or reached by a symbolic link, which is not followed, so no case is read from it: put the folder itself here'
  return { code: 'symbolic_link', file: 'cases', line: null, message }
}

function hiddenProblem(file: string): Problem {
  const message = 'the service has no permission to look into this folder: what was known is served'
  return { code: 'unreadable', file, line: null, message }
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
