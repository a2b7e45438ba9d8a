import { dirname, join, resolve } from 'node:path'
import coerce from 'semver/functions/coerce.js'
import lt from 'semver/functions/lt.js'
import valid from 'semver/functions/valid.js'
import { readJsonFile } from '../../files/json-file.ts'
import { programStamp, realProgram } from '../../files/program-file.ts'
import type { Sandbox } from '../enclosure/sandbox.ts'
import { runStepProcess, type StepProcessOptions } from '../enclosure/step-process.ts'
import type { Agent, AgentSpec } from './agent.ts'
import { asRecord, asString } from './unknown-record.ts'

const TIMEOUT_MS = 5_000
const MAX_OUTPUT = 16 * 1024
const MAX_KNOWN = 100

export interface AgentVersion {
  /** Null if the program does not report one. */
  version: string | null
  /** A known problem of this version. */
  warning?: string
}

export interface AgentProgram extends Pick<StepProcessOptions, 'env' | 'cwd'> {
  sandbox?: Sandbox
  /** The program's path as it was found. */
  path: string
  signal?: AbortSignal
}

const known = new Map<string, string>()

/**
 * Asks a program for its version, within 5 s and once per state of its file. If it does not answer, uses the
 * version of the package that contains it.
 */
export async function agentVersion(
  { version: args, bad, title }: Pick<AgentSpec, 'version' | 'bad' | 'title'>,
  place: AgentProgram,
): Promise<AgentVersion> {
  if (args.length === 0) return { version: null }
  const key = JSON.stringify([await programStamp(place.path), args])
  const version =
    known.get(key) ??
    (await askedVersion([place.path, ...args], place)) ??
    (await packageVersion(place.path))
  if (version === null) return { version }
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(key, version)
  return { version, ...warningAbout({ bad, title }, version) }
}

/** The known problem of a version, in whatever format the agent reports it. */
export function warningAbout(
  { bad, title }: Pick<AgentSpec, 'bad' | 'title'>,
  version: string | null,
): { warning?: string } {
  const number = valid(version) ?? coerce(version)
  const fault = number && bad.find(({ below }) => lt(number, below))
  if (!fault) return {}
  return { warning: `${title} ${version} is below ${fault.below}: ${fault.why}` }
}

/** That no test of ours has run with this version of a known agent; null if one has. */
export function unseenNote(
  { seen }: Pick<Partial<Agent>, 'seen'>,
  version: string | null,
): string | null {
  const number = valid(version) ?? coerce(version)?.version ?? null
  if (number === null || seen === undefined || seen.includes(number)) return null
  return `${version}: not seen by our tests; seen: ${seen.join(', ')}`
}

async function askedVersion(argv: string[], place: AgentProgram): Promise<string | null> {
  let text = ''
  const { signal = new AbortController().signal, ...rest } = place
  await runStepProcess({
    ...rest,
    argv,
    timeoutMs: TIMEOUT_MS,
    signal,
    endsGroup: true,
    onOutput(stream, bytes) {
      if (stream === 'stdout' && text.length < MAX_OUTPUT) text += bytes.toString('latin1')
    },
  })
  return versionIn(text)
}

/** The version of the npm package that the command belongs to, up to four folders above its file. */
async function packageVersion(program: string): Promise<string | null> {
  const file = await realProgram(program)
  for (let folder = dirname(file), step = 0; step < 5; folder = dirname(folder), step++) {
    const found = await readJsonFile(join(folder, 'package.json'))
    const { bin, version } = asRecord(found)
    const commands = typeof bin === 'string' ? [bin] : Object.values(asRecord(bin))
    const isOf = commands.some((each) => resolve(folder, String(each)) === file)
    if (isOf) return valid(asString(version))
  }
  return null
}

/** The first text that looks like a version: `codex-cli 0.169.0`, `2.1.328 (Claude Code)`. */
function versionIn(text: string): string | null {
  const found = /(?<![\w.])v?(\d+\.\d+\.\d+(?:-[\w.-]+)?)/.exec(text)?.[1]
  return found ? valid(found) : null
}
