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

/** Brings the catalog up to the disk; what it finds comes back as changes. */
export interface Scan {
  /** Looks at every file of one case by its stamp, and reads those that differ. The caller holds its mutex. */
  one(id: string): Promise<Change[]>
  /** The names under cases/ only: cases that came or went. */
  names(): Promise<Change[]>
  all(): Promise<Change[]>
  /** Names under cases/ that are no case, as problems of the workspace. */
  strangers(): Problem[]
}

export function createScan(needs: ReaderNeeds, catalog: Catalog, mutex: KeyedMutex): Scan {
  const { layout } = needs
  const alone = (id: string) => mutex.run(id, () => one(id))
  let strangers: Problem[] = []

  async function one(id: string): Promise<Change[]> {
    const known = catalog.entry(id)
    const restored = known ? await restoreHeld(needs, known) : false
    const inside = await kindsIn(layout.caseFolder(id))
    if (!inside) return gone(id)
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
    return changes
  }

  function gone(id: string): Change[] {
    const entry = catalog.remove(id)
    return entry ? [{ kind: 'case', case_id: id, before: entry.file.value, after: null }] : []
  }

  async function names(): Promise<Change[]> {
    const found = await entriesIn(layout.cases)
    strangers = found
      .filter((name) => !UUID.test(name) && !name.startsWith('.'))
      .map(strangerProblem)
    const present = new Set(found.filter((name) => UUID.test(name)))
    const changes = catalog
      .ids()
      .filter((id) => !present.has(id))
      .flatMap(gone)
    const fresh = [...present].filter((id) => !catalog.entry(id))
    const news = (await inTurns(fresh, alone)).flat()
    const links = fresh.filter((id) => !catalog.entry(id))
    strangers = strangers.concat(links.map(strangerProblem))
    return changes.concat(news)
  }

  async function all(): Promise<Change[]> {
    const known = catalog.ids()
    const changes = await names()
    return changes.concat(
      (
        await inTurns(
          known.filter((id) => catalog.entry(id)),
          one,
        )
      ).flat(),
    )
  }

  return { one, names, all, strangers: () => strangers }
}

/** Enough at once to keep the disk busy, few enough to leave threads for requests. */
const AT_ONCE = 16

async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const index = next++
      results[index] = await work(items[index]!)
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker))
  return results
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
