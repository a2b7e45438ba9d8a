import { decodeUtf8, type ReadResult, readRegular } from '../../files/safe-read.ts'
import type { HttpDeps } from '../../http/deps.ts'
import { etagOf } from '../../http/etag.ts'
import { AppError } from '../../model/app-error.ts'
import type { CaseContents } from '../../model/case-contents.ts'
import { SESSION_FILE } from '../../model/name-patterns.ts'
import type { Problem } from '../../model/problem.ts'
import { isFinal } from '../../model/session.ts'
import {
  MAX_MEMORY_BYTES,
  type MemoryName,
  memoryName,
  memoryPath,
  readMemory,
} from '../../workspace/memory-files.ts'
import { memoryPage, proofPage } from '../shell/addresses.ts'

/** A file of a case for its page, and whether it can be edited there. */
export interface MemoryPageData {
  /** The URL of its page. */
  url: string
  /** Its path in the case folder. */
  name: string
  /** For the API, which reads and writes it; null if the API has no such file. */
  filename: string | null
  /** The number of the session whose file it is. */
  session: number | null
  /** On the disk. */
  path: string
  /** Null if there is no such file yet, or it can't be read. */
  file: { etag: string; size: number; text: string | null } | null
  /** Why it can't be edited here; null if it can. */
  sealed: string | null
  problems: Problem[]
}

const UNREADABLE: Record<string, string> = {
  symbolic_link:
    'This is a symbolic link, which Casefile does not follow. Replace it with the file.',
  not_a_file: 'This is not a regular file. Replace it with one.',
  too_large: 'This file is over 10 MiB, too large to show here.',
}

/** Throws for a name that is not allowed, or of a session that does not exist. */
export async function loadMemoryPage(
  { layout }: Pick<HttpDeps, 'layout'>,
  contents: CaseContents,
  filename: string,
): Promise<MemoryPageData> {
  const { id } = contents.case
  const unparsed = unreadableSession(contents, filename)
  if (unparsed !== null)
    return loadUnparsed(contents, {
      path: layout.sessionFile(id, unparsed),
      within: layout.caseFolder(id),
      name: `sessions/${unparsed}.md`,
      url: memoryPage(id, filename),
    })
  const memory = memoryName(layout, contents, filename)
  const session = memory.kind === 'session' ? memory.number : null
  const name = session === null ? filename : `sessions/${session}.md`
  const { file, unreadable } = fileOf(await readMemory(layout, id, memory))
  return {
    url: memoryPage(id, filename),
    name,
    filename,
    session,
    file,
    path: memoryPath(layout, id, memory),
    sealed: unreadable ?? sealOf(contents, memory),
    problems: problemsOf(contents, name),
  }
}

/** A proof whose file can't be parsed: its text is shown. */
export function loadUnreadableProof(
  { layout }: Pick<HttpDeps, 'layout'>,
  contents: CaseContents,
  proof: string,
): Promise<MemoryPageData> {
  const { id } = contents.case
  return loadUnparsed(contents, {
    path: layout.proofFile(id, proof),
    within: layout.caseFolder(id),
    name: `proof/${proof}.md`,
    url: proofPage(id, proof),
  })
}

/** Whether the file of a proof exists and can't be parsed. */
export function isUnreadableProof(contents: CaseContents, proof: string): boolean {
  const isKnown = contents.proofs.some(({ id }) => id === proof)
  return !isKnown && problemsOf(contents, `proof/${proof}.md`).length > 0
}

/** The number of a session whose file exists and can't be parsed. */
function unreadableSession(contents: CaseContents, filename: string): number | null {
  const number = Number(SESSION_FILE.exec(filename)?.[1] ?? 0)
  if (number === 0 || contents.sessions.some((session) => session.number === number)) return null
  return problemsOf(contents, `sessions/${number}.md`).length > 0 ? number : null
}

interface UnparsedFile {
  path: string
  within: string
  name: string
  url: string
}

/** A file that can't be parsed, so only its text can be shown. */
async function loadUnparsed(
  contents: CaseContents,
  { path, within, name, url }: UnparsedFile,
): Promise<MemoryPageData> {
  const read = await readRegular(path, { maxBytes: MAX_MEMORY_BYTES, within })
  const problems = problemsOf(contents, name)
  if (!read.ok && read.reason === 'missing')
    throw new AppError('not_found', `Case ${contents.case.id} has no file ${name}.`)
  const { file, unreadable } = fileOf(read)
  const advice =
    'Casefile cannot parse this file, so it cannot be edited here. Fix it with an editor, at the path above.'
  return {
    url,
    name,
    path,
    file,
    problems,
    filename: null,
    session: null,
    sealed: unreadable ?? advice,
  }
}

function problemsOf({ problems }: CaseContents, name: string): Problem[] {
  return problems.filter(({ file }) => file === name)
}

function fileOf(read: ReadResult): Pick<MemoryPageData, 'file'> & { unreadable: string | null } {
  if (!read.ok) {
    if (read.reason === 'missing') return { file: null, unreadable: null }
    const why =
      UNREADABLE[read.reason] ?? 'The disk or its permissions do not allow reading this file.'
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
      : `Line ${text.line} is not UTF-8, so this file cannot be shown or edited here without loss.`,
  }
}

function sealOf(contents: CaseContents, name: MemoryName): string | null {
  if (name.kind !== 'session') return null
  const session = contents.sessions.find(({ number }) => number === name.number)
  if (!session || !isFinal(session, contents.proofs)) return null
  return `Session ${session.number} is sealed, so its file is read-only.`
}
