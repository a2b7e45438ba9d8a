import * as z from 'zod'
import { readSlice, sliceStream } from '../../files/read-slice.ts'
import { AppError } from '../../model/app-error.ts'
import { sessionOf } from '../../model/case-contents.ts'
import { artifactPath, isArtifactOf, MAX_ARTIFACT_BYTES } from '../../runners/output/artifacts.ts'
import { byteRange } from '../byte-range.ts'
import type { ServiceContext } from '../context.ts'
import type { HttpDeps } from '../deps.ts'
import { endpoint } from '../endpoint.ts'
import { PLAIN_TEXT, PLAIN_TEXT_HEADERS, plainText } from '../plain-text.ts'
import { problemResponse } from '../problem-json.ts'
import { artifactParam, caseIdParam, sessionIdParam } from '../schemas/params.ts'

const HEADERS = {
  ...PLAIN_TEXT_HEADERS,
  'content-type': PLAIN_TEXT,
  'accept-ranges': 'bytes',
}

const ofSession = { id: caseIdParam, sid: sessionIdParam }
const CONTENT = { type: PLAIN_TEXT, description: 'The bytes, of any kind.' }

export const artifactEndpoints = [
  endpoint({
    route: 'GET /cases/:id/sessions/:sid/artifacts/:name',
    id: 'getArtifact',
    tag: 'Sessions',
    summary: 'Read an artifact',
    description:
      'Returns it as plain text. Its name is one of the `candidates` of the session, or the `artifact` of a `step_started`. To follow a growing log, request a `Range` that begins where the last response ended.',
    params: { ...ofSession, name: artifactParam },
    headers: { Range: z.string().optional().describe('A single range, such as `bytes=-4096`.') },
    responses: {
      200: {
        description: 'The whole artifact. An artifact over 10 MiB has no ETag.',
        text: CONTENT,
        headers: ['Accept-Ranges', 'Content-Security-Policy'],
        optionalHeaders: ['ETag'],
      },
      206: {
        description: 'The requested part, at most 10 MiB.',
        text: CONTENT,
        headers: ['Accept-Ranges', 'Content-Range', 'Content-Security-Policy'],
      },
    },
    errors: ['unreadable_file', 'range_not_satisfiable'],
    example: { responses: { 200: 'ok 1 - a token is accepted at once\n1..1\n', 206: 'ok 1' } },
    async handle({ c, service, params: { id, sid, name } }) {
      const { number } = sessionOf(await service.store.read(id), sid)
      return readArtifact(c, service.layout, { id, number, name })
    },
  }),
]

async function readArtifact(
  c: ServiceContext,
  layout: HttpDeps['layout'],
  { id, number, name }: { id: string; number: number; name: string },
): Promise<Response> {
  if (!isArtifactOf(name, number)) throw missing(number, name)
  // a growing artifact has no version that If-Range could name, so the whole is sent
  const field = c.req.header('if-range') === undefined ? c.req.header('range') : undefined
  let isPart = false
  let isStream = false
  const slice = (size: number) => {
    const range = byteRange(field, size, MAX_ARTIFACT_BYTES)
    isPart = range !== null
    isStream = range === null && size > MAX_ARTIFACT_BYTES
    if (range === 'none' || isStream) return { from: 0, length: 0 }
    const { first, last } = range ?? { first: 0, last: size - 1 }
    return { from: first, length: last - first + 1 }
  }
  const path = artifactPath(layout, id, name)
  const guard = { within: layout.caseFolder(id) }
  const read = await readSlice(path, slice, guard)
  if (!read.ok) {
    throw read.reason === 'missing' ? missing(number, name) : unreadable(name, read.reason)
  }
  if (isStream) return streamed(c, sliceStream(path, read.size, guard), read.size)
  return answered(c, name, read, isPart)
}

interface Slice {
  bytes: Buffer
  from: number
  size: number
}

function answered(c: ServiceContext, name: string, read: Slice, isPart: boolean): Response {
  const { bytes, from, size } = read
  if (!isPart) {
    const response = plainText(c, bytes)
    response.headers.set('accept-ranges', 'bytes')
    return response
  }
  if (bytes.length === 0) {
    const message = `${name} has ${size} bytes, and none in the requested Range. Try again when it has grown.`
    const response = problemResponse(new AppError('range_not_satisfiable', message))
    response.headers.set('content-range', `bytes */${size}`)
    return response
  }
  const range = `bytes ${from}-${from + bytes.length - 1}/${size}`
  const body = bytes as Uint8Array<ArrayBuffer>
  return c.body(body, 206, { ...HEADERS, 'content-range': range })
}

/** Without an ETag: hashing so much for each response costs too much. */
function streamed(c: ServiceContext, body: ReadableStream<Uint8Array>, size: number): Response {
  const headers = { ...HEADERS, 'content-length': String(size) }
  return c.body(body, 200, headers)
}

function missing(number: number, name: string): AppError {
  const came = `"${name.slice(0, 120).toWellFormed()}"`
  return new AppError(
    'not_found',
    `Session ${number} has no artifact ${came} on this machine. Artifacts stay on the machine that made them; the session names its candidates.`,
  )
}

function unreadable(name: string, reason: string): AppError {
  return new AppError(
    'unreadable_file',
    `The artifact ${name} cannot be read (${reason}): it must be a regular file. Look at what replaced it.`,
  )
}
