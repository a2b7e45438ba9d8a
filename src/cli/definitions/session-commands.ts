import { type Command, Option } from 'commander'
import { SESSION_TYPES } from '../../model/case-state.ts'
import type { AbandonOptions } from '../commands/abandon.ts'
import type { ApproveOptions } from '../commands/approve.ts'
import type { PlanOptions } from '../commands/plan.ts'
import type { ReviseOptions } from '../commands/revise.ts'
import type { StartOptions } from '../commands/start.ts'
import type { ConsoleOptions } from '../console.ts'
import { EXIT } from '../output/exit-codes.ts'
import { caseArgument, consoleCommand, sessionArgument } from './arguments.ts'
import { atConsole } from './at-console.ts'
import { explained } from './explained.ts'

const WAITING = 'the newest that waits for approval'
const FOLLOWED = [EXIT.unknown, EXIT.sessionFailed, EXIT.interrupted] as const

/** From a session's start to its end. */
export function sessionCommands(): Command[] {
  return [startCommand(), planCommand(), approveCommand(), ...turningDown(), tailCommand()]
}

function startCommand(): Command {
  const command = consoleCommand('start', 'start a session, and wait for its plan')
    .addArgument(caseArgument())
    .addOption(
      new Option(
        '--type <type>',
        'what it is for (default: implementing; with --again, that of the failed session)',
      ).choices(SESSION_TYPES),
    )
    .option('--provider <name>', 'agent to use')
    .option('--note <text>', 'instructions for the agent')
    .option('--again [session]', 'plan again after a session that failed, if not named the newest')
    .option('--detach', 'do not wait for the plan; needs a running service')
    .action(async (name: string, options: StartOptions) => {
      const { start } = await import('../commands/start.ts')
      await atConsole(options, (console) => start(console, name, options))
    })
  return explained(command, {
    examples: [
      ['casefile start "sign-in"', 'plan it'],
      ['casefile start c12d --type investigating --note "Look at the clock first"', 'look only'],
      ['casefile start c12d --again', 'plan again: the note says why the newest session failed'],
    ],
    exits: FOLLOWED,
  })
}

function planCommand(): Command {
  const command = consoleCommand('plan', 'show, edit or compare the plan of a session')
    .addArgument(caseArgument())
    .addArgument(sessionArgument(WAITING))
    .option('--edit', 'edit it with $VISUAL or $EDITOR')
    .option('--diff', 'show what differs from the revision before')
    .action(async (name: string, word: string | undefined, options: PlanOptions) => {
      const { plan } = await import('../commands/plan.ts')
      await atConsole(options, (console) => plan(console, name, word, options))
    })
  return explained(command, {
    examples: [
      ['casefile plan "sign-in"', 'what would run is marked'],
      ['casefile plan c12d 2 --edit', 'change it before you approve it'],
    ],
    exits: [EXIT.unknown],
  })
}

function approveCommand(): Command {
  const command = consoleCommand('approve', 'show a plan, ask, and have exactly that carried out')
    .addArgument(caseArgument())
    .addArgument(sessionArgument(WAITING))
    .option('--yes', 'approve the plan as it stands, without asking')
    .option('--sha <hash>', 'approve, without asking, only the plan with this plan_sha256')
    .option('--detach', 'do not follow the run; needs a running service')
    .action(async (name: string, word: string | undefined, options: ApproveOptions) => {
      const { approve } = await import('../commands/approve.ts')
      await atConsole(options, (console) => approve(console, name, word, options))
    })
  return explained(command, {
    examples: [
      ['casefile approve "sign-in"', 'look, answer y, and watch'],
      [
        'casefile approve c12d 2 --sha "$(casefile plan c12d 2 --json | jq -r .plan_sha256)"',
        'in a script',
      ],
    ],
    more: 'A plan that changes while you read it is not approved: the new one is shown, and you are asked again. Without a running service, Ctrl-C ends the run.',
    exits: [EXIT.unknown, EXIT.sessionFailed, EXIT.notApproved, EXIT.interrupted],
  })
}

function turningDown(): Command[] {
  const revise = consoleCommand('revise', 'have a session plan again, and wait for the new plan')
    .addArgument(caseArgument())
    .addArgument(sessionArgument(WAITING))
    .requiredOption('-m, --note <text>', 'what is to be different')
    .action(async (name: string, word: string | undefined, options: ReviseOptions) => {
      const command = await import('../commands/revise.ts')
      await atConsole(options, (console) => command.revise(console, name, word, options))
    })
  const abandon = consoleCommand('abandon', 'end a session; what it runs is stopped')
    .addArgument(caseArgument())
    .addArgument(sessionArgument())
    .option('--reason <text>', 'why')
    .action(async (name: string, word: string | undefined, options: AbandonOptions) => {
      const command = await import('../commands/abandon.ts')
      await atConsole(options, (console) => command.abandon(console, name, word, options))
    })
  return [
    explained(revise, {
      examples: [['casefile revise "sign-in" -m "Leave the clock alone"', 'ask for another plan']],
      exits: FOLLOWED,
    }),
    explained(abandon, {
      examples: [['casefile abandon c12d 2 --reason "Solved by hand"', 'end it']],
      exits: [EXIT.unknown],
    }),
  ]
}

function tailCommand(): Command {
  const command = consoleCommand('tail', 'follow a session: its steps, what they print, its end')
    .addArgument(caseArgument())
    .addArgument(sessionArgument())
    .action(async (name: string, word: string | undefined, options: ConsoleOptions) => {
      const { tail } = await import('../commands/tail.ts')
      await atConsole(options, (console) => tail(console, name, word))
    })
  return explained(command, {
    examples: [
      ['casefile tail "sign-in"', 'Ctrl-C leaves the session running'],
      ['casefile tail c12d 2 --json', 'one event on each line'],
    ],
    more: 'It begins with what has happened already, with at most the last 64 KiB that a running step printed before, and goes on over restarts of the service.',
    exits: FOLLOWED,
  })
}
