import type * as z from 'zod'
import { AppError } from '../model/app-error.ts'
import type { ServiceContext } from './context.ts'
import { parseJsonObject } from './json-text.ts'
import { parseFields } from './schemas/parse-fields.ts'

const MIB = 1024 * 1024
const MAX_JSON_BYTES = MIB

/** How much of a refused body is read and thrown away, so that the client gets to see the answer. */
const DRAIN = { bytes: 64 * MIB, ms: 15_000 }

/** The next piece of a body. */
type Next = () => Promise<{ done?: boolean | undefined; value?: Uint8Array | undefined }>

/**
 * The whole body; never holds more than `maxBytes` and one chunk of it. Refuses with `too_large`, and with
 * `unsupported_media_type` where it is compressed.
 */
export async function readBytes(
  c: ServiceContext,
  maxBytes: number,
  drain = DRAIN,
): Promise<Uint8Array> {
  const next = piecesOf(c)
  if (next === null) return new Uint8Array()
  try {
    const bytes = await collect(next, c.req.header('content-length'), maxBytes, drain)
    if (bytes.byteLength > 0) requirePlain(c.req.header('content-encoding'))
    return bytes
  } catch (error) {
    if (!isDisconnect(error)) throw error
    const message = 'The connection was closed before the whole body had come. Send it again.'
    throw new AppError('bad_request', message, { cause: error })
  }
}

/** Node's own stream, as a web stream around it would cost more than all the rest of a small request. */
function piecesOf(c: ServiceContext): Next | null {
  const incoming = c.env?.incoming
  if (incoming) {
    const pieces = incoming.iterator({ destroyOnReturn: false })
    return () => pieces.next()
  }
  const reader = c.req.raw.body?.getReader()
  return reader ? () => reader.read() : null
}

/**
 * The body as the schema gives it. An empty body is read as `{}`, whatever its content type: the schema then
 * names the fields that are missing. Refuses with `unsupported_media_type`, `invalid_json`, `bad_request` or
 * `too_large`.
 */
export async function readJson<T>(
  c: ServiceContext,
  schema: z.ZodType<T>,
  { maxBytes = MAX_JSON_BYTES } = {},
): Promise<T> {
  const bytes = await readBytes(c, maxBytes)
  if (bytes.byteLength === 0) return parseFields(schema, {})
  requireJson(c.req.header('content-type'))
  return parseFields(schema, parseJsonObject(bytes))
}

/** Holds one text of a body to a limit of its own. */
export function mustFit(name: string, text: string, maxBytes: number, advice = ''): void {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return
  const limit = maxBytes < MIB ? `${maxBytes / 1024} KiB` : `${maxBytes / MIB} MiB`
  const message = `The ${name} has ${bytes} bytes; at most ${limit} are taken. ${advice}`
  throw new AppError('too_large', message.trimEnd())
}

async function collect(
  next: Next,
  contentLength: string | undefined,
  maxBytes: number,
  drain: typeof DRAIN,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let total = 0
  while (!(Number(contentLength) > maxBytes)) {
    const { done, value } = await next()
    if (done || !value) return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, total)
    total += value.byteLength
    if (total > maxBytes) break
    chunks.push(value)
  }
  chunks.length = 0
  const came = await throwAway(next, total, drain)
  const message = `The body has ${contentLength ?? came} bytes, and at most ${maxBytes} are taken here. Send a smaller one.`
  throw new AppError('too_large', message)
}

/** How many bytes there were, in words. */
async function throwAway(next: Next, already: number, drain: typeof DRAIN): Promise<string> {
  let total = already
  let stop = () => {}
  const timer = setTimeout(() => stop(), drain.ms)
  try {
    while (total <= drain.bytes) {
      // not a race with one promise for all: that would hold every piece until the end
      const step = await new Promise<Awaited<ReturnType<Next>> | null>((resolve, reject) => {
        stop = () => resolve(null)
        next().then(resolve, reject)
      })
      if (step === null) break
      if (step.done || !step.value) return String(total)
      total += step.value.byteLength
    }
    return `more than ${total}`
  } finally {
    clearTimeout(timer)
  }
}

/** No coding is undone here (RFC 9110 §8.4), and none is taken for the text itself. */
function requirePlain(encoding = ''): void {
  if (encoding.split(',').every((coding) => /^\s*(?:identity)?\s*$/i.test(coding))) return
  const came = JSON.stringify(encoding.slice(0, 100))
  throw new AppError(
    'unsupported_media_type',
    `The body came with the content coding ${came}. Send it plain, without the header "Content-Encoding".`,
    { extra: { accept_encoding: 'identity' } },
  )
}

function requireJson(contentType: string | undefined): void {
  const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim())
  const charsets = parameters.flatMap((text) => /^charset=(.*)$/i.exec(text)?.slice(1) ?? [])
  const isUtf8 = charsets.every((charset) => /^("?)utf-?8\1$/i.test(charset))
  if (type.toLowerCase() === 'application/json' && isUtf8) return
  const came =
    contentType === undefined ? 'no content type' : JSON.stringify(contentType.slice(0, 100))
  throw new AppError(
    'unsupported_media_type',
    `The body came with ${came}. Send UTF-8 JSON with the header "Content-Type: application/json".`,
    { extra: { accept: 'application/json' } },
  )
}

/** A client that goes away shows as a reset, or as an abort once the web stream has wrapped it. */
function isDisconnect(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ECONNRESET' || code === 'ABORT_ERR' || code === 'ERR_STREAM_PREMATURE_CLOSE'
}
