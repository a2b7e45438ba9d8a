import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import type { SessionJson } from '../../http/schemas/session.ts'
import { explain, sessionArgument } from '../command.ts'
import { type CommandContext, type CommandOptions, withService } from '../context.ts'
import { askWhenReady } from '../follow/ask-when-ready.ts'
import { watchAttention } from '../follow/attention-watch.ts'
import { follow, sessionExitCode } from '../follow/follow.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { sayStatus } from '../output/status-text.ts'
import { resolveOrChooseCase } from '../resolve/case.ts'
import { resolveSession } from '../resolve/session.ts'

interface Options extends CommandOptions {
  bell?: boolean
}

/** The event that a session waits for a person comes with its last entries. */
const LAST_EVENT_MS = 500
const POLL_MS = 25

export function command(): Command {
  const tail = new Command('tail')
    .description('Follow a session: its steps, their output, and its end.')
    .argument('[case]', 'Its id, the start of its id, or part of its title. Default: choose one.')
    .addArgument(sessionArgument())
    .option('--bell', 'Also ring the bell of the terminal when the case needs you.')
    .action((name: string | undefined, word: string | undefined, options: Options) =>
      withService(options, (context) => run(context, name, word, options)),
    )
  return explain(tail, {
    examples: [
      ['casefile tail "sign-in"', 'Watch it run.'],
      ['casefile tail c12d 2 --json', 'One event per line.'],
    ],
    more: 'Earlier events come first. Ctrl-C leaves the session running. When the case needs you, the terminal gets a desktop notification (OSC 9); not with --json, NO_COLOR or TERM=dumb. A plan that waits is shown: y approves exactly that text.',
    exits: [EXIT.unknown, EXIT.sessionFailed, EXIT.interrupted],
  })
}

async function run(
  context: CommandContext,
  name: string | undefined,
  word: string | undefined,
  { bell = false }: Options,
): Promise<ExitCode> {
  const { client, terminal, json, signal, isOwn } = context
  const id = await resolveOrChooseCase(context, name, {
    command: 'tail',
    needs: 'running',
    what: 'a running session',
  })
  const session = await resolveSession(client, id, word)
  const leave = () => {
    if (isOwn()) return
    const again = `casefile tail ${nameOf(session)}`
    terminal.warn(`session ${session.number} keeps running. Follow it again with: ${again}`)
  }
  signal.addEventListener('abort', leave)
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
    signal.removeEventListener('abort', leave)
  }
}

function nameOf({ case_id, number }: SessionJson): string {
  return `${case_id.slice(0, 8)} ${number}`
}
