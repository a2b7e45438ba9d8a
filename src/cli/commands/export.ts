import type { Asking } from '../../client/client.ts'
import { Refusal } from '../../model/refusal.ts'
import { decodeUtf8 } from '../../workspace/disk/safe-read.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { type WholeCase, wholeCase } from '../named/whole-case.ts'
import type { ReadingConsole } from '../reading/reading-console.ts'
import { jsonText } from '../text/json-text.ts'

/** Counts up where a program that reads the lines would take a new one for something else. */
const EXPORT_VERSION = 1

interface Row {
  id: string
  created_at: string
}

/**
 * `casefile export`: each case with all that belongs to it, as a line of JSON. One case at a time is in memory, and
 * the next is asked for when the reader has taken it.
 */
export async function exportCases({ client, terminal }: ReadingConsole): Promise<ExitCode> {
  const { body } = await client.ask('GET', '/triage') // rows are small, whatever the cases hold
  let code: ExitCode = EXIT.done
  for (const { id } of (body as Row[]).toSorted(oldestFirst)) {
    const whole = await unlessGone(wholeCase(client, id))
    if (whole === null) continue
    const memory = []
    for (const file of whole.memory) {
      const content = await contentOf(client, id, file.filename)
      if (content === null) continue
      memory.push({ ...file, ...content })
      if ('error' in content) {
        terminal.warn(`case ${id}: ${content.error}`)
        code = EXIT.refused
      }
    }
    const line = jsonText({ export_version: EXPORT_VERSION, ...whole, memory }, 0)
    if (!(await written(line))) break
  }
  return code
}

/** So that what is new comes last. */
function oldestFirst(a: Row, b: Row): number {
  const key = ({ created_at, id }: Row) => `${created_at} ${id}`
  return key(a) < key(b) ? -1 : 1
}

type Content = { text: string } | { base64: string } | { error: string }

/** Null where the file is gone since it was listed. */
async function contentOf(client: Asking, id: string, filename: string): Promise<Content | null> {
  try {
    const bytes = await unlessGone(client.bytesOf(`/cases/${id}/memory/${filename}`))
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

/** Resolves when there is room for more; false where nobody reads any more. */
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
  return !stdout.destroyed
}
