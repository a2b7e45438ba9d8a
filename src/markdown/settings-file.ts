import type { Pair } from 'yaml'
import * as z from 'zod'
import { DURATION_RULE, parseDuration, SLUG, SLUG_RULE } from '../model/name-patterns.ts'
import type { Problem } from '../model/problem.ts'
import {
  DEFAULT_SETTINGS,
  ISOLATIONS,
  MAX_PARALLEL,
  type NotifyTarget,
  OWN_PROVIDER,
  PROMPT_BY,
  type ProviderSettings,
  SETTINGS_FILE,
  type Settings,
  STREAMS,
} from '../model/settings.ts'
import type { MarkdownDocument } from './document.ts'
import { readFields } from './fields.ts'
import { lineAt } from './lines.ts'
import { wrongEntry } from './plan-scope.ts'
import { parseRequirement } from './requirement-line.ts'
import { keyOf } from './yaml-map.ts'
import { isMap, isNode, isSeq } from './yaml-package.ts'
import { plainNode, scalarText } from './yaml-value.ts'

/** The settings in a casefile.md, or the problem that makes it unreadable. */
export type SettingsReading = { ok: true; settings: Settings } | { ok: false; problem: Problem }

/** Never throws for bad text. A wrong or unknown setting is a problem and counts as not set. */
export function readSettings(text: string): SettingsReading {
  if (/^\ufeff?(?:\s*|-{1,2})$/.test(text)) {
    const message = 'the file is empty or only partly saved: delete it to use no settings'
    return { ok: false, problem: { code: 'unreadable', file: SETTINGS_FILE, line: null, message } }
  }
  const record = readFields(text, SETTINGS_FILE)
  return record.ok ? { ok: true, settings: settingsIn(record.document) } : record
}

/**
 * A string for which `fits` is true. `rule` completes "expected …", as does the message of every
 * schema here.
 */
const text = (rule: string, fits: (text: string) => boolean) =>
  z.string({ error: rule }).refine(fits, { error: rule })
const list = (rule: string, item: z.ZodType<string>) => z.array(item, { error: rule })
const oneOf = <const T extends readonly string[]>(names: T) =>
  z.enum(names, { error: `one of ${names.join(', ')}` })

const hasNoNul = (text: string) => !text.includes('\0') // a program argument cannot contain NUL
const isFilled = (text: string) => text.trim() !== '' && hasNoNul(text)

const NAME = text(SLUG_RULE, (text) => SLUG.test(text))
const DURATION = text(DURATION_RULE, (text) => parseDuration(text) !== null)
const VARIABLE = text('the name of an environment variable', (text) =>
  /^[A-Za-z_][A-Za-z0-9_]*$/.test(text),
)
const STEPS = list("a list of commands, such as ['npm test']", text('a command', isFilled))
const isLine = (text: string) => isFilled(text) && !/[\r\n]/.test(text)
const TESTS = text("a command on one line, such as 'npm test'", isLine)
const CHECKLIST_RULE = "a list of what must be proved, such as ['All tests pass (test-log)']"
const ITEM = text(
  'what must be proved, on one line',
  (line) => isLine(line) && parseRequirement(line) !== null,
)
const CHECKLIST = list(CHECKLIST_RULE, ITEM)
const YES_NO = z
  .enum(['true', 'false'], { error: 'true or false' })
  .transform((word) => word === 'true')
const PARALLEL_RULE = `a number from 1 to ${MAX_PARALLEL}`
const PARALLEL = text(
  PARALLEL_RULE,
  (text) => /^[1-9]\d?$/.test(text) && Number(text) <= MAX_PARALLEL,
).transform(Number)
const FOLDER = text('a folder', isFilled)
const PLACE = text(
  'a file or folder on one line, relative to the workspace, absolute or from ~/',
  isLine,
)
const HIDE = list("a list of files and folders, such as [.env, '~/.netrc']", PLACE)
const CACHE = list("a list of folders, such as ['~/.cache', /opt/cache]", PLACE)
const HOST = text('the name of a host, such as packages.example.org or *.example.com', (host) =>
  /^(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(host),
)
const TOOL = text('the name of a tool, which may end with *', (name) => /^[\w.:/-]+\*?$/.test(name))
const READING_TOOLS = list("a list of tools, such as [mcp__docs__search, 'mcp__wiki__*']", TOOL)
const READING_COMMANDS = list("a list of commands, such as ['npm test']", TESTS)
const STANDING_RULE = "a list, such as [{ paths: ['docs/**'], commands: [npm run format] }]"
const entries = (key: 'paths' | 'commands' | 'proof') =>
  list(
    `a list of ${key}`,
    z.string().check(({ value, issues }) => {
      const why = wrongEntry(key, value)
      if (why !== null) issues.push({ code: 'custom', message: why, input: value })
    }),
  ).default([])
const STANDING = z.strictObject({
  paths: entries('paths'),
  commands: entries('commands'),
  proof: entries('proof'),
})
const SANDBOX_RULE = 'mounts, none or { hosts: [packages.example.org] }'
const SANDBOX = z.enum(['mounts', 'none'], { error: SANDBOX_RULE })
const HOSTS = z.strictObject({
  hosts: list('a list of hosts, such as [packages.example.org]', HOST),
})
const PROVIDER_NAME = text(`it under a name that is ${SLUG_RULE}`, (name) =>
  SLUG.test(name),
).refine((name) => name !== OWN_PROVIDER, {
  error: `it under another name: ${OWN_PROVIDER} is reserved`,
})

const WORD = text('a text (quote it if it contains { or [)', hasNoNul)
const COMMAND_RULE = 'a command as a list of its words, such as [my-agent, --plan]'
const COMMAND = list(COMMAND_RULE, WORD).refine(([program]) => !!program, { error: COMMAND_RULE })
const MODE = text("the agent's own name of a mode, such as plan", isFilled)

const COMMAND_PROVIDER = z.strictObject({
  kind: z.literal('command'),
  plan: COMMAND,
  work: COMMAND.nullable().default(null),
  prompt: oneOf(PROMPT_BY).default('stdin'),
  stream: oneOf(STREAMS).optional(),
})
const ACP_PROVIDER = z.strictObject({
  kind: z.literal('acp'),
  command: COMMAND,
  plan_mode: MODE.nullable().default(null),
  work_mode: MODE.nullable().default(null),
})
const PRESET_PROVIDER = z.strictObject({
  preset: text(`the name of a preset: ${SLUG_RULE}`, (text) => SLUG.test(text)),
  args: list('a list of arguments, such as [--model, opus]', WORD).default([]),
})
const KIND = z.enum(['command', 'acp'], { error: 'command or acp' })
const PROVIDER_RULE =
  '{ kind: command, plan: […], work: […], prompt: stdin }, { kind: acp, command: […], plan_mode: plan, work_mode: code } or { preset: claude, args: […] }'

const NOTIFY_RULE = 'a list, such as [desktop, { ntfy: https://ntfy.sh/topic }]'
const TARGET_RULE = 'desktop, or one of ntfy, slack and webhook with its URL'
/** Checked again with the values of its variables, before anything is sent. */
const ADDRESS = text(`an http or https URL, or $\{NAME} of a variable with one`, (url) =>
  /^(?:https?:\/\/[^/\s]\S*|\$\{[A-Za-z_][A-Za-z0-9_]*\}\S*)$/.test(url),
)

type Path = readonly PropertyKey[]
/** A YAML value with its scalars as written text; null for an empty value. */
type Written = string | null | Written[] | { [key: string]: Written }

/** Checks values and reports each wrong one with its line. */
interface Checker {
  /** The value that the schema returns; null after a report. */
  check<T>(schema: z.ZodType<T>, path: Path, value: unknown): T | null
  /** The entries of a mapping. Reports unknown keys and skips keys without a value. */
  entries(path: Path, value: unknown, rule: string, keys: readonly string[]): [string, Written][]
  wrong(path: Path, expected: string): null
}

const KEYS: Record<string, (checker: Checker, path: Path, value: Written) => Partial<Settings>> = {
  provider: (checker, path, value) => given('provider', checker.check(NAME, path, value)),
  timeout: (checker, path, value) => ({ timeout: readTimeouts(checker, path, value) }),
  env(checker, path, value) {
    const rule = 'a list of names of environment variables, such as [DATABASE_URL]'
    const items = checker.check(z.array(z.unknown(), { error: rule }), path, value) ?? []
    const names = items.map((item, index) => checker.check(VARIABLE, [...path, index], item))
    return { env: [...new Set(names.filter((name) => name !== null))] }
  },
  steps: (checker, path, value) => given('steps', checker.check(STEPS, path, value)),
  tests: (checker, path, value) => given('tests', checker.check(TESTS, path, value)),
  checklist: (checker, path, value) => given('checklist', checker.check(CHECKLIST, path, value)),
  providers: readProviders,
  notify(checker, path, value) {
    const items = checker.check(z.array(z.unknown(), { error: NOTIFY_RULE }), path, value) ?? []
    const targets = items.map((item, index) => readTarget(checker, [...path, index], item))
    const found = targets.filter((target) => target !== null)
    const isFirst = ({ kind, url }: NotifyTarget, index: number) =>
      found.findIndex((other) => other.kind === kind && other.url === url) === index
    return { notify: found.filter(isFirst) }
  },
  sign_approvals: (checker, path, value) =>
    given('signApprovals', checker.check(YES_NO, path, value)),
  hide: (checker, path, value) => given('hide', checker.check(HIDE, path, value)),
  cache: (checker, path, value) => given('cache', checker.check(CACHE, path, value)),
  sandbox(checker, path, value) {
    if (!isMapping(value)) return given('sandbox', checker.check(SANDBOX, path, value))
    return given('sandbox', checker.check(HOSTS, path, value))
  },
  reading_tools: (checker, path, value) =>
    given('readingTools', checker.check(READING_TOOLS, path, value)),
  reading_commands: (checker, path, value) =>
    given('readingCommands', checker.check(READING_COMMANDS, path, value)),
  standing(checker, path, value) {
    const items = checker.check(z.array(z.unknown(), { error: STANDING_RULE }), path, value) ?? []
    const read = items.map((item, index) => checker.check(STANDING, [...path, index], item))
    return { standing: read.filter((each) => each !== null) }
  },
  parallel: (checker, path, value) => given('parallel', checker.check(PARALLEL, path, value)),
  isolation: (checker, path, value) =>
    given('isolation', checker.check(oneOf(ISOLATIONS), path, value)),
  memory_root: (checker, path, value) => given('memoryRoot', checker.check(FOLDER, path, value)),
}

export const SETTING_KEYS = Object.keys(KEYS)

function settingsIn({ text, front, fields, bodyStart }: MarkdownDocument): Settings {
  const pairs = [...(front?.map.pairs ?? [])]
  const problems: Problem[] = []
  const checker = createChecker(pairs, (offset, message) => {
    const line = lineAt(text, (front?.start ?? 0) + offset)
    problems.push({ code: 'bad_settings', file: SETTINGS_FILE, line, message })
  })
  const written = Object.fromEntries(pairs.map(([key, { value }]) => [key, writtenValue(value)]))
  const set = checker.entries([], written, '', SETTING_KEYS)
  const settings = structuredClone(DEFAULT_SETTINGS)
  for (const [key, value] of set) Object.assign(settings, KEYS[key]!(checker, [key], value))
  return {
    ...settings,
    instructions: text.slice(bodyStart).trim(),
    problems: problems.sort((a, b) => a.line! - b.line!),
    lines: new Map(set.map(([key]) => [key, lineAt(text, fields!.get(key)!.at)])),
  }
}

/** Omits the key if its value was wrong. */
function given<K extends keyof Settings>(key: K, value: Settings[K] | null): Partial<Settings> {
  return value === null ? {} : ({ [key]: value } as Partial<Settings>)
}

function readTimeouts(checker: Checker, path: Path, value: Written): Settings['timeout'] {
  const timeout = { ...DEFAULT_SETTINGS.timeout }
  const keys = Object.keys(timeout) as (keyof Settings['timeout'])[]
  const rule = `a mapping of ${keys.join(', ')} to durations`
  const set = new Map(checker.entries(path, value, rule, keys))
  for (const key of keys) {
    const written = set.get(key)
    const duration = written && checker.check(DURATION, [...path, key], written)
    if (duration) timeout[key] = parseDuration(duration)!
  }
  return timeout
}

/** A provider with any error is ignored. */
function readProviders(
  checker: Checker,
  path: Path,
  value: Written,
): Pick<Settings, 'providers' | 'faulty'> {
  const providers = new Map<string, ProviderSettings>()
  const faulty: string[] = []
  const rule = 'a mapping of names to providers'
  if (!isMapping(value)) checker.wrong(path, rule)
  for (const [name, written] of isMapping(value) ? Object.entries(value) : []) {
    const inner = [...path, name]
    const found = PROVIDER_NAME.safeParse(name)
    if (!found.success) checker.wrong(inner, found.error.issues[0]!.message)
    const provider = readProvider(checker, inner, written)
    if (provider && found.success) providers.set(name, provider)
    else faulty.push(name)
  }
  return { providers, faulty }
}

function readProvider(checker: Checker, path: Path, value: Written): ProviderSettings | null {
  if (!isMapping(value)) return checker.wrong(path, PROVIDER_RULE)
  if ('preset' in value) {
    const preset = checker.check(PRESET_PROVIDER, path, value)
    return preset && { kind: 'preset', ...preset }
  }
  if (!('kind' in value)) return checker.wrong(path, PROVIDER_RULE)
  switch (checker.check(KIND, [...path, 'kind'], value.kind)) {
    case 'command': {
      const command = checker.check(COMMAND_PROVIDER, path, value)
      if (!command) return null
      const { stream, ...others } = command
      return stream && stream !== 'plain' ? { ...others, stream } : others
    }
    case 'acp': {
      const acp = checker.check(ACP_PROVIDER, path, value)
      if (!acp) return null
      const { kind, command, plan_mode: planMode, work_mode: workMode } = acp
      return { kind, command, planMode, workMode }
    }
    default:
      return null
  }
}

function readTarget(checker: Checker, path: Path, item: unknown): NotifyTarget | null {
  if (item === 'desktop') return { kind: 'desktop', url: '' }
  const entries = isMapping(item) ? Object.entries(item) : []
  const [kind, url] = entries[0] ?? []
  const isKnown = kind === 'ntfy' || kind === 'slack' || kind === 'webhook'
  if (!isKnown || entries.length > 1) return checker.wrong(path, TARGET_RULE)
  const found = checker.check(ADDRESS, [...path, kind], url)
  return found === null ? null : { kind, url: found }
}

type Pairs = readonly [key: string, pair: Pair][]

/** `report` gets an offset into the YAML and a message. */
function createChecker(pairs: Pairs, report: (offset: number, message: string) => void): Checker {
  function wrong(path: Path, expected: string): null {
    const { offset, node } = findValue(pairs, path)
    report(offset, `${pathText(path)}: found ${shown(node)}, expected ${expected}`)
    return null
  }
  function unknown(path: Path, keys: readonly string[]): void {
    const { offset, node } = findValue(pairs, path)
    const found = `${pathText(path)} is not known (found ${shown(node)})`
    report(offset, `${found}, expected one of ${keys.join(', ')}`)
  }
  return {
    wrong,
    entries(path, value, rule, keys) {
      if (!isMapping(value)) {
        wrong(path, rule)
        return []
      }
      return Object.entries(value).filter(([key, inner]) => {
        if (keys.includes(key)) return inner !== null
        unknown([...path, key], keys)
        return false
      })
    },
    check(schema, path, value) {
      const keys = schema instanceof z.ZodObject ? Object.keys(schema.shape) : null
      const set = keys ? withoutNulls(value) : value
      const read = schema.safeParse(set)
      if (read.success) return read.data
      for (const issue of read.error.issues) {
        const [key] = issue.path
        if (issue.code === 'unrecognized_keys' && keys) {
          for (const each of issue.keys) unknown([...path, each], keys)
        } else if (keys && typeof key === 'string' && isMapping(set) && !(key in set)) {
          const { offset } = findValue(pairs, path)
          report(offset, `${pathText(path)}: ${key} is missing, expected ${issue.message}`)
        } else wrong([...path, ...issue.path], issue.message)
      }
      return null
    },
  }
}

function isMapping(value: unknown): value is { [key: string]: Written } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A key without a value counts as not set. */
function withoutNulls(value: unknown): unknown {
  if (!isMapping(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== null))
}

/** `8080` and `true` are texts here. */
function writtenValue(node: unknown): Written {
  if (isSeq(node)) return node.items.map(writtenValue)
  if (isMap(node)) {
    return Object.fromEntries(node.items.map((pair) => [keyOf(pair), writtenValue(pair.value)]))
  }
  return scalarText(node)
}

/** The value at a path, and the offset in the YAML of its key or list item. */
function findValue(pairs: Pairs, path: Path): { offset: number; node: unknown } {
  let [offset, node]: [number, unknown] = [0, null]
  let inner = pairs
  for (const key of path) {
    const pair = inner.find(([name]) => name === key)?.[1]
    const at: unknown = pair ? pair.key : isSeq(node) ? node.items[Number(key)] : null
    if (isNode(at)) offset = at.range![0]
    node = pair ? pair.value : at
    inner = isMap(node) ? node.items.map((each) => [keyOf(each), each]) : []
  }
  return { offset, node }
}

function pathText(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text === '' ? String(key) : `${text}.${String(key)}`
  }, '')
}

const SHOWN = 60

function shown(node: unknown): string {
  const text = JSON.stringify(plainNode(node))
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}
