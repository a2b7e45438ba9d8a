import { ask, confirm } from '../../demo/question.ts'
import type { Agent } from '../../doctor/agents.ts'
import type { InitOptions, Operator } from '../../init/deps.ts'
import { init } from '../../init/init-command.ts'
import { visibleText } from '../../model/visible-text.ts'
import { agrees } from './choose.ts'
import { askForKind } from './memory-choice.ts'
import {
  changeSettings,
  type Facts,
  findFacts,
  hookNotes,
  plannedChanges,
  requirePossible,
} from './setup-change.ts'
import { askSetup, type SetupChoice } from './setup-questions.ts'

export interface InitCommandOptions extends InitOptions, SetupChoice {
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
  /** Who plans: the id of an agent; null if this was not decided now. */
  agent: string | null
  inTerminal: boolean
  /** Whether the operator said no to what would be written. */
  isDeclined: boolean
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
  const { stdin, stdout } = process
  const { signal } = new AbortController()
  const isAsked = !quiet && !options.yes && stdin.isTTY === true && stdout.isTTY === true
  const facts = await findFacts(options.root)
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
  await requirePossible(options.root, choice)
  const operator = isAsked ? createOperator(write, signal) : null
  const lines: string[] = []
  const say = (line: string) => void lines.push(line)
  const outcome = {
    agent: choice.agent ?? (choice.inTerminal ? facts.provider : null),
    inTerminal: choice.inTerminal ?? false,
    isDeclined: false,
  }
  if (isAsked || options.dryRun) {
    await init(options, { program, say, operator, isDry: true })
    lines.push(...(await plannedChanges(options.root, choice)))
    if (options.dryRun || lines.length === 0) return { lines, ...outcome }
    write(`\nThis will be written:\n\n${lines.map((line) => `  ${line}\n`).join('')}\n`)
    const dialog = { write, ask: (question: string) => ask(question, signal) }
    if (!(await agrees('Write this?', dialog))) return { lines: [], ...outcome, isDeclined: true }
    lines.length = 0
  }
  await init(options, { program, say, operator })
  lines.push(...(await changeSettings(options.root, choice)))
  if (choice.inTerminal) lines.push(...(await hookNotes(options.root, outcome.agent!)))
  return { lines, ...outcome }
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

const HOOKS = `
Git hooks can stop a commit while a case has a problem (pre-commit), and name the
session whose work a commit contains in its message (commit-msg).
`

/** Asks each question once, as the questions come again when the answers are carried out. */
function createOperator(write: (text: string) => void, signal: AbortSignal): Operator {
  let kind: ReturnType<Operator['chooseKind']> | undefined
  let hook: Promise<boolean> | undefined
  return {
    chooseKind() {
      write('\n')
      kind ??= askForKind(write, signal)
      return kind
    },
    wantsHooks(paths) {
      hook ??= (() => {
        write(HOOKS)
        return confirm(`Install ${paths.join(' and ')}? [y/N] `, signal)
      })()
      return hook
    },
  }
}
