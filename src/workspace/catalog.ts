import type { Case } from '../model/case.ts'
import type { CaseFolder } from '../model/case-folder.ts'
import { gateOf } from '../model/case-folder.ts'
import { caseJson } from '../model/case-json.ts'
import { heldBack, type Pins } from '../model/held.ts'
import { heldProblem } from '../model/held-problem.ts'
import type { Problem } from '../model/problem.ts'
import { byCreation, type Proof } from '../model/proof.ts'
import type { Session } from '../model/session.ts'
import { isRunning } from '../model/session-state.ts'
import { type TriageRow, triageRow } from '../model/triage-row.ts'
import type { FileStamp } from './disk/safe-read.ts'
import type { NoteFile } from './notes.ts'
import type { RecordFile } from './record.ts'

/** One case as it was last read. */
export interface CaseEntry {
  id: string
  file: RecordFile<Case>
  sessions: Map<number, RecordFile<Session | null>>
  proofs: Map<string, RecordFile<Proof | null>>
  /** By file name. */
  notes: Map<string, NoteFile>
  /** Stamps of its folders by name, `.` its own: what came or went in one shows there. */
  folders: Map<string, FileStamp | null>
  /** Its files were gone while a session ran, and were written again. */
  vanished: boolean
  /** An editor put a plain file in place of the link latest.md. */
  strayLatest: boolean
  /** What is wrong with its folders and names: links, copies, no permission. */
  problems: Problem[]
}

/** What lists show of a case. */
export interface Digest {
  /** The case as `GET /cases/:id` gives it. */
  json: string
  row: TriageRow
}

/** A change of what the files say, whoever made it; null stands for "was not there" and "is gone". */
export type Change =
  | { kind: 'case'; case_id: string; before: Case | null; after: Case | null }
  | { kind: 'session'; case_id: string; before: Session | null; after: Session | null }
  | { kind: 'proof'; case_id: string; before: Proof | null; after: Proof | null }

/**
 * What the files say, kept in memory so that a GET reads no file that has not changed. It is derived:
 * thrown away, it is read again from the files. Only the store puts values in.
 */
export interface Catalog {
  entry(id: string): CaseEntry | undefined
  ids(): string[]
  put(entry: CaseEntry): void
  remove(id: string): CaseEntry | undefined
  /** All that is known of a case, the newest session and proof last; undefined when unknown. */
  folder(id: string): CaseFolder | undefined
  /** What lists show of a case; undefined when unknown. */
  digest(id: string): Digest | undefined
  /** Forgets what was computed from an entry, after a change to it. */
  touch(id: string): void
  /** Grows with every change: what was computed from the catalog at another version is stale. */
  version(): number
}

/** `isHeld`: whether a session plans or works in this process; `pins`: what counts of a case, whatever its files say. */
export function createCatalog(
  isHeld: (sessionId: string) => boolean,
  pins: (caseId: string) => Pins | undefined,
): Catalog {
  const entries = new Map<string, CaseEntry>()
  const folders = new Map<string, CaseFolder>()
  const digests = new Map<string, Digest>()
  let version = 0

  function touch(id: string): void {
    folders.delete(id)
    digests.delete(id)
    version++
  }

  function folder(id: string): CaseFolder | undefined {
    const known = folders.get(id)
    if (known) return known
    const entry = entries.get(id)
    if (!entry) return undefined
    const made = folderOf(entry, isHeld, pins(id))
    folders.set(id, made)
    return made
  }

  function digest(id: string): Digest | undefined {
    const known = digests.get(id)
    if (known) return known
    const [entry, of] = [entries.get(id), folder(id)]
    if (!entry || !of) return undefined
    const json = caseJson(of, entry.file.mtimeMs)
    const made = { json: JSON.stringify(json), row: triageRow(of, json) }
    digests.set(id, made)
    return made
  }

  return {
    entry: (id) => entries.get(id),
    ids: () => [...entries.keys()],
    put(entry) {
      entries.set(entry.id, entry)
      touch(entry.id)
    },
    remove(id) {
      const entry = entries.get(id)
      if (entries.delete(id)) touch(id)
      return entry
    },
    folder,
    digest,
    touch,
    version: () => version,
  }
}

function folderOf(
  entry: CaseEntry,
  isHeld: (sessionId: string) => boolean,
  pins: Pins | undefined,
): CaseFolder {
  const counting = heldBack(filesOf(entry), pins)
  const { sessions, held } = counting
  const folder: CaseFolder = {
    ...counting,
    problems: [
      ...[entry.file, ...entry.sessions.values(), ...entry.proofs.values()],
      ...[...entry.notes.values(), entry],
    ]
      .flatMap((file) => file.problems)
      .concat(sessions.filter((each) => isRunning(each.state) && !isHeld(each.id)).map(foreign))
      .concat(twins(sessions).map(twin))
      .concat(held.map((each) => heldProblem(entry.id, each))),
  }
  if (entry.vanished)
    folder.problems.push(...sessions.filter((each) => isHeld(each.id)).map(vanished))
  const gate = gateOf(folder)
  if (folder.case.state === 'RESOLVED' && !gate.open) folder.problems.push(shut(gate.missing))
  return folder
}

/** What the files of a case say, the newest session and proof last. */
export function filesOf(entry: CaseEntry): Pick<CaseFolder, 'case' | 'sessions' | 'proofs'> {
  const values = <T>(files: Map<unknown, RecordFile<T | null>>): T[] =>
    [...files.values()].map((file) => file.value).filter((value) => value !== null)
  return {
    case: entry.file.value,
    sessions: values(entry.sessions).sort((a, b) => a.number - b.number),
    proofs: values(entry.proofs).sort(byCreation),
  }
}

/** Sessions whose id an earlier one of the case has. */
function twins(sessions: readonly Session[]): Session[] {
  const first = new Map<string, Session>()
  return sessions.filter((each) => {
    if (!first.has(each.id)) first.set(each.id, each)
    return first.get(each.id) !== each
  })
}

function twin({ number, id }: Session): Problem {
  return {
    code: 'duplicate_id',
    file: `sessions/${number}.md`,
    line: null,
    message: `id: ${id} is that of an earlier session of this case, which is the one that requests reach: delete this copy`,
  }
}

/** Nothing runs here for a session that came with the files of another machine (design §3). */
function foreign({ number, state }: Session): Problem {
  return {
    code: 'foreign_session',
    file: `sessions/${number}.md`,
    line: null,
    message: `the session is ${state}, but nothing runs for it on this machine: it can only be abandoned`,
  }
}

function vanished({ number }: Session): Problem {
  return {
    code: 'case_vanished',
    file: `sessions/${number}.md`,
    line: null,
    message:
      'the file was gone while the session was running (a branch switch?) and was written again',
  }
}

function shut(missing: readonly string[]): Problem {
  return {
    code: 'proof_gate',
    file: 'case.md',
    line: null,
    message: `state: RESOLVED is reported as VERIFYING until the gate is open: missing ${missing.join(', and ')}`,
  }
}
