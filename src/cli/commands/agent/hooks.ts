import { Argument, Command } from 'commander'
import { AGENT_NAMES } from '../../../model/agent-names.ts'
import { AppError } from '../../../model/app-error.ts'
import { visibleText } from '../../../model/visible-text.ts'
import type { HookScope } from '../../../runners/agents/install/agent-hooks.ts'
import type { SettingsChange } from '../../../runners/agents/install/install.ts'
import { explain } from '../../command.ts'
import { findWorkspace, type WorkspaceOptions } from '../../find-workspace.ts'
import { EXIT, type ExitCode, usageError } from '../../output/exit-codes.ts'
import { jsonText } from '../../output/json.ts'
import { changeText } from '../../output/plan-change.ts'
import { ownTerminal, type Terminal } from '../../output/terminal.ts'
import { isAgreed } from '../../question.ts'

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

/** `casefile agent install`. */
export function installCommand(): Command {
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
      ['casefile agent install claude', 'Gate Claude Code in this workspace.'],
      ['casefile agent install --user --yes', 'Gate every agent in all your terminals.'],
    ],
    exits: [EXIT.notApproved],
    more: 'Nothing else in the settings changes; casefile agent remove restores them.',
  })
}

/** `casefile agent remove`. */
export function removeCommand(): Command {
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
    examples: [['casefile agent remove', 'Take them out everywhere.']],
    exits: [EXIT.notApproved],
    more: 'Without --local, --project or --user: in all these places.',
  })
}

/** `casefile agent test`. */
export function testCommand(): Command {
  const command = new Command('test')
    .description('Send the installed hooks writes and reads, and show what they deny.')
    .addArgument(agentsArgument('every agent with hooks'))
    .action(async (names: string[], options: Options) => {
      process.exitCode = await runTest(names, options)
    })
  return explain(command, {
    examples: [['casefile agent test claude', 'Exits with 1 unless it is gated.']],
    more: 'Starts no agent, and records nothing.',
  })
}

async function runTest(names: string[], options: Options): Promise<ExitCode> {
  const terminal = ownTerminal()
  const folders = await findWorkspace(options)
  const { root, stateDir } = folders
  if (process.env.CASEFILE_RUN) {
    const message =
      'Casefile started this terminal (CASEFILE_RUN is set), so hooks are silent in it. Run this in a terminal of your own.'
    throw new AppError('bad_request', message)
  }
  const heard = await (await import('../../heard.ts')).findHeard(folders)
  if (heard.url === null) {
    const message =
      'No service runs for this workspace, so its hooks cannot be tested. Start it with: casefile serve'
    throw new AppError('bad_request', message)
  }
  const [{ leveledReport }, { hooksReport }, { testHooks }, { testText }, { createTrustFile }] =
    await Promise.all([
      import('../../../runners/agents/install/levels.ts'),
      import('../../../runners/agents/install/status.ts'),
      import('../../../runners/agents/install/hook-tests.ts'),
      import('../../output/hooks-text.ts'),
      import('../../../settings/trust-file.ts'),
    ])
  const places = { root, stateDir, environment: process.env }
  const isChosen = ({ agent }: { agent: string }) => names.length === 0 || names.includes(agent)
  const trust = createTrustFile(stateDir, root, terminal.warn)
  const { hooks } = await hooksReport(places)
  const now = () => new Date().toISOString()
  if (hooks.some(isChosen)) terminal.say('Trying the hooks, also where nothing answers: about 15 s')
  const untrusted = await testHooks(hooks.filter(isChosen), places, { trust, now })
  const report = await leveledReport(places, heard.conversations)
  const tested = report.hooks.filter(isChosen)
  const missing = names.filter((name) => !tested.some(({ agent }) => agent === name))
  if (options.json) terminal.print(jsonText({ hooks: tested, not_installed: missing }))
  else terminal.print(testText({ hooks: tested }, terminal.width()))
  for (const file of untrusted.map(visibleText)) {
    terminal.warn(
      `${file} has commands that you have not trusted. Review it: casefile doctor --trust`,
    )
  }
  for (const agent of missing)
    terminal.warn(`${agent}: not installed: casefile agent install ${agent}`)
  if (tested.length === 0 && missing.length === 0) terminal.warn('No hooks are installed.')
  const isFine = tested.length > 0 && missing.length === 0
  return isFine && tested.every(({ level }) => level === 'gated') ? EXIT.done : EXIT.failed
}

/** `casefile agent status`. */
export function statusCommand(): Command {
  const command = new Command('status')
    .summary('Show whether the installed hooks work.')
    .description('Show what the installed hooks do, and what keeps them from working.')
    .action(async (options: Options) => {
      process.exitCode = await showStatus(options)
    })
  return explain(command, {
    examples: [['casefile agent status', 'Does Casefile hear of your agents?']],
    more: 'Exits with 1 if hooks are missing, may not run, or did not hold.',
  })
}

async function showStatus(options: Options): Promise<ExitCode> {
  const terminal = ownTerminal()
  const folders = await findWorkspace(options)
  const [{ leveledReport }, { hooksText }, { findHeard }] = await Promise.all([
    import('../../../runners/agents/install/levels.ts'),
    import('../../output/hooks-text.ts'),
    import('../../heard.ts'),
  ])
  const { url, conversations, not_understood } = await findHeard(folders)
  const report = await leveledReport({ ...folders, environment: process.env }, conversations)
  const service = url === null ? null : { url }
  const all = { ...report, service, conversations, not_understood }
  if (options.json) terminal.print(jsonText(all))
  else terminal.print(hooksText(report, { url, conversations, not_understood }, terminal))
  const isFine = report.hooks.every(
    ({ installed, level, warnings }) =>
      installed === 'current' &&
      warnings.length === 0 &&
      (level === 'gated' || level === 'untested'),
  )
  return isFine && report.hooks.length > 0 ? EXIT.done : EXIT.failed
}

async function run(
  what: 'install' | 'remove',
  names: string[],
  options: PlaceOptions,
): Promise<ExitCode> {
  const terminal = ownTerminal()
  const [{ root, memoryRoot, stateDir }, agents, { planHooks, usualScope, writeHooks }] =
    await Promise.all([
      findWorkspace(options),
      import('../../../runners/agents/install/hook-agents.ts'),
      import('../../../runners/agents/install/hook-change.ts'),
    ])
  const [{ openStateFolder }, { createTrustFile }] = await Promise.all([
    import('../../../state/state-folder.ts'),
    import('../../../settings/trust-file.ts'),
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
    const known = Object.keys(agent.files) as HookScope[]
    const wanted = places.length > 0 ? places : what === 'install' ? [usualScope(agent)] : known
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
  const { json = false, yes } = options
  const { signal } = new AbortController()
  const question = 'Write this? [y/N] '
  if (open.length > 0 && !(await isAgreed({ terminal, json, signal }, { yes, question }))) {
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
        import('../../../runners/agents/install/shown-by-git.ts'),
        import('../../../runners/agents/install/status.ts'),
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
  casefile serve              the hooks deny every tool while no service runs
  casefile agent use <case>   the case that you work on in this folder
  casefile agent test         is a write denied, and a read not?`

function placesIn(options: PlaceOptions): HookScope[] {
  const all: HookScope[] = ['local', 'project', 'user']
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

function asJson({ agent, place, path, before, after }: SettingsChange) {
  const change = before === after ? 'none' : after === null ? 'removed' : 'written'
  return { agent: agent.id, place, file: path, change }
}
