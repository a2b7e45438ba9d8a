import { decodeUtf8, type ReadResult, readRegular } from '../../files/safe-read.ts'
import type { HttpDeps } from '../../http/deps.ts'
import { etagOf } from '../../http/etag.ts'
import type { CaseFolder } from '../../model/case-folder.ts'
import type { Problem } from '../../model/problem.ts'
import { Refusal } from '../../model/refusal.ts'
import { hasEnded } from '../../model/session.ts'
import { SESSION_FILE } from '../../model/words.ts'
import {
  MAX_MEMORY_BYTES,
  type MemoryName,
  memoryName,
  memoryPath,
  readMemory,
} from '../../workspace/memory-files.ts'
import { memoryPage, proofPage } from '../shell/addresses.ts'

/** What there is to show of a file of a case, and whether it may be written. */
export interface MemoryView {
  /** Its page. */
  address: string
  /** What it is called: its path in the folder of the case. */
  called: string
  /** For the API, which reads and writes it; null where that does not know it. */
  filename: string | null
  /** Of the session whose page there is. */
  session: number | null
  /** Where it lies. */
  path: string
  /** Null where there is no such file yet, or none that can be read. */
  file: { etag: string; size: number; text: string | null } | null
  /** Why it cannot be edited here; null where it can. */
  sealed: string | null
  problems: Problem[]
}

const UNREADABLE: Record<string, string> = {
  symbolic_link: 'It is a symbolic link, which is not followed. Put the file itself in its place.',
  not_a_file: 'It is no regular file. Put a plain file in its place.',
  too_large: 'It is over 10 MiB, so it is not read here.',
}

/** Refuses a name that is none, or that of a session that there is not. */
export async function memoryView(
  { layout }: Pick<HttpDeps, 'layout'>,
  folder: CaseFolder,
  filename: string,
): Promise<MemoryView> {
  const { id } = folder.case
  const lost = lostSession(folder, filename)
  if (lost !== null)
    return unlisted(folder, {
      path: layout.sessionFile(id, lost),
      within: layout.caseFolder(id),
      called: `sessions/${lost}.md`,
      address: memoryPage(id, filename),
    })
  const name = memoryName(layout, folder, filename)
  const session = name.kind === 'session' ? name.number : null
  const called = session === null ? filename : `sessions/${session}.md`
  const read = await readMemory(layout, id, name)
  const { file, unreadable } = shownOf(read)
  return {
    ...{ address: memoryPage(id, filename), called, filename, session, file },
    path: memoryPath(layout, id, name),
    sealed: unreadable ?? sealOf(folder, name),
    problems: problemsOf(folder, called),
  }
}

/** The file of a proof that cannot be read as one: shown as it stands. */
export function lostProofView(
  { layout }: Pick<HttpDeps, 'layout'>,
  folder: CaseFolder,
  proof: string,
): Promise<MemoryView> {
  const { id } = folder.case
  return unlisted(folder, {
    path: layout.proofFile(id, proof),
    within: layout.caseFolder(id),
    called: `proof/${proof}.md`,
    address: proofPage(id, proof),
  })
}

/** Whether there is a file of a proof that cannot be read as one. */
export function isLostProof(folder: CaseFolder, proof: string): boolean {
  const isKnown = folder.proofs.some(({ id }) => id === proof)
  return !isKnown && problemsOf(folder, `proof/${proof}.md`).length > 0
}

/** The number of a session whose file has a problem and cannot be read as one. */
function lostSession(folder: CaseFolder, filename: string): number | null {
  const number = Number(SESSION_FILE.exec(filename)?.[1] ?? 0)
  if (number === 0 || folder.sessions.some((session) => session.number === number)) return null
  return problemsOf(folder, `sessions/${number}.md`).length > 0 ? number : null
}

interface Unlisted {
  path: string
  within: string
  called: string
  address: string
}

/** A file that no value was read of, so that nothing but its text can be shown. */
async function unlisted(
  folder: CaseFolder,
  { path, within, called, address }: Unlisted,
): Promise<MemoryView> {
  const read = await readRegular(path, { maxBytes: MAX_MEMORY_BYTES, within })
  const problems = problemsOf(folder, called)
  if (!read.ok && read.reason === 'missing')
    throw new Refusal('not_found', `Case ${folder.case.id} has no file ${called}.`)
  const { file, unreadable } = shownOf(read)
  const advice =
    'Casefile cannot read it, so it is only shown here. Mend it with an editor, at the path above.'
  return {
    ...{ address, called, path, file, problems },
    ...{ filename: null, session: null, sealed: unreadable ?? advice },
  }
}

function problemsOf({ problems }: CaseFolder, called: string): Problem[] {
  return problems.filter(({ file }) => file === called)
}

function shownOf(read: ReadResult): Pick<MemoryView, 'file'> & { unreadable: string | null } {
  if (!read.ok) {
    if (read.reason === 'missing') return { file: null, unreadable: null }
    const why = UNREADABLE[read.reason] ?? 'The disk or its permissions do not allow reading it.'
    return { file: null, unreadable: why }
  }
  const text = decodeUtf8(read.bytes)
  return {
    file: {
      etag: etagOf(read.bytes),
      size: read.bytes.byteLength,
      text: text.ok ? text.text : null,
    },
    unreadable: text.ok
      ? null
      : `Line ${text.line} is not UTF-8, so it cannot be shown or edited here without loss.`,
  }
}

function sealOf(folder: CaseFolder, name: MemoryName): string | null {
  if (name.kind !== 'session') return null
  const session = folder.sessions.find(({ number }) => number === name.number)
  if (!session || !hasEnded(session, folder.proofs)) return null
  return `Session ${session.number} has ended and is sealed: its file is not written any more.`
}
