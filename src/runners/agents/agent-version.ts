import { coerce, lt, valid } from 'semver'
import { programStamp } from '../../workspace/disk/program-file.ts'
import { runStepProcess, type StepProcessOptions } from '../process/step-process.ts'
import type { AgentSpec } from './agent-spec.ts'

const TIMEOUT_MS = 5_000
const MAX_OUTPUT = 16 * 1024
const MAX_KNOWN = 100

export interface AgentVersion {
  /** Null where it does not say. */
  version: string | null
  /** What is known against it. */
  warning?: string
}

export interface AgentPlace extends Pick<StepProcessOptions, 'env' | 'cwd' | 'guard'> {
  /** The program, as it was found. */
  path: string
  signal?: AbortSignal
}

const known = new Map<string, string>()

/** Asks a program for its version, within 5 s and once for each state of its file. */
export async function agentVersion(
  { version: args, bad, title }: Pick<AgentSpec, 'version' | 'bad' | 'title'>,
  place: AgentPlace,
): Promise<AgentVersion> {
  if (args.length === 0) return { version: null }
  const key = JSON.stringify([await programStamp(place.path), args])
  const version = known.get(key) ?? (await askedVersion([place.path, ...args], place))
  if (version === null) return { version }
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(key, version)
  return { version, ...warningAbout({ bad, title }, version) }
}

/** What is known against a version, however the agent writes it. */
export function warningAbout(
  { bad, title }: Pick<AgentSpec, 'bad' | 'title'>,
  version: string | null,
): { warning?: string } {
  const number = valid(version) ?? coerce(version)
  const fault = number && bad.find(({ below }) => lt(number, below))
  if (!fault) return {}
  return { warning: `${title} ${version} is below ${fault.below}: ${fault.why}` }
}

async function askedVersion(argv: string[], place: AgentPlace): Promise<string | null> {
  let text = ''
  const { signal = new AbortController().signal, ...rest } = place
  await runStepProcess({
    ...{ ...rest, argv, timeoutMs: TIMEOUT_MS, signal, endsGroup: true },
    onOutput(stream, bytes) {
      if (stream === 'stdout' && text.length < MAX_OUTPUT) text += bytes.toString('latin1')
    },
  })
  return versionIn(text)
}

/** The first that looks like one: `codex-cli 0.169.0`, `2.1.328 (Claude Code)`. */
function versionIn(text: string): string | null {
  const found = /(?<![\w.])v?(\d+\.\d+\.\d+(?:-[\w.-]+)?)/.exec(text)?.[1]
  return found ? valid(found) : null
}
