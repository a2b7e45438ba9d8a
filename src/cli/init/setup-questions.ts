import type { Agent } from '../../doctor/agents.ts'
import type { SetupChoice } from '../../init/init-command.ts'
import { lineFault, MAX_SETTING } from '../../model/one-line.ts'
import { visibleText } from '../../model/visible-text.ts'
import { choose, type Dialog } from './choose.ts'

export interface Found {
  agents: readonly Agent[]
  tests: { command: string; source: string } | null
}

/** Asks for what the options do not say. Enter takes the proposal. */
export async function askSetup(
  given: SetupChoice,
  { agents, tests }: Found,
  proposed: Agent | null,
  dialog: Dialog,
): Promise<SetupChoice> {
  const agent = given.agent ?? (await askAgent(agents, proposed, dialog))
  const chosen = agents.find(({ id }) => id === agent)
  return {
    agent,
    inTerminal: given.inTerminal ?? (chosen?.can_hook ? await askPlace(chosen, dialog) : undefined),
    tests: given.tests ?? (await askTests(tests, dialog)),
  }
}

async function askAgent(
  agents: readonly Agent[],
  proposed: Agent | null,
  dialog: Dialog,
): Promise<string> {
  const { write } = dialog
  const commands = agents.filter(({ kind }) => kind === 'command')
  const usable = commands.filter(isUsable)
  const choices = [...usable.map(({ id }) => id), 'none']
  write('\nWho plans new sessions?\n\n')
  for (const [index, agent] of usable.entries()) write(`  ${index + 1}. ● ${agentText(agent)}\n`)
  write(`  ${choices.length}. ○ none: I write runbooks myself\n`)
  for (const agent of commands) if (!isUsable(agent)) write(`     ○ ${agentText(agent)}\n`)
  write('\n')
  const first = proposed && choices.includes(proposed.id) ? choices.indexOf(proposed.id) : -1
  const standard = first === -1 ? choices.length - 1 : first
  return choose(choices, standard, dialog)
}

function isUsable({ status }: Agent): boolean {
  return status !== 'not_installed' && status !== 'not_trusted'
}

/** An agent with what the doctor found. */
export function agentText({ title, version, status, advice }: Agent): string {
  const name = visibleText(version === null ? title : `${title} ${version}`)
  const next = advice === null ? '' : `: ${visibleText(advice)}`
  switch (status) {
    case 'ready':
      return `${name} (found, logged in)`
    case 'not_logged_in':
      return `${name} (found, not logged in${next})`
    case 'unknown_login':
      return `${name} (found; whether you are logged in is not known${next})`
    case 'not_trusted':
      return `${name} (not trusted${next})`
    case 'not_installed':
      return `${name} (not installed${next})`
    default:
      return status satisfies never
  }
}

/** Whether the person starts the agent. */
async function askPlace({ title }: Agent, dialog: Dialog): Promise<boolean> {
  dialog.write(`\nWho starts ${visibleText(title)}?

  1. Casefile, for each session: casefile start, or the button in the console
  2. I do, in my own terminal and any mode: its hooks make it wait until I approve what it may do for the case that is current here (casefile agent use --help)

`)
  return (await choose(['1', '2'], 0, dialog)) === '2'
}

async function askTests(
  tests: Found['tests'],
  { write, ask }: Dialog,
): Promise<string | undefined> {
  const found =
    tests === null
      ? 'No test command was found.'
      : `${tests.source} has the tests: ${visibleText(tests.command)}`
  write(`\nWhich command proves that work is good? ${found}\n`)
  const standard = tests?.command ?? 'none'
  for (;;) {
    const answer = await ask(`A command, or none [${visibleText(standard)}] `)
    if (answer === null || answer === '') return standard
    const fault = lineFault(answer, MAX_SETTING)
    if (fault === null) return answer
    write(`This cannot be the command: ${fault}.\n`)
  }
}
