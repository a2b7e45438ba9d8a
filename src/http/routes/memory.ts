import type { ReadFailure } from '../../files/safe-read.ts'
import { CASE_FILE } from '../../markdown/case-file.ts'
import { AppError } from '../../model/app-error.ts'
import type { CaseContents } from '../../model/case-contents.ts'
import { HISTORY_FILE } from '../../model/history.ts'
import { fileActs } from '../../model/history-acts.ts'
import { SESSION_FILE } from '../../model/name-patterns.ts'
import {
  checkCaseFile,
  checkHistoryFile,
  checkNewCaseFile,
  checkSessionFile,
} from '../../sessions/file-checks.ts'
import type { ConfirmedFile } from '../../sessions/run-guard.ts'
import {
  MAX_MEMORY_BYTES,
  type MemoryName,
  memoryName,
  memoryPath,
  mustBeWritten,
  readMemory,
  writeMemory,
} from '../../workspace/memory-files.ts'
import { listMemory } from '../../workspace/memory-list.ts'
import type { WorkDone } from '../../workspace/store.ts'
import { actorOf } from '../actor.ts'
import type { ServiceContext } from '../context.ts'
import type { HttpDeps } from '../deps.ts'
import { endpoint, FILE_ERRORS, LIST_ERRORS, listOf } from '../endpoint.ts'
import { bytesWithETag, etagOf, requireMatch } from '../etag.ts'
import { answerJson } from '../json-body.ts'
import { paginate, type SortKey } from '../pagination.ts'
import { memoryFilename } from '../params.ts'
import { harmless } from '../plain-text.ts'
import { readBytes } from '../request-body.ts'
import {
  type MemoryFileJson,
  memoryFile,
  type WrittenFileJson,
  writtenFile,
} from '../schemas/memory.ts'
import { caseIdParam, filenameParam } from '../schemas/params.ts'
import { paging } from '../schemas/query.ts'

const MARKDOWN = { type: 'text/markdown; charset=utf-8', description: 'The bytes of the file.' }

const RUNBOOK = '```sh run id=test timeout=60s proof=tap\nnpm test --silent\n```\n'

const ofCase = { id: caseIdParam }
const ofFile = { ...ofCase, filename: filenameParam }

/** Files by name, then sessions by number. */
function placeOf({ filename, kind }: MemoryFileJson): SortKey {
  return { created_at: '', id: kind === 'session' ? `1${filename.padStart(16)}` : `0${filename}` }
}

export const memoryEndpoints = [
  endpoint({
    route: 'GET /cases/:id/memory',
    id: 'listMemoryFiles',
    tag: 'Memory',
    summary: 'List the memory files of a case',
    description:
      'Returns `case.md`, the notes of people and agents, and one file for each session.',
    params: ofCase,
    query: paging,
    responses: listOf(memoryFile, 'The files by name, then the sessions by number.'),
    errors: [...LIST_ERRORS, 'unreadable_file'],
    async handle({ c, service, params, query }) {
      const files = await listMemory(service, await service.store.read(params.id))
      const inOrder = files.map((file) => ({ ...placeOf(file), file }))
      const serialize = async ({ file }: { file: MemoryFileJson }) => file
      return paginate({ c, query }, inOrder, { serialize })
    },
  }),

  endpoint({
    route: 'GET /cases/:id/memory/:filename',
    id: 'getMemoryFile',
    tag: 'Memory',
    summary: 'Read a memory file',
    description:
      'Returns the bytes on disk. Besides notes such as `notes.md`, there are `case.md`, `history.md`, `1.md` for the first session, and `latest.md` for the newest.',
    params: ofFile,
    responses: {
      200: {
        description: 'The file.',
        text: MARKDOWN,
        headers: ['ETag', 'Content-Security-Policy'],
      },
    },
    errors: ['invalid_filename', 'unreadable_file'],
    example: { responses: { 200: RUNBOOK } },
    async handle({ c, service, params }) {
      const filename = memoryFilename(c)
      const contents = await service.store.read(params.id)
      const name = memoryName(service.layout, contents, filename)
      const read = await readMemory(service.layout, contents.case.id, name)
      if (!read.ok) throw fileReadError(filename, read)
      return harmless(bytesWithETag(c, read.bytes, MARKDOWN.type))
    },
  }),

  endpoint({
    route: 'PUT /cases/:id/memory/:filename',
    id: 'putMemoryFile',
    tag: 'Memory',
    summary: 'Write a memory file',
    description:
      'Takes any bytes, with any content type. Case and session files are validated. For an unknown id, writing `case.md` with `If-None-Match: *` creates the case.',
    params: ofFile,
    rawBody: { type: 'text/markdown', description: 'The bytes of the file, at most 10 MiB.' },
    isConditional: true,
    responses: {
      200: { description: 'Replaced.', json: writtenFile, headers: ['ETag'] },
      201: { description: 'Created.', json: writtenFile, headers: ['ETag', 'Location'] },
    },
    errors: [
      ...FILE_ERRORS,
      'bad_request',
      'too_large',
      'unsupported_media_type',
      'invalid_filename',
      'proof_gate',
      'session_ended',
      'would_be_a_problem',
      'already_exists',
    ],
    operatorOnly: 'write record',
    operatorOnlyIf: isRecord,
    example: { body: RUNBOOK },
    notWhilePlanning: 'write memory file',
    handle: ({ c, service, params }) => putMemory(c, service, params.id),
  }),
]

async function putMemory(c: ServiceContext, service: HttpDeps, id: string): Promise<Response> {
  const { store, layout } = service
  const filename = memoryFilename(c)
  mustBeWritten(filename)
  const bytes = await readBytes(c, MAX_MEMORY_BYTES)
  if (bytes.byteLength === 0) rejectMissingBody(c, filename)
  if (filename === CASE_FILE && mayCreateCase(c) && (await isUnknown(service, id))) {
    const by = await actorOf(service, c)
    await store.createOf(id, await checkNewCaseFile(id, bytes, service.now()), by)
    return written(c, { id, filename, bytes, isNew: true })
  }
  const work = async (contents: CaseContents, { wrote, acts }: WorkDone) => {
    const name = memoryName(layout, contents, filename)
    const present = await readMemory(layout, id, name)
    if (!present.ok && present.reason !== 'missing') throw fileReadError(filename, present)
    requireMatch(c, present.ok ? etagOf(present.bytes) : null)
    const isNew = !present.ok || !present.bytes.equals(bytes)
    const before = present.ok ? present.bytes : null
    const confirmed = await checked(service, contents, name, { bytes, isNew, before })
    if (isNew && name.kind === 'notes' && filename === HISTORY_FILE && present.ok) {
      checkHistoryFile(present.bytes, bytes)
    }
    if (isNew) {
      await writeMemory(service, id, name, { bytes, present: before })
      // some disks list a new file by another Unicode normal form
      const listed = before === null ? memoryName(layout, contents, filename) : name
      wrote(memoryPath(layout, id, listed), listed.kind === 'notes' ? listed.filename : null)
    }
    if (confirmed) await service.runGuard.confirm(id, confirmed, isNew)
    if (confirmed && 'case' in confirmed) acts(fileActs(contents, confirmed.case))
    return !present.ok
  }
  const made = await store.withFiles(id, work, await actorOf(service, c))
  return written(c, { id, filename, bytes, isNew: made })
}

/** Rejects a request without any body: more likely a mistake than the wish to empty a file. */
function rejectMissingBody(c: ServiceContext, filename: string): void {
  const isStated = c.req.header('content-length') ?? c.req.header('transfer-encoding')
  if (isStated !== undefined) return
  throw new AppError(
    'bad_request',
    `The request has no body, so ${filename} was not changed. Send the text of the file; to empty it, send Content-Length: 0.`,
  )
}

interface Put {
  id: string
  filename: string
  bytes: Uint8Array
  isNew: boolean
}

function written(c: ServiceContext, { id, filename, bytes, isNew }: Put): Response {
  const headers = {
    etag: etagOf(bytes),
    ...(isNew ? { location: `/cases/${id}/memory/${encodeURIComponent(filename)}` } : {}),
  }
  const file: WrittenFileJson = { filename, size: bytes.byteLength }
  return answerJson(c, file, isNew ? 201 : 200, headers)
}

/** Only who says so: a PUT to a case that was deleted meanwhile must not bring it back. */
function mayCreateCase(c: ServiceContext): boolean {
  return c.req.header('if-none-match')?.trim() === '*'
}

async function isUnknown({ store }: HttpDeps, id: string): Promise<boolean> {
  try {
    await store.read(id)
    return false
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return true
    throw error
  }
}

/** Holds the bytes to what the file is for; gives what is to count of it from now on. */
async function checked(
  { sessionTexts }: HttpDeps,
  contents: CaseContents,
  name: MemoryName,
  { bytes, isNew, before }: { bytes: Uint8Array; isNew: boolean; before: Uint8Array | null },
): Promise<ConfirmedFile | null> {
  if (name.kind === 'case') return { case: await checkCaseFile(contents, bytes, before) }
  if (name.kind === 'notes') return null
  const { number } = name
  const isIgnored = contents.ignored.some(({ file }) => file === `sessions/${number}.md`)
  if (isIgnored && !isNew) return { number } // confirms the present text, also of a sealed session
  await checkSessionFile(sessionTexts, contents, number, bytes)
  return null
}

/** Case, session and history files. Anybody who works on the case may write the others. */
function isRecord(c: ServiceContext): boolean {
  const filename = memoryFilename(c)
  return (
    filename === 'case.md' ||
    filename === HISTORY_FILE ||
    filename === 'latest.md' ||
    SESSION_FILE.test(filename)
  )
}

/** Why a memory file cannot be read or overwritten. */
function fileReadError(filename: string, { reason, detail }: ReadFailure): AppError {
  if (reason === 'missing') {
    return new AppError('not_found', `There is no memory file ${filename}.`)
  }
  if (reason === 'io_error') {
    return new AppError(
      'storage_failed',
      `${filename} was not read or written, because the storage failed (${detail}). Check the disk, then try again.`,
    )
  }
  const why = {
    symbolic_link: 'it is a symbolic link, which is not followed. Replace it with a regular file',
    not_a_file: 'it is not a regular file. Replace it with one',
    too_large: 'it is over 10 MiB. Make it smaller, or move it out of the case folder',
    no_permission: 'its permissions do not allow it. Change them',
  }[reason]
  return new AppError('unreadable_file', `${filename} cannot be read or written: ${why}.`)
}
