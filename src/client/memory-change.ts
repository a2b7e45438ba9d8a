import { createKeyedMutex } from '../files/keyed-mutex.ts'
import { decodeUtf8 } from '../files/safe-read.ts'
import { AppError } from '../model/app-error.ts'
import type { Answer, Client } from './client.ts'

/** An attempt fails only if another writer was faster, so this many writers at once can all succeed. */
const ATTEMPTS = 50

/** Changes in this process wait for each other instead of failing. */
const turns = createKeyedMutex()

/**
 * Writes a memory file. `change` gets its present text, null if the file does not exist. If another writer changes the
 * file meanwhile, `change` runs again with the new text, so nothing is lost.
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
      await client.request('GET', path) // throws the error of the service
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

/** Keeps a byte order mark. Throws for bytes that are not UTF-8, because saving them would change them. */
export function textOf(bytes: Uint8Array, what: string): string {
  const read = decodeUtf8(bytes)
  if (read.ok) return read.text
  throw new AppError(
    'bad_request',
    `${what} is not UTF-8 text (line ${read.line}), so nothing was added. Save it as UTF-8, then try again.`,
  )
}

/** Adds paragraphs to the end of a text; the text itself stays the same, byte for byte. */
export function withParagraphs(present: string, paragraphs: readonly string[]): string {
  const newline = present.includes('\r\n') ? '\r\n' : '\n'
  const added = paragraphs.join(`${newline}${newline}`)
  return `${present}${newline.repeat(missingBreaks(present))}${added}${newline}`
}

/** How many line ends the text needs to end with a blank line. */
function missingBreaks(text: string): 0 | 1 | 2 {
  const lines = text.replace(/^\ufeff/, '').split('\n')
  const last = lines.at(-1)!
  if (last.trim() !== '') return 2
  const before = lines.at(-2) ?? ''
  return last !== '' || before.trim() !== '' ? 1 : 0
}
