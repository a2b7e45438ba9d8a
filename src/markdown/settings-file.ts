import type { Problem } from '../model/problem.ts'
import { DEFAULT_SETTINGS, type Settings } from '../model/settings.ts'
import { DURATION_RULE, parseDuration, SLUG, SLUG_RULE } from '../model/words.ts'
import type { Envelope } from './envelope.ts'
import { readFrame } from './fields.ts'
import { lineAt } from './lines.ts'
import { readProviders } from './provider-fields.ts'
import { type StrictYaml, strictYaml, type YamlPlace } from './strict-yaml.ts'

export const SETTINGS_FILE = 'casefile.md'
export const MAX_SETTINGS_BYTES = 256 * 1024

/** The settings in a casefile.md, or the problem that makes it unreadable. */
export type SettingsReading = { ok: true; settings: Settings } | { ok: false; problem: Problem }

/**
 * Reads casefile.md. Never throws, whatever it contains. Invalid or unknown settings are problems and count as not
 * set.
 */
export function readSettings(text: string): SettingsReading {
  if (/^\ufeff?(?:\s*|-{1,2})$/.test(text)) {
    const message =
      'the file is empty, or only its beginning is saved: delete it to have no settings'
    return { ok: false, problem: { code: 'unreadable', file: SETTINGS_FILE, line: null, message } }
  }
  const frame = readFrame(text, SETTINGS_FILE)
  return frame.ok ? { ok: true, settings: settingsOf(frame.envelope) } : frame
}

const STEPS = {
  list: "a list of commands, such as ['npm test']",
  item: 'a command',
  fits: isCommand,
}

type Setting = (yaml: StrictYaml, place: YamlPlace) => Partial<Settings>

const KEYS: Record<string, Setting> = {
  provider: (yaml, place) =>
    given(
      'provider',
      yaml.text(place, SLUG_RULE, (t) => SLUG.test(t)),
    ),
  timeout: (yaml, place) => ({
    timeout: { ...DEFAULT_SETTINGS.timeout, ...timeouts(yaml, place) },
  }),
  env: (yaml, place) => {
    const list = 'a list of names of environment variables, such as [DATABASE_URL]'
    const item = 'the name of an environment variable'
    const names = yaml.items(place, list)?.map((each) => yaml.text(each, item, isVariable)) ?? []
    return { env: [...new Set(names.filter((name) => name !== null))] }
  },
  steps: (yaml, place) => given('steps', yaml.texts(place, STEPS)),
  providers: readProviders,
  memory_root: (yaml, place) => given('memoryRoot', yaml.text(place, 'a folder', isCommand)),
}

export const SETTING_KEYS = Object.keys(KEYS)

function settingsOf({ text, front, bodyStart }: Envelope): Settings {
  const lineOf = (at: number) => lineAt(text, (front?.start ?? 0) + at)
  const problems: Problem[] = []
  const yaml = strictYaml((at, message) =>
    problems.push({ code: 'bad_settings', file: SETTINGS_FILE, line: lineOf(at), message }),
  )
  const set = yaml.known('', front?.map.pairs ?? [], SETTING_KEYS)
  const settings = structuredClone(DEFAULT_SETTINGS)
  for (const [key, place] of set) Object.assign(settings, KEYS[key]!(yaml, place))
  return {
    ...settings,
    instructions: text.slice(bodyStart).trim(),
    problems: problems.sort((a, b) => a.line! - b.line!),
    lines: new Map([...set].map(([key, { at }]) => [key, lineOf(at)])),
  }
}

/** Returns the setting; empty if it was invalid. */
function given<K extends keyof Settings>(key: K, value: Settings[K] | null): Partial<Settings> {
  return value === null ? {} : ({ [key]: value } as Partial<Settings>)
}

function timeouts(yaml: StrictYaml, place: YamlPlace): Partial<Settings['timeout']> {
  const keys = Object.keys(DEFAULT_SETTINGS.timeout)
  const pairs = yaml.pairs(place, `a mapping of ${keys.join(', ')} to durations`) ?? []
  const found = [...yaml.known(place.path, pairs, keys)].map(([key, inner]) => {
    const text = yaml.text(inner, DURATION_RULE, (duration) => parseDuration(duration) !== null)
    return [key, text === null ? null : parseDuration(text)]
  })
  return Object.fromEntries(found.filter(([, duration]) => duration !== null))
}

function isVariable(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
}

function isCommand(text: string): boolean {
  return text.trim() !== '' && !text.includes('\0')
}
