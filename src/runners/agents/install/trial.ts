/** Sends calls of tools through the installed hooks of one agent, as the agent would, and says what held. */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { writeDurable } from '../../../files/durable-write.ts'
import { runStepProcess } from '../../enclosure/step-process.ts'
import { testSession } from '../hooks/hook-test.ts'
import {
  callsOf,
  type HookTrial,
  matches,
  type TrialAnswer,
  type TrialCall,
} from './trial-calls.ts'
import type { Scene, Scenes } from './trial-scenes.ts'

/** What a trial can show. `denies_all`: also what only reads. */
export const TRIAL_LEVELS = ['gated', 'recorded_only', 'fails_open', 'denies_all'] as const
export type TrialLevel = (typeof TRIAL_LEVELS)[number]

export interface TrialResult {
  level: TrialLevel
  /** What was seen, as a clause; empty if it is gated. */
  reason: string
}

export interface TrialSubject {
  trial: HookTrial
  root: string
  /** The hooks in its settings, as `AgentHooks.find` gives them. */
  found: string
}

/** Longer than any answer of the script takes; a plan would wait longer. */
const MOST_MS = 60_000

export async function tryHooks(subject: TrialSubject, scenes: Scenes): Promise<TrialResult> {
  const { shell } = subject.trial
  const calls = callsOf(subject.trial, subject.root)
  const isDenied = (call: TrialCall, scene: Scene) => isCallDenied(subject, call, scene, scenes)
  const open: TrialCall[] = []
  const blocked: TrialCall[] = []
  for (const call of calls) {
    const denied = await isDenied(call, scenes.served)
    if (call.isRead && denied) blocked.push(call)
    else if (!call.isRead && !denied) open.push(call)
  }
  const writes = calls.filter(({ isRead }) => !isRead)
  if (open.length === writes.length) {
    return { level: 'recorded_only', reason: `${named(open)} would have run` }
  }
  const opens = open.length > 0 ? [`it calls ${named(open)}`] : []
  const others = scenes.others.filter((scene) => shell !== null || !scene.isOfShell)
  // lines with different matchers can differ
  const gated = new Map(
    writes.filter((call) => !open.includes(call)).map((call) => [linesKey(subject, call), call]),
  )
  const results = await Promise.all(
    others.map(async (scene) => {
      const denied = await Promise.all([...gated.values()].map((call) => isDenied(call, scene)))
      return denied.every(Boolean)
    }),
  )
  opens.push(...others.flatMap(({ when }, at) => (results[at] ? [] : [when!])))
  if (opens.length > 0) return { level: 'fails_open', reason: `when ${listed(opens, 'or')}` }
  if (blocked.length > 0)
    return {
      level: 'denies_all',
      reason: `${named(blocked)} would not have run, though it only reads`,
    }
  return { level: 'gated', reason: '' }
}

/** The same for calls that the same lines are asked about. */
function linesKey({ trial, found }: TrialSubject, { tool }: TrialCall): string {
  const lines = trial.shell?.lines(found) ?? []
  return JSON.stringify(lines.map(({ matcher }) => matches(matcher, tool)))
}

async function isCallDenied(
  { trial: { shell }, root, found }: TrialSubject,
  call: TrialCall,
  scene: Scene,
  { folder }: Scenes,
): Promise<boolean> {
  const session = testSession()
  if (shell === null) {
    const plugin = join(folder, `${randomUUID()}.mjs`)
    await writeDurable(plugin, Buffer.from(scene.redirect(found)), { mode: 0o600 })
    const argv = [process.execPath, '--input-type=module', '-e', CALL_PLUGIN]
    const input = JSON.stringify({ ...call, plugin: pathToFileURL(plugin), root, session })
    const said = await run(argv, input, { root, env: scene.env, limitMs: MOST_MS })
    return said.exit === DENIED_EXIT
  }
  const input = JSON.stringify(shell.body(call, { root, session }))
  for (const { matcher, command, limitMs } of shell.lines(found)) {
    if (!matches(matcher, call.tool)) continue
    const argv = ['/bin/sh', '-c', scene.redirect(command)]
    if (shell.isDenied(await run(argv, input, { root, env: scene.env, limitMs }))) return true
  }
  return false
}

async function run(
  argv: string[],
  input: string,
  { root, env, limitMs }: { root: string; env: Record<string, string>; limitMs: number },
): Promise<TrialAnswer> {
  const chunks: Buffer[] = []
  const { exit, timedOut } = await runStepProcess({
    argv,
    input,
    cwd: root,
    env,
    timeoutMs: Math.min(limitMs, MOST_MS),
    signal: new AbortController().signal,
    endsGroup: true,
    onOutput(stream, bytes) {
      if (stream === 'stdout') chunks.push(bytes)
    },
  })
  return { exit, timedOut, stdout: Buffer.concat(chunks).toString() }
}

const DENIED_EXIT = 3

/** Loads the plugin as opencode does, with a client that does nothing, and asks it about one call. */
const CALL_PLUGIN = `
import { text } from 'node:stream/consumers'
const { plugin, tool, input, root, session } = JSON.parse(await text(process.stdin))
const client = new Proxy(async () => ({}), { get: (_, name) => (name === 'then' ? undefined : client) })
const hooks = []
for (const make of Object.values(await import(plugin))) hooks.push(await make({ client, directory: root }))
try {
  for (const each of hooks) {
    await each['tool.execute.before']?.({ tool, sessionID: session, callID: session }, { args: input })
  }
} catch {
  process.exit(${DENIED_EXIT})
}
process.exit(0)
`

function named(calls: readonly TrialCall[]): string {
  return listed([...new Set(calls.map(({ tool }) => tool))], 'and')
}

function listed(words: readonly string[], link: string): string {
  return words.length < 2
    ? words.join()
    : `${words.slice(0, -1).join(', ')} ${link} ${words.at(-1)}`
}
