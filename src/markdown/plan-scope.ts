import { braceExpand } from 'minimatch'
import type { StepError } from '../model/plan-step.ts'
import { isInGit, type PlanScope, SCOPE_KEYS } from '../model/scope.ts'
import { visibleText } from '../model/visible-text.ts'
import { readDocument } from './document.ts'
import { lineAt, linesOf } from './lines.ts'
import { reservedName } from './near-name.ts'
import { headingText } from './outline.ts'
import type { Parsed, ParsedItem } from './parse.ts'
import { fenceFor } from './sections.ts'
import type { YamlValue } from './yaml-scalar.ts'

const MAX_ENTRIES = 100
const MAX_LENGTH = 300
/** Matching takes polynomial time in these. */
const MAX_STARS = 2
const MAX_GROUPS = 3
const MAX_ALTERNATIVES = 20

const FRONT_KEYS = [...SCOPE_KEYS, 'proof'] as const
type Key = (typeof FRONT_KEYS)[number]

/** One of the lists, as found in the plan. */
interface Found {
  key: Key
  entries: string[]
  line: number
}

interface Findings {
  found: Found[]
  errors: StepError[]
}

export interface ScopeReading {
  scope: PlanScope
  /** The commands that prove an intent; null in another plan. */
  proof: { entries: string[]; line: number } | null
  errors: StepError[]
}

/** The frontmatter of a plan: YAML between two `---` lines above everything else. */
export interface PlanFront extends Findings {
  /** Offset after it; 0 without frontmatter. */
  end: number
  /** Its other keys. */
  others: { name: string; line: number }[]
}

const FRONT_KEY = /^["']?(?:paths?|commands?|proofs?)["']?[ \t]*:/

/**
 * Reads a plan's frontmatter. What cannot be read is an error if it looks like a scope; else it is no frontmatter, as
 * a plan may begin with a thematic break.
 */
export function readPlanFront(plan: string): PlanFront {
  const none: PlanFront = { end: 0, found: [], errors: [], others: [] }
  const start = /^\ufeff?\s*/.exec(plan)![0].length
  if (!/^---[ \t]*(?:\r?\n)/.test(plan.slice(start, start + 200))) return none
  const read = readDocument(plan.slice(start))
  const lineOf = (offset: number) => lineAt(plan, start + offset)
  if (!read.ok) {
    if (!looksLikeScope(plan, start)) return none
    const line = lineOf(0) + read.line - 1
    const hint = 'a text that begins with *, {, [ or ! needs quotes'
    const message = `the scope in the frontmatter cannot be read: ${read.message} (${hint})`
    return { ...none, errors: [{ line, message }] }
  }
  const { fields, bodyStart } = read.document
  if (!fields || fields.size === 0) return none
  const front: PlanFront = { ...none, end: start + bodyStart, found: [], errors: [], others: [] }
  for (const [name, { value, at }] of fields) {
    const line = lineOf(at)
    const key = keyNamed(name)
    if (key === null) {
      front.others.push({ name, line })
      continue
    }
    const entries = key === name ? entriesOf(value) : null
    if (entries) front.found.push({ key, entries, line })
    else front.errors.push({ line, message: wrongKey(key, name) })
  }
  return front
}

/** The plan for a renderer of markdown: its frontmatter as a block of code, on the same lines. */
export function withShownFront(plan: string): string {
  const { end } = readPlanFront(plan)
  if (end === 0) return plan
  const front = plan.slice(0, end)
  const fence = fenceFor(front)
  const shown = front
    .replace(/---(?=[ \t]*[\r\n])/, `${fence}yaml`)
    .replace(/---(?=[ \t]*(?:\r\n|\n)?$)/, fence)
  return shown + plan.slice(end)
}

/** Whether one of the lines up to the closing `---`, or else up to the first blank one, has a key of the scope. */
function looksLikeScope(plan: string, start: number): boolean {
  const lines = [...linesOf(plan.slice(start, start + 64 * 1024))].slice(1).map(({ text }) => text)
  const closing = lines.findIndex((text) => /^---[ \t]*$/.test(text))
  const blank = lines.findIndex((text) => text.trim() === '')
  const end = closing >= 0 ? closing : blank
  return lines.slice(0, end < 0 ? lines.length : end).some((text) => FRONT_KEY.test(text))
}

function keyNamed(name: string): Key | null {
  return FRONT_KEYS.find((key) => key === name || key === `${name}s` || `${key}s` === name) ?? null
}

const EXAMPLES: Record<Key, string> = {
  paths: "paths: ['src/**', 'test/*.ts']",
  commands: "commands: ['npm test', 'git diff']",
  proof: "proof: ['npm test']",
}

function wrongKey(key: Key, name: string): string {
  return key === name
    ? `${key}: expected a list of texts, such as ${EXAMPLES[key]}`
    : `"${name}" is not known: write "${key}"`
}

function entriesOf(value: YamlValue): string[] | null {
  if (typeof value === 'string') return splitEntries(value)
  if (!Array.isArray(value)) return null
  const isScalar = (item: YamlValue) => item !== null && typeof item !== 'object'
  return value.every(isScalar) ? value.map((item) => String(item).trim()) : null
}

/** A section `## Scope`, from the end of its heading to the next heading. */
interface Section {
  from: number
  to: number
}

/** The offsets of a plan's lists that name its scope, and what they say. */
export interface ListedScope extends Findings {
  sections: Section[]
}

/** Whether `readListedScope` may find something, so that the plan has to be parsed. */
export function mayListScope(plan: string): boolean {
  return /^ {0,3}#{2,6}[ \t][^\r\n\u2028\u2029]*scope/im.test(plan)
}

/** Reads the lists below the headings `## Scope`. A section without a key of the scope is prose. */
export function readListedScope(plan: string, { headings, items, lines }: Parsed): ListedScope {
  const listed: ListedScope = { sections: [], found: [], errors: [] }
  headings.forEach(({ depth, atx, start, next }, index) => {
    const heading = linesOf(plan, start).next().value
    if (!atx || !heading || !reservedName(depth, headingText(heading.text), ['Scope'])) return
    const section: Section = { from: next, to: headings[index + 1]?.start ?? plan.length }
    const isInside = (each: { start: number }) =>
      each.start >= section.from && each.start < section.to
    const { found, errors } = readItems(plan, items.filter(isInside))
    for (const { text, start } of lines.filter(isInside)) {
      if (keyAndRest(text) === null) continue
      errors.push({ line: lineAt(plan, start), message: 'write the scope as a list: - paths: …' })
    }
    if (found.length + errors.length > 0) listed.sections.push(section)
    listed.found.push(...found)
    listed.errors.push(...errors)
  })
  return listed
}

function readItems(plan: string, items: readonly ParsedItem[]): Findings {
  const findings: Findings = { found: [], errors: [] }
  for (const item of items) {
    const named = keyAndRest(item.text)
    const isNested = items.some((other) => other !== item && contains(other, item))
    if (named === null || isNested) continue
    const line = lineAt(plan, item.start)
    const inner = items.filter((other) => other !== item && contains(item, other))
    const entries = [...splitEntries(named.rest), ...inner.map(({ text }) => unwrapped(text))]
    if (named.key !== named.name) {
      findings.errors.push({ line, message: wrongKey(named.key, named.name) })
    } else if (entries.length === 0) {
      const message = `${named.key}: expected a list, such as - ${named.key}: ${named.key === 'paths' ? 'src/**, test/*.ts' : 'npm test, git diff'}`
      findings.errors.push({ line, message })
    } else findings.found.push({ key: named.key, entries, line })
  }
  return findings
}

function contains(outer: ParsedItem, inner: ParsedItem): boolean {
  return outer.start <= inner.start && inner.end <= outer.end
}

/** The key that begins a list item, also in bold, and the text after its colon. */
function keyAndRest(text: string): { key: Key; name: string; rest: string } | null {
  const [, open = '', name = '', close = '', rest = ''] =
    /^([*_]{0,2})(paths?|commands?)([*_]{0,2})[ \t]*:([\s\S]*)$/i.exec(text) ?? []
  const key = keyNamed(name.toLowerCase())
  if (key === null) return null
  const isOpen = open !== '' && close === '' && rest.startsWith(open)
  return { key, name: name.toLowerCase(), rest: isOpen ? rest.slice(open.length) : rest }
}

/** Splits at commas, except in quotes and braces. */
function splitEntries(text: string): string[] {
  const entries = ['']
  for (const [piece] of text.matchAll(/`[^`]*`|"[^"]*"|'[^']*'|\{[^{}]*\}|[\s\S]/g)) {
    if (piece === ',') entries.push('')
    else entries[entries.length - 1] += piece
  }
  return entries.map(unwrapped).filter((entry) => entry !== '')
}

/** An entry without the code marks or quotes around it. */
function unwrapped(entry: string): string {
  const text = entry.replace(/\s+/g, ' ').trim()
  return (/^(?:`([^`]*)`|"([^"]*)"|'([^']*)')$/.exec(text)?.slice(1).join('') ?? text).trim()
}

/** Puts the findings together. A list that is named twice, or has a wrong entry, is an error. */
export function combineScope(...findings: readonly Findings[]): ScopeReading {
  const errors = findings.flatMap((each) => each.errors)
  const scope: PlanScope = { paths: null, commands: null }
  let proof: ScopeReading['proof'] = null
  for (const { key, entries, line } of findings.flatMap(({ found }) => found)) {
    const wrong = (message: string) => errors.push({ line, message: `${key}: ${message}` })
    if (key === 'proof') {
      proof = { entries, line }
    } else if (scope[key] !== null) wrong('the scope has this list twice')
    if (entries.length > MAX_ENTRIES) wrong(`at most ${MAX_ENTRIES} entries are allowed`)
    for (const entry of entries) {
      const why = wrongEntry(key, entry)
      if (why !== null) wrong(`"${visibleText(entry.slice(0, 60))}": ${why}`)
    }
    if (key !== 'proof') scope[key] = [...(scope[key] ?? []), ...entries]
  }
  return { scope, proof, errors: errors.sort((a, b) => a.line - b.line) }
}

/** Why a text cannot be an entry of a list; null if it can. */
export function wrongEntry(key: Key, entry: string): string | null {
  if (entry.length > MAX_LENGTH) return TOO_LONG
  return CHECKS[key](entry) ?? (visibleText(entry) === entry ? null : HIDDEN)
}

const TOO_LONG = `at most ${MAX_LENGTH} characters are allowed`
const HIDDEN = 'characters that are hidden, or only look like a space, are not allowed'
const CHECKS: Record<Key, (entry: string) => string | null> = {
  paths: wrongGlob,
  commands: (command) =>
    command.includes('*')
      ? 'commands are compared by their first words, without wildcards'
      : wrongCommand(command),
  proof: wrongCommand,
}

/** Why a text is no glob for files in the working folder; null if it is one. */
function wrongGlob(glob: string): string | null {
  if (glob.trim() === '') return 'expected a glob'
  if (glob.startsWith('!')) return 'a scope lists only what is allowed, so ! has no meaning'
  if (/[\\\0-\x1f]/.test(glob)) return 'a backslash or control character is not allowed'
  if (!isBalanced(glob, '[', ']')) return 'a bracket [ is not closed'
  if (!isBalanced(glob, '{', '}')) return 'a brace { is not closed'
  if (glob.split('{').length - 1 > MAX_GROUPS || /\{[^}]*(?:\{|\.\.)/.test(glob)) {
    return `at most ${MAX_GROUPS} lists in braces are allowed, none in another and no ranges`
  }
  if (glob.split(',').length > MAX_ALTERNATIVES) return 'its braces have too many alternatives'
  if (glob.split('/').some((name) => name.split(/\*+/).length - 1 > MAX_STARS)) {
    return `at most ${MAX_STARS} wildcards * are allowed in one name`
  }
  const all = braceExpand(glob)
  // braces may make `..` of parts
  if (all.some((each) => /^(?:\s*$|[/~]|[a-z]:)|(?:^|\/)\.\.(?:\/|$)/i.test(each))) {
    return 'expected a path inside the working folder'
  }
  return all.some(isInGit) ? 'no plan allows changes of .git, which belongs to git' : null
}

function isBalanced(text: string, open: string, close: string): boolean {
  let depth = 0
  for (const character of text) {
    if (character === open) depth++
    if (character === close && --depth < 0) return false
  }
  return depth === 0
}

/** Why a text does not name one command; null if it does. */
function wrongCommand(command: string): string | null {
  if (command.trim() === '') return 'expected a command'
  if (/[;&|<>()`$\\\0-\x1f]/.test(command)) {
    return 'expected one command, without ; & | < > ( ) ` $ or \\: write each one as an entry'
  }
  if (/^(?:[^'"]|'[^']*'|"[^"]*")*$/.test(command)) return null
  return 'a quote is not closed'
}
