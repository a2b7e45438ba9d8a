import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import type { ApprovalViewJson } from '../../http/schemas/approval-view.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import {
  caseArgument,
  explain,
  optionalCaseArgument,
  sessionArgument,
  withSubcommands,
} from '../command.ts'
import {
  type CommandContext,
  type CommandOptions,
  type ReadContext,
  withReader,
  withService,
} from '../context.ts'
import { withEdited } from '../edited-text.ts'
import { askWhenReady } from '../follow/ask-when-ready.ts'
import { watchAttention } from '../follow/attention-watch.ts'
import { follow, sessionExitCode } from '../follow/follow.ts'
import { EXIT, type ExitCode, usageError } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { changeText } from '../output/plan-change.ts'
import { printPlan, printPlanned } from '../output/planned.ts'
import { shownLine } from '../output/shown-line.ts'
import { sayStatus } from '../output/status-text.ts'
import { resolveCase, resolveOrChooseCase } from '../resolve/case.ts'
import { resolveSession, sessionPath, sessionsOf } from '../resolve/find-session.ts'
import { commentCommand } from './session/comment.ts'
import { applyCommand, discardCommand } from './session/worktrees.ts'

/** `casefile session …`: what an agent plans and does for a case. */
export function command(): Command {
  const session = new Command('session').description(
    'A session: its plan, its run, its comments and its worktree.',
  )
  return withSubcommands(session, [
    planCommand(),
    commentCommand(),
    watchCommand(),
    stopCommand(),
    unqueueCommand(),
    applyCommand(),
    discardCommand(),
  ])
}

interface PlanOptions extends CommandOptions {
  edit?: boolean
  diff?: boolean
}

/** `casefile session plan`. */
function planCommand(): Command {
  const plan = new Command('plan')
    .description('Show, edit or compare the plan of a session.')
    .addArgument(optionalCaseArgument())
    .addArgument(sessionArgument('the newest that waits for approval'))
    .option('--edit', 'Edit it with $VISUAL or $EDITOR.')
    .option('--diff', 'Show changes since the previous revision.')
    .action(async (name: string | undefined, word: string | undefined, options: PlanOptions) => {
      const { edit, diff } = options
      if (edit && diff) throw usageError('Choose one of --edit and --diff.')
      if (edit) {
        await withService(options, async (context) =>
          editPlan(context, await waitingSession(context, name, word)),
        )
      } else {
        await withReader(options, async (context) => {
          const session = await waitingSession(context, name, word)
          return diff ? showChange(context, session) : showPlan(context, session)
        })
      }
    })
  return explain(plan, {
    examples: [
      ['casefile session plan "sign-in"', 'Steps that would run are marked.'],
      ['casefile session plan c12d 2 --edit', 'Change it before you approve it.'],
    ],
    exits: [EXIT.unknown],
  })
}

async function waitingSession(
  context: ReadContext,
  name: string | undefined,
  word: string | undefined,
): Promise<SessionJson> {
  const id = await resolveOrChooseCase(context, name, {
    command: 'session plan',
    needs: 'plan',
    what: 'a plan to approve',
  })
  return resolveSession(context.client, id, word, { waiting: true })
}

async function showPlan(context: ReadContext, session: SessionJson): Promise<ExitCode> {
  const { terminal, json } = context
  if (json) terminal.print(jsonText(session))
  else if (session.state === 'plan_ready') await printPlanned(context, session)
  else await printPlan(context, session, null)
  return EXIT.done
}

/** Sends only a changed text, and only in place of the plan that it was read from. */
async function editPlan(context: CommandContext, { case_id, id }: SessionJson): Promise<ExitCode> {
  const { client, terminal, json, signal } = context
  const path = sessionPath({ case_id, id })
  const session: SessionJson = (await client.request('GET', path)).body
  const onSaved = (file: string) => terminal.warn(`your text was saved in ${file}`)
  await withEdited(session.plan, { name: 'plan.md', signal, onSaved }, async (plan) => {
    if (plan === session.plan) {
      terminal.warn('the plan was not changed')
      if (json) terminal.print(jsonText(session))
      return
    }
    const body = { plan, expected_plan_sha256: session.plan_sha256 ?? undefined }
    const answer = await client.request('PUT', `${path}/plan`, { body })
    if (json) terminal.print(jsonText(answer.body))
    else await printPlanned(context, answer.body)
  })
  return EXIT.done
}

/** Prints the changes since the revision before. */
async function showChange(context: ReadContext, session: SessionJson): Promise<ExitCode> {
  const { terminal, json } = context
  const path = `${sessionPath(session)}/approval?plans=true`
  const { plans = [] }: ApprovalViewJson = (await context.client.request('GET', path)).body
  if (json) {
    terminal.print(jsonText(plans))
    return EXIT.done
  }
  const index = plans.findIndex(({ current }) => current)
  const [now, before] = [plans[index], plans[index - 1]]
  if (!now || !before) {
    terminal.warn('this plan has no earlier text: it is the first, or identical to those before it')
    return EXIT.done
  }
  if (now.text === null || before.text === null) {
    terminal.warn('the text of the earlier plan is not on this machine')
    return EXIT.done
  }
  if (now.note) terminal.print(`${now.note.split('\n').map(shownLine).join('\n')}\n\n`)
  terminal.print(changeText(terminal, before.text, now.text))
  return EXIT.done
}

interface WatchOptions extends CommandOptions {
  bell?: boolean
}

/** The event that a session waits for a person comes with its last entries. */
const LAST_EVENT_MS = 500
const POLL_MS = 25

/** `casefile session watch`. */
function watchCommand(): Command {
  const watch = new Command('watch')
    .description('Follow a session: its steps, their output, and its end.')
    .addArgument(optionalCaseArgument())
    .addArgument(sessionArgument())
    .option('--bell', 'Also ring the bell of the terminal when the case needs you.')
    .action((name: string | undefined, word: string | undefined, options: WatchOptions) =>
      withService(options, (context) => watchSession(context, name, word, options)),
    )
  return explain(watch, {
    examples: [
      ['casefile session watch "sign-in"', 'Watch it run.'],
      ['casefile session watch c12d 2 --json', 'One event per line.'],
    ],
    more: 'Earlier events come first. Ctrl-C leaves the session running. When the case needs you, the terminal gets a desktop notification (OSC 9); not with --json, NO_COLOR or TERM=dumb. A plan that waits is shown: y approves exactly that text.',
    exits: [EXIT.unknown, EXIT.sessionFailed, EXIT.interrupted],
  })
}

async function watchSession(
  context: CommandContext,
  name: string | undefined,
  word: string | undefined,
  { bell = false }: WatchOptions,
): Promise<ExitCode> {
  const { client, terminal, json, signal, isOwn } = context
  const id = await resolveOrChooseCase(context, name, {
    command: 'session watch',
    needs: 'running',
    what: 'a running session',
  })
  const session = await resolveSession(client, id, word)
  const asks = terminal.canAsk && !json && !isOwn() ? askWhenReady(context, session) : null
  const watch = terminal.isTerminal
    ? watchAttention(context, { caseId: id, bell, onChange: () => asks?.look() })
    : null
  try {
    asks?.look()
    if (session.state === 'plan_ready' && !asks) await sayStatus(context, id, session)
    // without a service, nothing can approve the plan while this command waits
    const until = isOwn() ? ['plan_ready'] : []
    const last = await follow(context, session, {
      until,
      envelopes: json,
      asks: asks !== null,
    })
    if (!json) await sayStatus(context, id, last)
    const isNew = last.state !== session.state
    for (let waited = 0; watch && isNew && waited < LAST_EVENT_MS; waited += POLL_MS) {
      if (watch.hasHeardOf(session.id)) break
      await delay(POLL_MS, undefined, { signal })
    }
    return sessionExitCode(last)
  } finally {
    asks?.stop()
    watch?.stop()
  }
}

function nameOf({ case_id, number }: SessionJson): string {
  return `${case_id.slice(0, 8)} ${number}`
}

interface StopOptions extends CommandOptions {
  reason?: string
}

/** `casefile session stop`. */
function stopCommand(): Command {
  const stop = new Command('stop')
    .description('Stop a session and everything it runs.')
    .addArgument(caseArgument())
    .addArgument(sessionArgument())
    .option('--reason <text>', 'Why it is stopped.')
    .action((name: string, word: string | undefined, options: StopOptions) =>
      withService(options, (context) => stopSession(context, name, word, options)),
    )
  return explain(stop, {
    examples: [['casefile session stop c12d 2 --reason "Solved by hand"', 'Stop session 2.']],
    exits: [EXIT.unknown],
  })
}

async function stopSession(
  { client, terminal, json }: CommandContext,
  name: string,
  word: string | undefined,
  { reason }: StopOptions,
): Promise<ExitCode> {
  const id = await resolveCase(client, name)
  const session = await resolveSession(client, id, word)
  if (word === undefined && session.state === 'complete') {
    throw usageError(
      `Session ${session.number} is complete, so nothing runs. To abandon it all the same: casefile session stop ${nameOf(session)}`,
    )
  }
  const answer = await client.request('POST', `${sessionPath(session)}/abandon`, {
    body: { reason },
  })
  if (json) terminal.print(jsonText(answer.body))
  else {
    terminal.print(`session ${session.number} is abandoned\n`)
    await sayStatus({ client, terminal }, id)
  }
  return EXIT.done
}

/** `casefile session unqueue`: takes back an approval that has not begun. */
function unqueueCommand(): Command {
  const unqueue = new Command('unqueue')
    .description('Take a session out of the line: its plan waits for approval again.')
    .addArgument(caseArgument())
    .addArgument(sessionArgument('the one in line'))
    .action((name: string, word: string | undefined, options: CommandOptions) =>
      withService(options, async ({ client, terminal, json }) => {
        const id = await resolveCase(client, name)
        const inLine = (await sessionsOf(client, id)).find(({ queue }) => queue !== null)
        const session =
          inLine && word === undefined ? inLine : await resolveSession(client, id, word)
        const { body } = await client.request('DELETE', `${sessionPath(session)}/queue`)
        if (json) terminal.print(jsonText(body))
        else {
          terminal.print(`session ${session.number} is out of the line; nothing was run\n`)
          terminal.say(`Its plan waits: casefile approve ${id.slice(0, 8)} ${session.number}`)
        }
        return EXIT.done
      }),
    )
  return explain(unqueue, {
    examples: [['casefile session unqueue "sign-in"', 'It does not start any more.']],
    exits: [EXIT.unknown],
  })
}
