import { join } from 'node:path'
import { readEnvelope } from '../markdown/envelope.ts'
import { lineAt } from '../markdown/lines.ts'
import type { YamlValue } from '../markdown/yaml-scalar.ts'
import { plainValue } from '../markdown/yaml-value.ts'
import type { Problem } from '../model/problem.ts'
import { DURATION_RULE, parseDuration, SLUG, SLUG_RULE } from '../model/words.ts'
import { decoded } from './record.ts'
import { type FileStamp, readRegular, sameStamp, stampOf } from './safe-read.ts'

/** What `casefile.md` sets; every key is optional. */
export interface Settings {
  provider: string
  timeout: { plan: number; work: number; step: number }
  /** Names of variables to pass on to steps: counts only once trusted (design §6). */
  env: string[]
  /** Commands of the runbook runner where a case says nothing. */
  steps: string[]
  /** Names of providers that the file defines: each needs the operator's trust. */
  providers: string[]
  memoryRoot: string | null
  problems: Problem[]
}

export const SETTINGS_FILE = 'casefile.md'

const DEFAULTS: Settings = {
  provider: 'runbook',
  timeout: { plan: 30 * 60_000, work: 2 * 3_600_000, step: 10 * 60_000 },
  env: [],
  steps: [],
  providers: [],
  memoryRoot: null,
  problems: [],
}

/** The settings as the file says them now; it is read again when it has changed. */
export function createSettings(root: string): () => Promise<Settings> {
  const path = join(root, SETTINGS_FILE)
  let known: { stamp: FileStamp | null; settings: Settings } | null = null
  return async () => {
    const stamp = await stampOf(path)
    if (stamp && known?.stamp && sameStamp(known.stamp, stamp)) return known.settings
    const read = await readRegular(path, { maxBytes: 256 * 1024 })
    if (!read.ok && read.reason === 'missing') return DEFAULTS
    const result = decoded(read, SETTINGS_FILE)
    const settings = result.ok
      ? readSettings(result.text)
      : { ...DEFAULTS, problems: [result.problem] }
    known = { stamp: result.stamp ?? stamp, settings }
    return settings
  }
}

type Reader = (value: YamlValue, set: Partial<Settings>) => string | null

const KEYS: Record<string, Reader> = {
  provider: (value, set) =>
    typeof value === 'string' && SLUG.test(value) ? assign(set, { provider: value }) : SLUG_RULE,
  timeout: (value, set) => readTimeout(value, set),
  env: (value, set) =>
    isTexts(value) && value.every((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      ? assign(set, { env: value })
      : 'a list of names of environment variables, such as [DATABASE_URL]',
  steps: (value, set) =>
    isTexts(value) ? assign(set, { steps: value }) : "a list of commands, such as ['npm test']",
  providers: (value, set) =>
    isMapping(value)
      ? assign(set, { providers: Object.keys(value) })
      : 'a mapping of names to providers',
  memory_root: (value, set) =>
    typeof value === 'string' && value !== '' ? assign(set, { memoryRoot: value }) : 'a folder',
}

/** Reads the text of a casefile.md. What is wrong or unknown is a problem, and counts as not set. */
function readSettings(text: string): Settings {
  const read = readEnvelope(text)
  if (!read.ok) {
    const { code, line, message } = read
    return { ...DEFAULTS, problems: [{ code, file: SETTINGS_FILE, line, message }] }
  }
  const { front } = read.envelope
  const set: Partial<Settings> = {}
  const problems: Problem[] = []
  for (const [key, pair] of front?.map.pairs ?? []) {
    const value = plainValue(pair) ?? null
    if (value === null) continue
    const reader = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined
    const expected = reader
      ? reader(value, set)
      : `one of the known settings: ${Object.keys(KEYS).join(', ')}`
    if (expected === null) continue
    const { range } = pair.key as { range?: [number, number, number] }
    problems.push({
      code: 'bad_settings',
      file: SETTINGS_FILE,
      line: lineAt(text, front!.start + (range?.[0] ?? 0)),
      message: `${key}: expected ${expected}, found ${JSON.stringify(value).slice(0, 60)}`,
    })
  }
  return { ...DEFAULTS, ...set, problems }
}

function readTimeout(value: YamlValue, set: Partial<Settings>): string | null {
  const expected = `durations for plan, work and step, each ${DURATION_RULE}`
  if (!isMapping(value)) return expected
  const timeout = { ...DEFAULTS.timeout }
  for (const [name, text] of Object.entries(value)) {
    const duration = typeof text === 'string' ? parseDuration(text) : null
    if (duration === null || !Object.hasOwn(timeout, name)) return expected
    timeout[name as keyof typeof timeout] = duration
  }
  return assign(set, { timeout })
}

function assign(set: Partial<Settings>, values: Partial<Settings>): null {
  Object.assign(set, values)
  return null
}

function isTexts(value: YamlValue): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function isMapping(value: YamlValue): value is { [key: string]: YamlValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
