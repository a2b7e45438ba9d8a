import type * as z from 'zod'
import { AppError } from '../model/app-error.ts'
import type { ServiceContext } from './context.ts'
import { parseJsonObject } from './json-text.ts'
import { parseBody } from './schemas/parse-fields.ts'

const MIB = 1024 * 1024
const MAX_JSON_BYTES = MIB

/** How much of a rejected body is read and discarded, so that the client can read the response. */
const DRAIN = { bytes: 64 * MIB, ms: 15_000 }

/** Reads the next piece of a body. */
type Next = () => Promise<{ done?: boolean | undefined; value?: Uint8Array | undefined }>

/**
 * The whole body. Never holds more than `maxBytes` and one chunk. Throws `too_large`, and `unsupported_media_type` for a
 * compressed body.
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
    const message = 'The connection was closed before the whole body arrived. Send it again.'
    throw new AppError('bad_request', message, { cause: error })
  }
}

/** Reads node's stream: a web stream around it would cost more than the rest of a small request. */
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
 * The body as the schema returns it. An empty body is read as `{}`, with any content type, so that the schema names the
 * missing fields. Throws `unsupported_media_type`, `invalid_json`, `bad_request` or `too_large`.
 */
export async function readJson<T>(
  c: ServiceContext,
  schema: z.ZodType<T>,
  { maxBytes = MAX_JSON_BYTES } = {},
): Promise<T> {
  const bytes = await readBytes(c, maxBytes)
  if (bytes.byteLength === 0) return parseBody(schema, {})
  requireJson(c.req.header('content-type'))
  return parseBody(schema, parseJsonObject(bytes))
}

/** Throws `too_large` if one text of a body is over its own limit. */
export function mustFit(name: string, text: string, maxBytes: number, advice = ''): void {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxBytes) return
  const limit = maxBytes < MIB ? `${maxBytes / 1024} KiB` : `${maxBytes / MIB} MiB`
  const message = `The ${name} has ${bytes} bytes; the limit is ${limit}. ${advice}`
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
  const came = await discard(next, total, drain)
  const message = `The body has ${contentLength ?? came} bytes; the limit is ${maxBytes}. Send a smaller one.`
  throw new AppError('too_large', message)
}

/** Discards the rest. Returns how many bytes there were, in words. */
async function discard(next: Next, already: number, drain: typeof DRAIN): Promise<string> {
  let total = already
  let stop = () => {}
  const timer = setTimeout(() => stop(), drain.ms)
  try {
    while (total <= drain.bytes) {
      // no race with one shared promise: that would keep every piece in memory until the end
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

/** Throws for a content coding (RFC 9110 §8.4): no body is decompressed. */
function requirePlain(encoding = ''): void {
  if (encoding.split(',').every((coding) => /^(?:identity)?$/i.test(coding.trim()))) return
  const came = JSON.stringify(encoding.slice(0, 100))
  throw new AppError(
    'unsupported_media_type',
    `The body has the content coding ${came}. Send it uncompressed, without the header "Content-Encoding".`,
    { extra: { accept_encoding: 'identity' } },
  )
}

function requireJson(contentType: string | undefined): void {
  const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim())
  const charsets = parameters.flatMap((text) => /^charset=(.*)$/i.exec(text)?.slice(1) ?? [])
  const isUtf8 = charsets.every((charset) => /^("?)utf-?8\1$/i.test(charset))
  if (type.toLowerCase() === 'application/json' && isUtf8) return
  const came =
    contentType === undefined
      ? 'no content type'
      : `the content type ${JSON.stringify(contentType.slice(0, 100))}`
  throw new AppError(
    'unsupported_media_type',
    `The body has ${came}. Send UTF-8 JSON with the header "Content-Type: application/json".`,
    { extra: { accept: 'application/json' } },
  )
}

/** A disconnect is a reset, or an abort if a web stream has wrapped it. */
function isDisconnect(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ECONNRESET' || code === 'ABORT_ERR' || code === 'ERR_STREAM_PREMATURE_CLOSE'
}
