import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { Argument, Command } from 'commander'
import which from 'which'
import { createClient } from '../../../client/client.ts'
import { AGENT_NAMES } from '../../../model/agent-names.ts'
import { AppError } from '../../../model/app-error.ts'
import { findService } from '../../../state/owner/find-owner.ts'
import { explain } from '../../command.ts'
import { findWorkspace, type WorkspaceOptions } from '../../find-workspace.ts'
import { EXIT } from '../../output/exit-codes.ts'
import { ownTerminal } from '../../output/terminal.ts'
import { resolveCase } from '../../resolve/case.ts'

interface Options extends WorkspaceOptions {
  case?: string
  strict?: boolean
  json?: boolean
}

/** `casefile agent run`. */
export function runCommand(): Command {
  const run = new Command('run')
    .description('Start an agent in this terminal that waits for you. Installs nothing.')
    .addArgument(
      new Argument('<agent>', 'claude or codex. The others need casefile agent install.').choices(
        AGENT_NAMES,
      ),
    )
    .argument('[args...]', 'Arguments for the agent, after --.')
    .option('--case <case>', 'The case that it works on. Default: as casefile agent use says.')
    .option('--strict', 'Only approvals in Casefile count, not those in the terminal.')
    .action(async (agent: string, args: string[], options: Options) => {
      process.exitCode = await start(agent, args, options)
    })
  return explain(run, {
    examples: [
      ['casefile agent run claude --case "sign-in"', 'Work on a case in Claude Code.'],
      ['casefile agent run codex -- resume', 'With arguments for the agent.'],
    ],
    exits: [EXIT.unknown],
    more: 'Exits with the code of the agent. Needs a running service.',
  })
}

async function start(agent: string, args: string[], options: Options): Promise<number> {
  const { hookAgent, hookTarget } = await import('../../../runners/agents/install/hook-agents.ts')
  const { runArguments } = hookAgent(agent)
  if (!runArguments) {
    throw new AppError(
      'bad_request',
      `${agent} takes no hooks from its arguments. Install them: casefile agent install ${agent}`,
    )
  }
  const workspace = await findWorkspace(options)
  const { root, stateDir } = workspace
  const url = await findService(workspace)
  if (url === null) {
    throw new AppError(
      'bad_request',
      'No service is running, so the agent could change nothing. Start one with: casefile serve',
    )
  }
  const client = createClient({ url }, new AbortController().signal)
  const case_id = options.case === undefined ? null : await resolveCase(client, options.case)
  if (case_id !== null) await client.request('GET', `/cases/${case_id}`)
  const target = hookTarget({ root, stateDir }, 'local', options.strict)
  const hooks = await runArguments(stateDir, target)
  // as the shell finds it: this terminal is the operator's, who may run an agent from the workspace
  if ((await which(agent, { nothrow: true })) === null) {
    throw new AppError('provider_unavailable', `${agent} is not on the PATH. Install it first.`)
  }
  // its hooks send the id of the process that is announced below
  const child = spawn(
    '/bin/sh',
    ['-c', 'CASEFILE_PID=$$ exec "$@"', 'sh', agent, ...hooks, ...args],
    {
      stdio: 'inherit',
      env: { ...process.env, ...(case_id === null ? {} : { CASEFILE_CASE: case_id }) },
    },
  )
  // the terminal sends these to the agent too; it decides what they mean
  const ignore = () => {}
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) process.on(signal, ignore)
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => child.kill(signal))
  }
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const body = { agent, cwd: process.cwd(), case_id, pid: child.pid }
  await client
    .request('POST', '/conversations', { body })
    .catch((error: unknown) => ownTerminal().warn(String(error)))
  const [code, signal] = await ended
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal])
}
