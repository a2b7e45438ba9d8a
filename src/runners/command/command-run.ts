import { dirname } from 'node:path'
import { writeDurable } from '../../files/durable-write.ts'
import { newLine } from '../../model/trail.ts'
import type { CommandLine, CommandSpec } from '../agents/agent.ts'
import { usageNotes } from '../agents/agent-usage.ts'
import { agentVersion } from '../agents/agent-version.ts'
import { allowanceOf } from '../agents/user-tools.ts'
import { type AgentFacts, type AgentRun, RunnerFailure } from '../contract.ts'
import { runStepProcess } from '../enclosure/step-process.ts'
import { findProgram } from '../process/find-program.ts'
import { createListener } from './command-listener.ts'
import { type CommandEnd, failureReason, workFailureReason } from './failure-reason.ts'

export interface CommandRun {
  spec: CommandSpec
  line: CommandLine
  /** The user's own arguments. */
  args: readonly string[]
  mode: AgentFacts['mode']
  /** The id of the conversation to resume; null for a new one. */
  session: string | null
  workdir: string
  timeoutMs: number
  agent: AgentRun
  signal: AbortSignal
}

const PROMPT_FILE = 'prompt.md'

/**
 * Runs an agent's command from start to end and reports it. Rejects with a `RunnerFailure` if there is no such
 * program. The caller decides whether the run succeeded.
 */
export async function runCommand(asked: CommandRun): Promise<CommandEnd> {
  const run = await withUserTools(asked)
  const { spec, line, mode, agent } = run
  const { report, sandbox, prompt } = agent
  const env = { ...line.defaultEnv, ...agent.env, ...line.env }
  const started = await startLine(run, env)
  await writeFiles(run)

  const id = mode === 'plan' ? 'plan-agent' : 'agent'
  const hasRaw = spec.stream !== 'plain'
  await report.stepStarted({ id, cwd: '.', proof: null, hasRaw }, run.timeoutMs)
  await report.note(started)
  const session = knownSession(run)
  if (session !== null) {
    await report.note({ event: 'agent_session', fields: { agent_session: session } })
  }

  const listener = createListener({
    format: spec.stream,
    report,
    session,
    workdir: run.workdir,
    retriesMs: agent.retriesMs ?? Number.POSITIVE_INFINITY,
  })
  const since = Date.now()
  const result = await runStepProcess({
    argv: commandOf(run, prompt),
    cwd: run.workdir,
    env,
    sandbox,
    ...(line.prompt === 'stdin' ? { input: prompt } : {}),
    endsGroup: true,
    // the signal has the time limit
    timeoutMs: Number.POSITIVE_INFINITY,
    limits: agent.limits,
    signal: AbortSignal.any([run.signal, listener.broken]),
    onStart: (pid) => report.processStarted(pid),
    onOutput: listener.output,
  })
  const heard = await listener.end(
    async (conversation) => (await spec.readRecord?.({ env, conversation, since })) ?? null,
  )
  const end = { result, ...heard }
  if (hasRaw) listener.showEnd(`${spec.title} ${howEnded(run, end)}`)
  for (const note of usageNotes(mode, heard.stream.usage)) await report.note(note)
  const { aborted: _, ...outcome } = result
  await report.stepFinished(outcome)
  return end
}

function howEnded({ spec, mode, signal }: CommandRun, end: CommandEnd): string {
  if (signal.aborted) return 'was stopped'
  return (mode === 'work' ? workFailureReason(spec, end) : failureReason(end)) ?? 'ended well'
}

async function withUserTools(run: CommandRun): Promise<CommandRun> {
  const { line, agent, workdir } = run
  if (!line.userPlaces) return run
  const { args, env } = await allowanceOf(line.userPlaces, agent.env, workdir)
  return { ...run, line: { ...line, argv: [...line.argv, ...args], env: { ...line.env, ...env } } }
}

async function startLine(run: CommandRun, env: Record<string, string>) {
  const { spec, mode, agent, signal } = run
  const path = await programOf(run, env.PATH)
  const { folder: cwd, sandbox } = agent
  const { version, warning } = await agentVersion(spec, { path, env, cwd, sandbox, signal })
  return newLine('agent_started', {
    mode,
    command: commandOf(run, '{prompt}'),
    version: version ?? undefined,
    warning,
    plan_mode: mode === 'plan' ? spec.planMode.note : undefined,
  })
}

async function programOf(run: CommandRun, path: string | undefined): Promise<string> {
  const { spec, line, workdir } = run
  const [name = ''] = line.argv
  const found = await findProgram(name, { path, cwd: workdir })
  if (found !== null) return found
  const where = name.includes('/') ? 'in the working folder' : 'on the PATH of the service'
  const what = spec.install ? `install it with: ${spec.install}` : 'casefile.md names it'
  throw new RunnerFailure(`${name} was not found ${where}; ${what}`)
}

function commandOf(run: CommandRun, prompt: string): string[] {
  const { line, args, session, agent, workdir } = run
  const { folder, newId: id } = agent
  const prompt_file = `${folder}/${PROMPT_FILE}`
  const untrusted_projects = untrustedProjects(workdir)
  const values = { prompt, prompt_file, id, session: session ?? '', folder, untrusted_projects }
  return wordsOf(line, values, args)
}

/** The conversation's id, if we chose it: known before the agent prints it. */
function knownSession({ line, session, agent }: CommandRun): string | null {
  const isNamed = !line.isLiteral && line.argv.some((word) => word.includes('{id}'))
  return isNamed ? agent.newId : session
}

async function writeFiles({ line, agent }: CommandRun): Promise<void> {
  const { prompt, folder } = agent
  const files = { ...line.files, ...(line.prompt === 'file' ? { [PROMPT_FILE]: prompt } : {}) }
  for (const [name, text] of Object.entries(files)) {
    await writeDurable(`${folder}/${name}`, Buffer.from(text), { mode: 0o600 })
  }
}

/** Codex applies the trust of a repository above to an unknown folder, so every folder above is listed. */
function untrustedProjects(workdir: string): string {
  const folders = [workdir]
  for (let each = dirname(workdir); each !== folders.at(-1); each = dirname(each))
    folders.push(each)
  // JSON and TOML use the same escapes in strings
  const entries = folders.map((folder) => `${JSON.stringify(folder)}={trust_level="untrusted"}`)
  return `{${entries.join(',')}}`
}

type Placeholder = 'prompt' | 'prompt_file' | 'id' | 'session' | 'folder' | 'untrusted_projects'

/** The command's words with placeholders filled in. A prompt without a placeholder comes last. */
export function wordsOf(
  { argv, prompt, isLiteral }: CommandLine,
  values: Readonly<Record<Placeholder, string>>,
  args: readonly string[],
): string[] {
  const slot = { stdin: null, argument: 'prompt', file: 'prompt_file' } as const
  const own = slot[prompt]
  const isReplaced = (name: string): name is Placeholder =>
    isLiteral ? name === own : Object.hasOwn(values, name)
  const filled = (word: string) =>
    word.replace(/\{(\w+)\}/g, (whole, name: string) => (isReplaced(name) ? values[name] : whole))
  const words = argv.flatMap((word) => (word === '{args}' && !isLiteral ? args : [filled(word)]))
  const hasPrompt = own === null || argv.some((word) => word.includes(`{${own}}`))
  return hasPrompt ? words : [...words, values[own]]
}
