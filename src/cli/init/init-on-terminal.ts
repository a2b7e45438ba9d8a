import { join } from 'node:path'
import { type Agent, agentsIn, proposedAgent } from '../../doctor/agents.ts'
import { stampOf } from '../../files/safe-read.ts'
import { type InitOptions, planInit, type SetupChoice } from '../../init/init-command.ts'
import { lineFault, MAX_PROVIDER, MAX_SETTING } from '../../model/one-line.ts'
import { SETTINGS_FILE } from '../../model/settings.ts'
import { visibleText } from '../../model/visible-text.ts'
import { findTests } from '../../runners/project-tests.ts'
import { allStatuses } from '../../sessions/providers.ts'
import { editableSettings } from '../../settings/change-settings.ts'
import { findWorkspaceFolders } from '../../settings/workspace-folders.ts'
import { layoutOf } from '../../workspace/layout.ts'
import { usageError } from '../output/exit-codes.ts'
import { ask } from '../question.ts'
import { agrees } from './choose.ts'
import { askSetup, type Found } from './setup-questions.ts'

export interface InitCommandOptions extends InitOptions {
  /** Show what would be written, and write nothing. */
  dryRun?: boolean
}

interface InitScreen {
  write(text: string): void
  /** For what goes on nevertheless. */
  warn(line: string): void
  quiet: boolean
}

interface Outcome {
  /** What was written, or would be. */
  lines: string[]
  /** What was left alone, and why. */
  notes: string[]
  wrote: string[]
  /** Who plans: the id of an agent; null if this was not decided now. */
  agent: string | null
  inTerminal: boolean
  /** Whether the operator said no to what would be written. */
  isDeclined: boolean
}

interface Facts extends Found {
  /** Whether there is a casefile.md. */
  isConfigured: boolean
  provider: string
  proposed: Agent | null
}

/**
 * `casefile init`. On a terminal, in a folder without casefile.md, it asks for what the options do not say. It shows what
 * it will write, and asks once more. Otherwise only options and defaults count. `quiet`, for --json, asks nothing.
 */
export async function initOnTerminal(
  options: InitCommandOptions,
  program: string,
  { write, warn, quiet }: InitScreen,
): Promise<Outcome> {
  requireLines(options)
  const { stdin, stdout } = process
  const { signal } = new AbortController()
  const isAsked = !quiet && !options.yes && stdin.isTTY === true && stdout.isTTY === true
  const facts = await findFacts(options.root, warn)
  const { proposed } = facts
  let choice: SetupChoice = options
  if (!facts.isConfigured && isAsked) {
    write('Nothing is written before you have seen all of it.\n')
    const dialog = { write, ask: (question: string) => ask(question, signal) }
    choice = await askSetup(options, facts, proposed, dialog)
  } else if (!facts.isConfigured) {
    choice = unaskedChoice(options, facts)
    if (!quiet) write(unaskedText(options, choice, facts))
  }
  const absent = facts.agents.find(
    ({ id, status }) => id === choice.agent && status === 'not_installed',
  )
  if (absent) warn(absentText(absent))
  const deps = { program, environment: process.env, warn }
  const { lines, notes, wrote, write: carryOut } = await planInit({ ...options, ...choice }, deps)
  const outcome = {
    lines,
    notes,
    wrote,
    agent: choice.agent ?? (choice.inTerminal ? facts.provider : null),
    inTerminal: choice.inTerminal ?? false,
    isDeclined: false,
  }
  if (options.dryRun || (isAsked && lines.length === 0)) return outcome
  if (isAsked) {
    write(`\nThis will be written:\n\n${lines.map((line) => `  ${line}\n`).join('')}\n`)
    const dialog = { write, ask: (question: string) => ask(question, signal) }
    if (!(await agrees('Write this?', dialog))) return { ...outcome, isDeclined: true }
  } else if (!options.yes && lines.length > 0) {
    throw usageError(
      'Nothing was written. This asks first, which needs a terminal. Without one, use --yes; --dry-run shows what it would write.',
    )
  }
  return { ...outcome, lines: await carryOut() }
}

/** Throws if an option is no text that `PUT /setup` would take. */
function requireLines({ agent, tests }: SetupChoice): void {
  const options = [
    { name: '--agent', text: agent, max: MAX_PROVIDER, advice: 'Give the name of an agent' },
    { name: '--tests', text: tests, max: MAX_SETTING, advice: 'Give one command, or a script' },
  ]
  for (const { name, text, max, advice } of options) {
    const fault = text === undefined ? null : lineFault(text, max)
    if (fault === null) continue
    const long = text!.length > max ? ` (it has ${text!.length})` : ''
    throw usageError(`${name}: ${fault}${long}. ${advice}, or none.`)
  }
}

/** What is known of the folder and the machine. Throws if casefile.md cannot be changed. */
async function findFacts(rootOption: string, warn: (line: string) => void): Promise<Facts> {
  const places = await findWorkspaceFolders({ root: rootOption }, process.env, warn)
  const { root, memoryRoot } = places
  await editableSettings(root)
  const present = await places.settings()
  const [statuses, tests, stamp] = await Promise.all([
    allStatuses({ ...places, environment: process.env, layout: layoutOf(root, memoryRoot) }),
    findTests(root, present),
    stampOf(join(root, SETTINGS_FILE)),
  ])
  const agents = agentsIn(statuses)
  return {
    agents,
    provider: present.provider,
    proposed: proposedAgent(agents),
    tests,
    isConfigured: stamp !== null,
  }
}

/** What is not given is what Enter takes; without --yes, the agent stays open. */
function unaskedChoice(options: InitCommandOptions, { proposed, tests }: Facts): SetupChoice {
  const agent = options.agent ?? (options.yes ? (proposed?.id ?? 'none') : undefined)
  return { ...options, agent, tests: options.tests ?? tests?.command }
}

function unaskedText(
  { agent, yes, tests: given }: InitCommandOptions,
  { tests }: SetupChoice,
  { proposed, tests: found }: Facts,
): string {
  const planner =
    proposed === null
      ? 'No agent plans: not exactly one is installed and logged in (to choose one, use --agent)\n'
      : `${proposed.title} plans new sessions (to choose another one, use --agent)\n`
  const proof =
    given === undefined && tests !== undefined && found !== null
      ? `${visibleText(tests)} proves that work is good, as ${found.source} says (to change that, use --tests)\n`
      : ''
  return (agent === undefined && yes ? planner : '') + proof
}

function absentText({ title, advice }: Agent): string {
  const how = advice === null ? '' : `. Install it: ${visibleText(advice)}`
  return visibleText(`${title} is not installed here`) + how
}
