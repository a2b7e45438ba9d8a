import type { ApiReader } from '../../client/client.ts'
import { decodeUtf8 } from '../../files/safe-read.ts'
import { Refusal } from '../../model/refusal.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { type WholeCase, wholeCaseWithContents } from '../resolve/whole-case.ts'
import type { ReadingConsole } from '../reading/reading-console.ts'
import { jsonText } from '../output/json.ts'

/** Counts up where a program that reads the lines would take a new one for something else. */
const EXPORT_VERSION = 1

interface Row {
  id: string
  created_at: string
}

/** So many cases are in memory: a running service answers for each several times, and would be waited for each time. */
const AHEAD = 8

/**
 * `casefile export`: each case with all that belongs to it, as a line of JSON. What follows is asked for as the reader
 * takes what is there.
 */
export async function exportCases({ client, terminal }: ReadingConsole): Promise<ExitCode> {
  const { body } = await client.request('GET', '/triage') // rows are small, whatever the cases hold
  let code: ExitCode = EXIT.done
  const rows = (body as Row[]).toSorted(oldestFirst)
  for await (const exported of inOrder(rows, AHEAD, ({ id }) => exportedCase(client, id))) {
    if (exported === null) continue
    const { whole, memory, errors } = exported
    for (const error of errors) terminal.warn(`case ${whole.id}: ${error}`)
    if (errors.length > 0) code = EXIT.refused
    const line = jsonText({ export_version: EXPORT_VERSION, ...whole, memory }, 0)
    if (!(await written(line))) break
  }
  return code
}

/** Null where the case is gone since it was listed. */
async function exportedCase(client: ApiReader, id: string) {
  const whole = await unlessGone(wholeCaseWithContents(client, id))
  if (whole === null) return null
  const memory = []
  const errors: string[] = []
  for (const file of whole.memory) {
    const content = await contentOf(client, id, file.filename)
    if (content === null) continue
    memory.push({ ...file, ...content })
    if ('error' in content) errors.push(content.error)
  }
  return { whole, memory, errors }
}

/** What comes of each item, in their order, while the work for as many as `ahead` goes on. */
async function* inOrder<T, R>(
  items: readonly T[],
  ahead: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const going: Promise<R>[] = []
  for (const item of items) {
    const begun = work(item)
    begun.catch(() => {}) // its turn to be told comes
    going.push(begun)
    if (going.length >= ahead) yield going.shift()!
  }
  yield* going
}

/** So that what is new comes last. */
function oldestFirst(a: Row, b: Row): number {
  const key = ({ created_at, id }: Row) => `${created_at} ${id}`
  return key(a) < key(b) ? -1 : 1
}

type Content = { text: string } | { base64: string } | { error: string }

/** Null where the file is gone since it was listed. */
async function contentOf(client: ApiReader, id: string, filename: string): Promise<Content | null> {
  try {
    const bytes = await unlessGone(
      client.bytesOf(`/cases/${id}/memory/${encodeURIComponent(filename)}`),
    )
    if (bytes === null) return null
    const decoded = decodeUtf8(bytes)
    return decoded.ok ? { text: decoded.text } : { base64: Buffer.from(bytes).toString('base64') }
  } catch (error) {
    if (error instanceof Refusal && error.code === 'unreadable_file')
      return { error: error.message }
    throw error
  }
}

/** A case or file that somebody removes meanwhile is in no export. */
async function unlessGone<T extends WholeCase | Uint8Array>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof Refusal && error.code === 'not_found') return null
    throw error
  }
}

/** Resolves when there is room for more; false where nothing is taken any more. */
async function written(text: string): Promise<boolean> {
  const { stdout } = process
  if (!stdout.write(text) && !stdout.destroyed) {
    await new Promise<void>((resolve) => {
      const done = () => {
        stdout.off('drain', done).off('close', done)
        resolve()
      }
      stdout.on('drain', done).on('close', done)
    })
  }
  return !stdout.destroyed && stdout.errored === null
}
