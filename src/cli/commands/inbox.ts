import { dirname, relative } from 'node:path'
import { Command } from 'commander'
import type { InboxItemJson, InboxJson } from '../../http/schemas/inbox.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import { createInbox } from '../../inbox/inbox.ts'
import { AppError } from '../../model/app-error.ts'
import { NEED_LABELS } from '../../model/state-groups.ts'
import { visibleText } from '../../model/visible-text.ts'
import { stateFolders } from '../../state/state-folder.ts'
import { explain } from '../command.ts'
import { type CommandContext, type CommandOptions, untilSignal, withService } from '../context.ts'
import { findWorkspace } from '../find-workspace.ts'
import { EXIT, type ExitCode, exiting, usageError } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { sayStatus } from '../output/status-text.ts'
import { table } from '../output/table.ts'
import { ownTerminal, type Terminal } from '../output/terminal.ts'
import { ago } from '../output/times.ts'
import { ask } from '../question.ts'

interface Options extends CommandOptions {
  watch?: boolean
}

export function command(): Command {
  const inbox = new Command('inbox')
    .description('List what waits in all your workspaces, or decide items.')
    .argument(
      '[item...]',
      'The item to decide: its number in the list, or the start of its case id; several plans are approved in one act.',
    )
    .option('--watch', 'Print the list again whenever it changes, until Ctrl-C.')
    .action(run)
  return explain(inbox, {
    examples: [
      ['casefile inbox', 'Plans, questions, failures and proof, newest first.'],
      ['casefile inbox 1', 'Read the newest one and decide it.'],
      ['casefile inbox 1 2 3', 'Read three plans, answer once.'],
      ['casefile inbox --watch --json', 'One list per line, for programs.'],
    ],
    more: 'Workspaces are found by their state folders. A decision is sent to the service of the workspace, which must run.',
    exits: [EXIT.unknown, EXIT.notApproved],
  })
}

async function run(words: readonly string[], options: Options): Promise<void> {
  const terminal = ownTerminal()
  let chosen: Chosen[] = []
  await untilSignal(async ({ signal }) => {
    const inbox = createInbox({ around: await stateFoldersOf(options), log: terminal.warn })
    if (options.watch) return watch(inbox, terminal, options.json ?? false, signal)
    const list = await inbox.read('')
    if (words.length > 0) chosen = [...new Set(words)].map((word) => find(list, word))
    else if (options.json) terminal.print(jsonText(list))
    else print(list, terminal)
    return EXIT.done
  })
  const [first, second] = chosen
  if (second) await approveAll(chosen, options)
  else if (first) await decide(first, options)
}

/** The folder with the state folders: that of the workspace here, else the default. */
async function stateFoldersOf(options: Options): Promise<string> {
  try {
    return dirname((await findWorkspace(options)).stateDir)
  } catch (error) {
    if (!(error instanceof AppError) || options.root !== undefined) throw error
    return stateFolders(process.env)
  }
}

async function watch(
  inbox: ReturnType<typeof createInbox>,
  terminal: Terminal,
  json: boolean,
  signal: AbortSignal,
): Promise<ExitCode> {
  const stop = inbox.watch('', (list) => {
    if (json) terminal.print(`${JSON.stringify(list)}\n`)
    else {
      if (terminal.isTerminal) terminal.print('\u001b[H\u001b[2J')
      print(list, terminal)
    }
  })
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
  stop()
  return EXIT.done
}

function print({ items, workspaces }: InboxJson, terminal: Terminal): void {
  const { color, isTerminal, width } = terminal
  const rows = items.map((item, index) => [
    { text: String(index + 1), paint: color.cyan },
    { text: labelOf(item), paint: item.kind === 'failed' ? color.red : color.yellow },
    { text: visibleText(item.title), paint: color.bold },
    { text: visibleText(item.text) },
    { text: visibleText([item.workspace, item.branch].filter(Boolean).join(' ')) },
    { text: item.agent ?? '', paint: color.dim },
    { text: (item.since && (isTerminal ? ago(item.since) : item.since)) ?? '', paint: color.dim },
    ...(isTerminal ? [] : [{ text: item.url ?? item.case_id }]),
  ])
  const cuts = [
    [TEXT, 16],
    [TITLE, 20],
    [TEXT, 0],
    [TITLE, 12],
  ] as const
  terminal.print(table(rows, { width: width(), cuts }))
  if (items.length === 0) terminal.say('nothing needs you')
  for (const { root, message } of workspaces)
    if (message !== null) terminal.say(visibleText(`${root}: ${message}`))
}

const [TITLE, TEXT] = [2, 3]

function labelOf({ kind }: InboxItemJson): string {
  return kind === 'verify' ? 'Verify' : NEED_LABELS[kind]
}

interface Chosen {
  item: InboxItemJson
  workspace: InboxJson['workspaces'][number]
}

function find({ items, workspaces }: InboxJson, word: string): Chosen {
  const byId = items.filter(({ case_id }) => word.length >= 4 && case_id.startsWith(word))
  const item = byId.length === 1 ? byId[0] : items[Number(word) - 1]
  const workspace = workspaces.find(({ root }) => root === item?.root)
  if (item && workspace) return { item, workspace }
  const message = `No item of the inbox is "${visibleText(word)}". Next: casefile inbox`
  throw exiting(EXIT.unknown, new AppError('not_found', message))
}

/** Runs `work` with the service that owns an item; a plan comes as its session. */
async function withOwner(
  { item: { root, kind, case_id, session_id, url }, workspace }: Chosen,
  { json = false }: Options,
  work: (context: CommandContext, session: SessionJson | null) => Promise<ExitCode>,
): Promise<void> {
  if (url === null) throw new AppError('bad_request', `${root}: ${workspace.message}`)
  if (kind === 'plan' && (json || !ownTerminal().canAsk))
    throw usageError('The plan is shown before it is approved, which needs a terminal.')
  await withService({ root, memoryRoot: workspace.memory_root, json }, async (context) => {
    if (context.isOwn()) throw new AppError('stopping', `The service of ${root} has ended.`)
    const path = `/cases/${case_id}/sessions/${session_id}`
    return work(context, kind === 'plan' ? (await context.client.request('GET', path)).body : null)
  })
}

/** The services of all items stay connected until the one question is answered. */
async function approveAll(chosen: readonly Chosen[], options: Options): Promise<void> {
  const other = chosen.find(({ item }) => item.kind !== 'plan')
  if (other) throw usageError(`${visibleText(other.item.title)}: only plans are decided together.`)
  const { approveTogether } = await import('./approve.ts')
  const plans: { context: CommandContext; session: SessionJson }[] = []
  async function next(): Promise<ExitCode> {
    const each = chosen[plans.length]
    if (!each) return approveTogether(plans, {})
    let code: ExitCode = EXIT.notApproved
    await withOwner(each, options, async (context, session) => {
      plans.push({ context, session: session! })
      code = await next()
      return code
    })
    return code
  }
  await next()
}

/** Decides an item by a request to the service that owns it. */
async function decide(chosen: Chosen, options: Options): Promise<void> {
  const { item } = chosen
  const { root, kind, case_id, url } = item
  await withOwner(chosen, options, async (context, session) => {
    const { client, terminal, signal } = context
    if (session) {
      const { approveSession } = await import('./approve.ts')
      return approveSession(context, session, { detach: true })
    }
    terminal.print(
      `${visibleText(item.title)}\n${labelOf(item)}: ${visibleText(item.text)}\n${url}\n`,
    )
    if (kind !== 'question' || !terminal.canAsk) {
      const isHere = !relative(root, process.cwd()).startsWith('..')
      if (!isHere) terminal.say(visibleText(`In ${root}:`))
      await sayStatus(context, case_id)
      return EXIT.done
    }
    const text = await ask('Your answer (empty: none): ', signal)
    if (!text) return EXIT.done
    await client.request('POST', `/cases/${case_id}/answer`, { body: { text } })
    terminal.say('answered')
    return EXIT.done
  })
}
