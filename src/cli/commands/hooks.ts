import { Argument, Command } from 'commander'
import { createClient } from '../../client/client.ts'
import { confirm } from '../../demo/question.ts'
import type { Place } from '../../hook-settings/agent-hooks.ts'
import type { SettingsChange } from '../../hook-settings/install.ts'
import type { HealthJson } from '../../http/schemas/system.ts'
import { AppError } from '../../model/app-error.ts'
import { visibleText } from '../../model/visible-text.ts'
import { explain, type ProgramContext } from '../command.ts'
import { findWorkspace, type WorkspaceOptions } from '../find-workspace.ts'
import { EXIT, type ExitCode, usageError } from '../output/exit-codes.ts'
import type { HeardByService } from '../output/hooks-text.ts'
import { jsonText } from '../output/json.ts'
import { changeText } from '../output/plan-change.ts'
import { ownTerminal, type Terminal } from '../output/terminal.ts'

interface Options extends WorkspaceOptions {
  json?: boolean
  yes?: boolean
}

interface PlaceOptions extends Options {
  local?: boolean
  project?: boolean
  user?: boolean
  strict?: boolean
}

/** Duplicates the ids of `HOOK_AGENTS`: importing them would load everything about settings for the help. */
const AGENT_NAMES = ['claude', 'codex', 'gemini', 'opencode', 'copilot']

/** `casefile hooks …`: the agent in your own terminal waits for you. */
export function command(_: ProgramContext): Command {
  const hooks = new Command('hooks').description(
    'Record and gate the agents that you run yourself, by their hooks.',
  )
  for (const each of [install(), status(), remove()]) hooks.addCommand(each)
  return hooks
}

function agentsArgument(otherwise: string): Argument {
  return new Argument('[agent...]', `Default: ${otherwise}.`).choices(AGENT_NAMES)
}

function withPlaces(command: Command): Command {
  return command
    .option('--local', 'In your own settings for this project. Default where an agent has them.')
    .option(
      '--project',
      'In the settings of the project: without Casefile, no agent of the project can use tools.',
    )
    .option('--user', 'In your own settings for all projects. Other projects are left alone.')
}

function install(): Command {
  const command = withPlaces(
    new Command('install')
      .description('Show what changes in the settings of your agents, ask, and write it.')
      .addArgument(agentsArgument('every agent on the PATH')),
  )
    .option('--strict', 'Only approvals in Casefile count, not those in the terminal.')
    .option('--yes', 'Write without asking.')
    .action(async (names: string[], options: PlaceOptions) => {
      process.exitCode = await run('install', names, options)
    })
  return explain(command, {
    examples: [
      ['casefile hooks install claude', 'Gate Claude Code in this workspace.'],
      ['casefile hooks install --user --yes', 'Gate every agent in all your terminals.'],
    ],
    exits: [EXIT.notApproved],
    more: 'Nothing else in the settings changes; casefile hooks remove restores them.',
  })
}

function remove(): Command {
  const command = withPlaces(
    new Command('remove')
      .description('Take the hooks out of the settings of your agents.')
      .addArgument(agentsArgument('every agent')),
  )
    .option('--yes', 'Write without asking.')
    .action(async (names: string[], options: PlaceOptions) => {
      process.exitCode = await run('remove', names, options)
    })
  return explain(command, {
    examples: [['casefile hooks remove', 'Take them out everywhere.']],
    exits: [EXIT.notApproved],
    more: 'Without --local, --project or --user: in all these places.',
  })
}

function status(): Command {
  const command = new Command('status')
    .description('Show where the hooks are installed, and what keeps them from working.')
    .action(async (options: Options) => {
      process.exitCode = await showStatus(options)
    })
  return explain(command, {
    examples: [['casefile hooks status', 'Does Casefile hear of your agents?']],
    more: 'Exits with 1 if hooks are missing or may not run.',
  })
}

async function showStatus(options: Options): Promise<ExitCode> {
  const terminal = ownTerminal()
  const folders = await findWorkspace(options)
  const [{ hooksReport }, { hooksText }, { askOwner }] = await Promise.all([
    import('../../hook-settings/status.ts'),
    import('../output/hooks-text.ts'),
    import('../../state/owner/ask-owner.ts'),
  ])
  const report = await hooksReport({ ...folders, environment: process.env })
  const owner = await askOwner(folders.memoryRoot)
  const url = (owner.held && owner.answer?.short !== true && owner.answer?.url) || null
  const { conversations, not_understood } = url === null ? NOTHING_HEARD : await heardBy(url)
  const service = url === null ? null : { url }
  const all = { ...report, service, conversations, not_understood }
  if (options.json) terminal.print(jsonText(all))
  else terminal.print(hooksText(report, { url, conversations, not_understood }, terminal))
  const isFine = report.hooks.every(
    ({ installed, warnings }) => installed === 'current' && warnings.length === 0,
  )
  return isFine && report.hooks.length > 0 ? EXIT.done : EXIT.failed
}

const NOTHING_HEARD: HeardByService = { conversations: [], not_understood: [] }

async function heardBy(url: string): Promise<HeardByService> {
  const client = createClient({ url }, AbortSignal.timeout(5000))
  const health: HealthJson = (await client.request('GET', '/health')).body
  const conversations = (await client.request('GET', '/conversations')).body
  return { conversations, not_understood: health.hooks_not_understood }
}

async function run(
  what: 'install' | 'remove',
  names: string[],
  options: PlaceOptions,
): Promise<ExitCode> {
  const terminal = ownTerminal()
  const [{ root, memoryRoot, stateDir }, agents, { planHooks, usualPlace, writeHooks }] =
    await Promise.all([
      findWorkspace(options),
      import('../../hook-settings/agents.ts'),
      import('../../hook-settings/hook-change.ts'),
    ])
  const [{ openStateFolder }, { createTrustFile }] = await Promise.all([
    import('../../state/state-folder.ts'),
    import('../../workspace/settings/trust-file.ts'),
  ])
  const hookPlaces = { root, stateDir, environment: process.env }
  const places = placesIn(options)
  const chosen =
    names.length > 0
      ? agents.HOOK_AGENTS.filter(({ id }) => names.includes(id))
      : what === 'remove'
        ? agents.HOOK_AGENTS
        : await agents.installedAgents(process.env, root)
  if (chosen.length === 0) {
    throw usageError(`No known agent is on the PATH. Name one: ${AGENT_NAMES.join(', ')}.`)
  }
  const isStrict = options.strict ?? false
  const changes: SettingsChange[] = []
  for (const agent of chosen) {
    const known = Object.keys(agent.files) as Place[]
    const wanted = places.length > 0 ? places : what === 'install' ? [usualPlace(agent)] : known
    for (const place of wanted) {
      const change = await planHooks({ what, agent, place, isStrict }, hookPlaces)
      if (change !== null) changes.push(change)
      else if (what === 'install') {
        const has = known.map((each) => `--${each}`).join(' or ')
        throw usageError(`${agent.title} has no --${place} settings. Use ${has}.`)
      }
    }
  }
  const open = changes.filter(({ before, after }) => before !== after)
  if (!options.json) for (const change of open) terminal.print(changeOf(terminal, change))
  if (open.length > 0 && !(await isAgreed(terminal, options))) {
    if (options.json) terminal.print(jsonText({ changes: [] }))
    else terminal.say('Nothing was written.')
    return EXIT.notApproved
  }
  await openStateFolder(stateDir, { memoryRoot })
  const trust = createTrustFile(stateDir, root, terminal.warn)
  await writeHooks(open, hookPlaces, { trust, script: what === 'install' })
  if (options.json) terminal.print(jsonText({ changes: changes.map(asJson) }))
  else if (open.length === 0) terminal.say(`Nothing to ${what}.`)
  else {
    for (const { path, after } of open) {
      terminal.say(`${after === null ? 'Removed' : 'Wrote'} ${visibleText(path)}`)
    }
    if (what === 'install') {
      const [{ shownByGit }, { hooksReport }] = await Promise.all([
        import('../../hook-settings/shown-by-git.ts'),
        import('../../hook-settings/status.ts'),
      ])
      for (const name of (await shownByGit(root, open)).map(visibleText)) {
        terminal.say(
          `It names folders of this machine; keep it out of git: add ${name} to .gitignore`,
        )
      }
      const { hooks } = await hooksReport(hookPlaces)
      for (const { agent, warnings } of hooks) {
        for (const each of warnings) terminal.warn(visibleText(`${agent}: ${each}`))
      }
      terminal.say(NEXT)
    }
  }
  return EXIT.done
}

const NEXT = `
Next:
  casefile serve          the hooks deny every tool while no service runs
  casefile use <case>     the case that you work on in this folder
  casefile hooks status   is it installed, trusted and heard?`

function placesIn(options: PlaceOptions): Place[] {
  const all: Place[] = ['local', 'project', 'user']
  return all.filter((place) => options[place])
}

function changeOf(terminal: Terminal, { path, realPath, before, after }: SettingsChange): string {
  const name = visibleText(path)
  const link = realPath === path ? '' : ` (a link to ${visibleText(realPath)})`
  const what = before === null ? ' (new)' : after === null ? ' (removed)' : ''
  return `${terminal.color.bold(name)}${link}${what}\n${changeText(terminal, shown(before), shown(after))}\n`
}

/** Without carriage returns, which would show at the end of every line. */
function shown(text: string | null): string {
  return (text ?? '').replaceAll('\r\n', '\n')
}

async function isAgreed({ canAsk }: Terminal, { yes, json }: Options): Promise<boolean> {
  if (yes) return true
  if (!canAsk || json) {
    throw new AppError(
      'bad_request',
      'There is no terminal to ask on. To write this without a question, add --yes.',
    )
  }
  return confirm('Write this? [y/N] ', new AbortController().signal)
}

function asJson({ agent, place, path, before, after }: SettingsChange) {
  const change = before === after ? 'none' : after === null ? 'removed' : 'written'
  return { agent: agent.id, place, file: path, change }
}
