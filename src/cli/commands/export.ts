import { dirname, resolve } from 'node:path'
import { Argument, Command } from 'commander'
import type { ApiReader } from '../../client/client.ts'
import { allOf } from '../../client/pages.ts'
import { writeDurable } from '../../files/durable-write.ts'
import { decodeUtf8 } from '../../files/safe-read.ts'
import type { TriageRowJson } from '../../http/schemas/case.ts'
import { AppError } from '../../model/app-error.ts'
import { visibleText } from '../../model/visible-text.ts'
import { realFolder } from '../../settings/workdir.ts'
import { explain } from '../command.ts'
import { type CommandOptions, type ReadContext, withReader } from '../context.ts'
import { findWorkspace } from '../find-workspace.ts'
import { EXIT, type ExitCode, usageError } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { shownLine } from '../output/shown-line.ts'
import { ownTerminal } from '../output/terminal.ts'
import { resolveCase } from '../resolve/case.ts'
import { wholeCaseWithContents } from '../resolve/whole-case.ts'

/** Increased when a program that reads the lines would misread a new one. */
const EXPORT_VERSION = 1

/** How many cases are requested at the same time: each needs several requests. */
const MAX_CONCURRENT = 8

interface ExportOptions extends CommandOptions {
  html?: boolean
  md?: boolean
  inToto?: boolean
  output?: string
}

export function command(): Command {
  const exportCommand = new Command('export')
    .description('Print cases: as JSON lines, or one as a page to mail, print or keep.')
    .addArgument(new Argument('[case...]', 'Ids, starts of ids, or parts of titles. Default: all.'))
    .option('--html', 'One case as HTML that needs no other file: pictures, no scripts.')
    .option('--md', 'One case as Markdown, without pictures.')
    .option('-o, --output <file>', 'Write the page here. A name with .md is Markdown.')
    .option('--in-toto', 'Print an in-toto statement for each sealed session. Needs no service.')
    .action(run)
  return explain(exportCommand, {
    examples: [
      ['casefile export > cases.jsonl', 'All cases, oldest first.'],
      ['casefile export "sign-in" -o sign-in.html', 'A page to mail.'],
      ['casefile export c12d --md | less', 'Read it in the terminal.'],
      ['casefile export --in-toto > proved.jsonl', 'What each session proved.'],
    ],
    exits: [EXIT.unknown],
    more: 'Each line is a case with its sessions, proof and memory; docs/exchange.md describes it.',
  })
}

async function run(cases: string[], options: ExportOptions): Promise<void> {
  const { html, md, inToto, output } = options
  if ([html, md, inToto].filter((each) => each).length > 1) {
    throw usageError('Choose one of --html, --md and --in-toto.')
  }
  if (inToto && output !== undefined) throw usageError('--output is for a page of one case.')
  if (inToto) await printStatements(cases, options)
  else if (html || md || output !== undefined) {
    const [name] = cases
    if (name === undefined || cases.length > 1) throw usageError('A page has one case: name it.')
    await withReader(options, (context) => writePage(context, name, options))
  } else await withReader(options, (context) => exportCases(context, cases))
}

/** One case as one file. */
async function writePage(
  { client, terminal }: ReadContext,
  name: string,
  { html, md, output }: ExportOptions,
): Promise<ExitCode> {
  if (output !== undefined && (await realFolder(dirname(resolve(output)))) === null) {
    throw usageError(`The folder ${visibleText(dirname(output))} does not exist.`)
  }
  const isMarkdown = md === true || (!html && /\.(?:md|markdown)$/i.test(output ?? ''))
  const id = await resolveCase(client, name)
  const bytes = await client.bytesOf(`/cases/${id}/report?format=${isMarkdown ? 'md' : 'html'}`)
  if (output === undefined) {
    const text = new TextDecoder().decode(bytes)
    terminal.print(terminal.isTerminal ? text.split('\n').map(shownLine).join('\n') : text)
    return EXIT.done
  }
  await writeDurable(resolve(output), bytes)
  terminal.say(`Wrote ${output}`)
  return EXIT.done
}

/** Exits with 1 if a session is left out, and says why. */
async function printStatements(cases: string[], options: ExportOptions): Promise<void> {
  const { exportStatements } = await import('../../verify/export.ts')
  const { root, memoryRoot } = await findWorkspace(options)
  const { warn } = ownTerminal()
  const { missing, empty } = await exportStatements({ root, memoryRoot, cases }, (statement) =>
    writeLine(jsonText(statement, 0)),
  )
  for (const why of [...missing, ...empty]) warn(visibleText(why))
  if (missing.length > 0) process.exitCode = EXIT.failed
}

/** Prints the cases one by one, and requests the next ones while the output is read. */
async function exportCases(
  { client, terminal }: ReadContext,
  names: readonly string[],
): Promise<ExitCode> {
  const chosen = new Set<string>()
  for (const name of names) chosen.add(await resolveCase(client, name))
  let code: ExitCode = EXIT.done
  const rows = (await allOf<TriageRowJson>(client, '/triage')) // its rows are small
    .filter(({ id }) => names.length === 0 || chosen.has(id))
    .sort(oldestFirst)
  for await (const exported of mapInOrder(rows, MAX_CONCURRENT, ({ id }) =>
    exportCase(client, id),
  )) {
    if (exported === null) continue
    const { whole, memory, errors } = exported
    for (const error of errors) terminal.warn(`case ${whole.id}: ${error}`)
    if (errors.length > 0) code = EXIT.failed
    const line = jsonText({ export_version: EXPORT_VERSION, ...whole, memory }, 0)
    if (!(await writeLine(line))) break
  }
  return code
}

/** Null if the case was deleted meanwhile. */
async function exportCase(client: ApiReader, id: string) {
  const whole = await nullIfDeleted(wholeCaseWithContents(client, id))
  if (whole === null) return null
  const memory = []
  const errors: string[] = []
  for (const file of whole.memory) {
    const content = await readMemoryFile(client, id, file.filename)
    if (content === null) continue
    memory.push({ ...file, ...content })
    if ('error' in content) errors.push(content.error)
  }
  return { whole, memory, errors }
}

/** Yields the result for each item in order; works on up to `concurrent` items at the same time. */
async function* mapInOrder<T, R>(
  items: readonly T[],
  concurrent: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const running: Promise<R>[] = []
  for (const item of items) {
    const result = work(item)
    result.catch(() => {}) // reported when its turn comes
    running.push(result)
    if (running.length >= concurrent) yield running.shift()!
  }
  yield* running
}

function oldestFirst(a: TriageRowJson, b: TriageRowJson): number {
  const key = ({ created_at, id }: TriageRowJson) => `${created_at} ${id}`
  return key(a) < key(b) ? -1 : 1
}

type Content = { text: string } | { base64: string } | { error: string }

/** Null if the file was deleted meanwhile. */
async function readMemoryFile(
  client: ApiReader,
  id: string,
  filename: string,
): Promise<Content | null> {
  try {
    const bytes = await nullIfDeleted(
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

/** Resolves to null if the case or file was deleted meanwhile. */
async function nullIfDeleted<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null
    throw error
  }
}

/** Writes to standard output. Resolves when it accepts more; to false once its reader has closed it. */
async function writeLine(text: string): Promise<boolean> {
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
