import { Command } from 'commander'
import type { ApiReader } from '../../client/client.ts'
import { decodeUtf8 } from '../../files/safe-read.ts'
import type { TriageRowJson } from '../../http/schemas/case.ts'
import { AppError } from '../../model/app-error.ts'
import { explain } from '../command.ts'
import { type CommandOptions, type ReadContext, withReader } from '../context.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { type WholeCase, wholeCaseWithContents } from '../resolve/whole-case.ts'

/** Increased when a program that reads the lines would misread a new one. */
const EXPORT_VERSION = 1

/** How many cases are requested at the same time: each needs several requests. */
const AHEAD = 8

export function command(): Command {
  const all = new Command('export')
    .description('Print every case with its sessions, proof and memory, one line of JSON each.')
    .action((options: CommandOptions) => withReader(options, exportCases))
  return explain(all, {
    examples: [
      ['casefile export > cases.jsonl', 'Oldest case first.'],
      ["casefile export | jq -r 'select(.gate.open) | .title'", 'Use it in a script.'],
    ],
    more: 'With --json, errors are JSON too. docs/exchange.md describes the lines.',
  })
}

/** Requests further cases while the reader takes the first ones. */
async function exportCases({ client, terminal }: ReadContext): Promise<ExitCode> {
  const { body } = await client.request('GET', '/triage') // its rows are small
  let code: ExitCode = EXIT.done
  const rows = (body as TriageRowJson[]).toSorted(oldestFirst)
  for await (const exported of inOrder(rows, AHEAD, ({ id }) => exportedCase(client, id))) {
    if (exported === null) continue
    const { whole, memory, errors } = exported
    for (const error of errors) terminal.warn(`case ${whole.id}: ${error}`)
    if (errors.length > 0) code = EXIT.failed
    const line = jsonText({ export_version: EXPORT_VERSION, ...whole, memory }, 0)
    if (!(await written(line))) break
  }
  return code
}

/** Null if the case was deleted meanwhile. */
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

/** Yields the result for each item in order, and works ahead on the next items. */
async function* inOrder<T, R>(
  items: readonly T[],
  ahead: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const going: Promise<R>[] = []
  for (const item of items) {
    const begun = work(item)
    begun.catch(() => {}) // reported when its turn comes
    going.push(begun)
    if (going.length >= ahead) yield going.shift()!
  }
  yield* going
}

function oldestFirst(a: TriageRowJson, b: TriageRowJson): number {
  const key = ({ created_at, id }: TriageRowJson) => `${created_at} ${id}`
  return key(a) < key(b) ? -1 : 1
}

type Content = { text: string } | { base64: string } | { error: string }

/** Null if the file was deleted meanwhile. */
async function contentOf(client: ApiReader, id: string, filename: string): Promise<Content | null> {
  try {
    const bytes = await unlessGone(
      client.bytesOf(`/cases/${id}/memory/${encodeURIComponent(filename)}`),
    )
    if (bytes === null) return null
    const decoded = decodeUtf8(bytes)
    return decoded.ok ? { text: decoded.text } : { base64: Buffer.from(bytes).toString('base64') }
  } catch (error) {
    if (error instanceof AppError && error.code === 'unreadable_file')
      return { error: error.message }
    throw error
  }
}

/** Null for a case or file that was deleted meanwhile. */
async function unlessGone<T extends WholeCase | Uint8Array>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null
    throw error
  }
}

/** Resolves when the output accepts more; false once the reader has closed it. */
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
