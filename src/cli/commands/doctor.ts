import { Command } from 'commander'
import type { TestDeliveryJson, WebhookJson } from '../../http/schemas/webhook.ts'
import { AppError } from '../../model/app-error.ts'
import { visibleText } from '../../model/visible-text.ts'
import type { HeardConversation } from '../../runners/agents/install/levels.ts'
import { type FolderOptions, findFolders } from '../../settings/folders.ts'
import { explain } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { isWorkspace, rootOf } from '../find-workspace.ts'
import { EXIT, type ExitCode, usageError } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { ownTerminal } from '../output/terminal.ts'
import { wrapped } from '../output/wrapped.ts'
import { requirePersistentService } from '../persistent-service.ts'
import { confirm } from '../question.ts'

interface Options extends CommandOptions {
  check?: boolean
  fix?: boolean
  trust?: boolean
  notify?: boolean
  yes?: boolean
}

/** The options of a doctor, with the folder of the workspace. */
type Here = FolderOptions & { json?: boolean }

export function command(): Command {
  const doctor = new Command('doctor')
    .summary('Check agents, settings and files; fix files, trust settings.')
    .description('Check which providers can plan here, and the files. Needs no service.')
    .option('--check', 'Only check the files.')
    .option('--fix', 'Fix what has one right solution in the files, and check them.')
    .option('--trust', 'Show what needs your trust, and trust it.')
    .option('--yes', 'With --trust: do not ask.')
    .option('--notify', 'Send a test to each entry of notify in casefile.md.')
    .action((options: Options) => run(options))
  return explain(doctor, {
    examples: [
      ['casefile doctor', 'Exits with 1 if something needs you.'],
      ['casefile doctor --fix', 'Fix what can be fixed, then list the rest.'],
      ['casefile doctor --trust', 'Read the list, answer y.'],
    ],
    more: 'Settings, working folders and agent files of a project take effect only once they are trusted. With --check and --fix: 0 no problems, 1 there are problems, 2 it could not check. For --notify the running service sends.',
  })
}

async function run({ check, fix, trust, notify, yes, ...options }: Options): Promise<void> {
  if ([check || fix, trust, notify].filter((each) => each).length > 1) {
    throw usageError('Choose one of --check, --fix, --trust and --notify.')
  }
  if (yes && !trust) throw usageError('--yes needs --trust.')
  if (notify) return withService(options, testNotify)
  const here: Here = { ...options, root: await rootOf(options) }
  if (trust) process.exitCode = await trustHere({ ...here, yes: yes ?? false })
  else if (check || fix) process.exitCode = await checkFiles({ ...here, fix: fix ?? false })
  else process.exitCode = options.json ? await asJson(here) : await examineAll(here)
}

async function checkFiles(options: Here & { fix?: boolean }): Promise<number> {
  const { check } = await import('../../check/check-command.ts')
  const { print, width } = ownTerminal()
  return check(options, (text) => print(wrapped(text, width(), '    ')))
}

/** The providers, then the files. */
async function examineAll(options: Here): Promise<number> {
  const { print, warn, width } = ownTerminal()
  const { doctor } = await import('../../doctor/doctor-command.ts')
  const terminal = { print: (text: string) => print(wrapped(text, width(), '    ')), warn }
  const code = await doctor(options, terminal, process.env, await heardHere(options))
  print('\nfiles\n')
  if (!(await hasFiles(options))) {
    print('none yet; set up a workspace with: casefile init\n')
    return code
  }
  return Math.max(code, (await checkFiles(options)) === 0 ? EXIT.done : EXIT.failed)
}

async function hasFiles({ root, memoryRoot }: Here): Promise<boolean> {
  return memoryRoot !== undefined || isWorkspace(root)
}

/** What a running service has heard of agents in terminals; a doctor needs none. */
async function heardHere(options: Here): Promise<readonly HeardConversation[]> {
  const folders = await findFolders(options, process.env)
  const { findHeard } = await import('../heard.ts')
  try {
    return (await findHeard(folders)).conversations
  } catch (error) {
    if (error instanceof AppError) return []
    throw error
  }
}

async function asJson(options: Here): Promise<ExitCode> {
  const { print, warn } = ownTerminal()
  const [{ openWorkspaceFolders }, { examine }, { handshakes }, { checkWorkspace }] =
    await Promise.all([
      import('../../settings/workspace-folders.ts'),
      import('../../doctor/examination.ts'),
      import('../../doctor/handshakes.ts'),
      import('../../check/check-command.ts'),
    ])
  const places = await openWorkspaceFolders(options, process.env, warn)
  const found = await examine(places, process.env, await heardHere(options))
  const tried = []
  for await (const each of handshakes(places, process.env)) tried.push(each)
  const standard = tried.find(({ id }) => id === found.standard)?.handshake
  const isUsable =
    found.objection === null && (!standard || (standard.ok && standard.planMode !== null))
  const isThere = await hasFiles(options)
  const problems = isThere ? (await checkWorkspace(options, process.env)).findings : []
  print(jsonText({ usable: isUsable, ...found, handshakes: tried, problems }))
  return isUsable && problems.length === 0 ? EXIT.done : EXIT.failed
}

/** With `json`, text for people goes to standard error. */
async function trustHere(options: Here & { yes: boolean }): Promise<number> {
  const { print, warn, canAsk } = ownTerminal()
  const { signal } = new AbortController()
  const { trust } = await import('../../trust/trust-command.ts')
  const code = await trust(options, {
    print: options.json ? (text) => void process.stderr.write(text) : print,
    warn,
    ask: canAsk && !options.json ? (question) => confirm(question, signal) : null,
  })
  if (options.json) print(jsonText({ trusted: code === 0 }))
  return code
}

async function testNotify(context: CommandContext): Promise<ExitCode> {
  const { client, terminal, json } = context
  requirePersistentService(context, 'run')
  const webhooks: WebhookJson[] = (await client.request('GET', '/webhooks')).body
  const targets = webhooks.filter(({ notify }) => notify !== undefined)
  const results = []
  for (const { id, notify, url } of targets) {
    const sent: TestDeliveryJson = (await client.request('POST', `/webhooks/${id}/test`)).body
    results.push({ notify, url, ...sent })
    if (json) continue
    const answer = sent.delivered ? 'sent' : `not sent: ${visibleText(sent.error ?? 'no answer')}`
    terminal.print(`${[notify, visibleText(url)].join(' ').trim()}  ${answer}\n`)
  }
  if (json) terminal.print(jsonText(results))
  else if (targets.length === 0) {
    terminal.say(
      'casefile.md has no notify that is trusted\nNext: add one (docs/settings.md), then casefile doctor --trust',
    )
  }
  const isFine = results.length > 0 && results.every(({ delivered }) => delivered)
  return isFine ? EXIT.done : EXIT.failed
}
