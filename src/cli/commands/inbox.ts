import { dirname } from 'node:path'
import { Command } from 'commander'
import type { InboxItemJson, InboxJson } from '../../http/schemas/inbox.ts'
import { createInbox } from '../../inbox/inbox.ts'
import { AppError } from '../../model/app-error.ts'
import { NEED_LABELS } from '../../model/state-groups.ts'
import { visibleText } from '../../model/visible-text.ts'
import { stateFolders } from '../../state/state-folder.ts'
import { explain } from '../command.ts'
import { type CommandOptions, untilSignal, withService } from '../context.ts'
import { findWorkspace } from '../find-workspace.ts'
import { EXIT, type ExitCode, exiting } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { table } from '../output/table.ts'
import { ownTerminal, type Terminal } from '../output/terminal.ts'
import { ago } from '../output/times.ts'
import { ask } from '../question.ts'

interface Options extends CommandOptions {
  watch?: boolean
}

export function command(): Command {
  const inbox = new Command('inbox')
    .description('List what waits in all your workspaces, or decide one item.')
    .argument('[item]', 'The item to decide: its number in the list, or the start of its case id.')
    .option('--watch', 'Print the list again whenever it changes, until Ctrl-C.')
    .action(run)
  return explain(inbox, {
    examples: [
      ['casefile inbox', 'Plans, questions, failures and proof, newest first.'],
      ['casefile inbox 1', 'Read the newest one and decide it.'],
      ['casefile inbox --watch --json', 'One list per line, for programs.'],
    ],
    more: 'Workspaces are found by their state folders. A decision is sent to the service of the workspace, which must run.',
    exits: [EXIT.unknown, EXIT.notApproved],
  })
}

async function run(word: string | undefined, options: Options): Promise<void> {
  const terminal = ownTerminal()
  let chosen: Chosen | null = null
  await untilSignal(async ({ signal }) => {
    const inbox = createInbox({ around: await stateFoldersOf(options), log: terminal.warn })
    if (options.watch) return watch(inbox, terminal, options.json ?? false, signal)
    const list = await inbox.read('')
    if (word !== undefined) chosen = find(list, word)
    else if (options.json) terminal.print(jsonText(list))
    else print(list, terminal)
    return EXIT.done
  })
  if (chosen) await decide(chosen, options)
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

/** Decides an item by a request to the service that owns it. */
async function decide({ item, workspace }: Chosen, options: Options): Promise<void> {
  const { root, kind, case_id, url } = item
  const folders = { root, memoryRoot: workspace.memory_root }
  if (url === null) throw new AppError('bad_request', `${root}: ${workspace.message}`)
  await withService({ ...folders, json: options.json ?? false }, async (context) => {
    const { client, terminal, signal } = context
    if (context.isOwn()) throw new AppError('stopping', `The service of ${root} has ended.`)
    if (kind === 'plan') {
      const { approveSession } = await import('./approve.ts')
      const { body } = await client.request('GET', `/cases/${case_id}/sessions/${item.session_id}`)
      return approveSession(context, body, { detach: true })
    }
    terminal.print(
      `${visibleText(item.title)}\n${labelOf(item)}: ${visibleText(item.text)}\n${url}\n`,
    )
    if (kind !== 'question' || !terminal.canAsk) return EXIT.done
    const text = await ask('Your answer (empty: none): ', signal)
    if (!text) return EXIT.done
    await client.request('POST', `/cases/${case_id}/answer`, { body: { text } })
    terminal.say('answered')
    return EXIT.done
  })
}
