import { createKeyedMutex } from '../files/keyed-mutex.ts'
import { decodeUtf8 } from '../files/safe-read.ts'
import { AppError } from '../model/app-error.ts'
import type { Answer, Client } from './client.ts'

/** Each that fails is one that somebody else made: who writes with many others waits for them at most. */
const ATTEMPTS = 50

/** Those of this process do not get in each other's way. */
const turns = createKeyedMutex()

/**
 * Writes a memory file as `change` makes it of its text, null where there is none yet. What somebody else
 * writes meanwhile is not lost: then `change` gets that.
 */
export function changeMemory(
  client: Client,
  path: string,
  change: (present: string | null) => string,
): Promise<Answer> {
  return turns.run(path, () => changed(client, path, change))
}

async function changed(
  client: Client,
  path: string,
  change: (present: string | null) => string,
): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const present = await client.rawRequest('GET', path)
    if (present.status !== 200 && present.status !== 404) {
      await client.request('GET', path) // refuses with what the service has to say
    }
    const isNew = present.status === 404
    const headers: Record<string, string> = isNew
      ? { 'if-none-match': '*' }
      : { 'if-match': present.etag ?? '*' }
    const filename = decodeURIComponent(path.slice(path.lastIndexOf('/') + 1))
    const body = change(isNew ? null : textOf(present.bytes, filename))
    try {
      return await client.request('PUT', path, { body, headers })
    } catch (error) {
      const isLate = error instanceof AppError && error.code === 'precondition_failed'
      if (!isLate || attempt === ATTEMPTS) throw error
    }
  }
}

/** A byte order mark stays; bytes that are no text would be saved as other ones. */
export function textOf(bytes: Uint8Array, what: string): string {
  const read = decodeUtf8(bytes)
  if (read.ok) return read.text
  throw new AppError(
    'bad_request',
    `${what} is not UTF-8 text (line ${read.line}), so nothing was noted. Save it in that encoding, then try again.`,
  )
}

/** A text with further paragraphs at its end; what stands there stays as it is, to the byte. */
export function withParagraphs(present: string, paragraphs: readonly string[]): string {
  const newline = present.includes('\r\n') ? '\r\n' : '\n'
  const added = paragraphs.join(`${newline}${newline}`)
  return `${present}${newline.repeat(missingBreaks(present))}${added}${newline}`
}

/** How many line ends a text lacks at its end for a blank line to stand there. */
function missingBreaks(text: string): 0 | 1 | 2 {
  const lines = text.replace(/^\ufeff/, '').split('\n')
  const last = lines.at(-1)!
  if (last.trim() !== '') return 2
  const before = lines.at(-2) ?? ''
  return last !== '' || before.trim() !== '' ? 1 : 0
}
