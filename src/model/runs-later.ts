/** What a run changed that other programs run later, outside its sandbox. A fact for the operator, not a verdict. */

import * as z from 'zod'
import { counted } from './amounts.ts'
import { TRIGGER_ORDER, TRIGGERS } from './later-table.ts'
import { visibleText } from './visible-text.ts'

/** A place as it was at one moment. */
export interface LaterFile {
  /** `x` for an executable, else `-`; a blank; what tells one content from another. */
  stamp: string
  /** What runs it later. */
  starts: string
}

/** By path, for people: from the working folder, or from `~`. A repository ends with a slash. */
export type LaterFiles = Readonly<Record<string, LaterFile>>

const CHANGES = ['new', 'changed', 'mode', 'deleted'] as const

export interface RunsLater {
  file: string
  /** `mode`: only whether it is an executable changed. */
  change: (typeof CHANGES)[number]
  starts: string
  /** The changed scripts and fields of a package.json; else null. */
  scripts: readonly string[] | null
}

/** The stamp of a place that exists but could not be read; it is not compared. */
export const UNCHECKED = '? unchecked'

const JSON_STAMP = '- json '
const anything = z.unknown().optional()
/** What a tool runs or fetches by a package.json. */
const PACKAGE = z.object({
  scripts: z.record(z.string(), z.unknown()).default({}),
  bin: anything,
  husky: anything,
  'lint-staged': anything,
  packageManager: anything,
  'simple-git-hooks': anything,
  workspaces: anything,
})

/** Null if it is not the JSON of a package. */
export function stampPackage(text: string): string | null {
  try {
    const { data } = PACKAGE.safeParse(JSON.parse(text))
    return data ? `${JSON_STAMP}${JSON.stringify(data)}` : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

export function runsLater(before: LaterFiles, after: LaterFiles): RunsLater[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  const isWhole = (name: string) => name.endsWith('/') && !(before[name] && after[name])
  const whole = names.filter(isWhole)
  return names
    .filter((name) => !whole.some((folder) => folder !== name && name.startsWith(folder)))
    .flatMap((name) => compare(name, before[name], after[name]) ?? [])
    .sort((a, b) => TRIGGER_ORDER.indexOf(a.starts) - TRIGGER_ORDER.indexOf(b.starts))
}

function compare(
  file: string,
  before: LaterFile | undefined,
  after: LaterFile | undefined,
): RunsLater | null {
  const [was, is] = [before?.stamp, after?.stamp]
  const { starts } = (after ?? before)!
  if (was === is || was === UNCHECKED || is === UNCHECKED) return null
  if (starts === TRIGGERS.program && !was?.startsWith('x') && !is?.startsWith('x')) return null
  const change = !before
    ? 'new'
    : !after
      ? 'deleted'
      : was!.slice(1) === is!.slice(1)
        ? 'mode'
        : 'changed'
  const [had, has] = [parsePackage(was), parsePackage(is)]
  if (starts !== TRIGGERS.scripts || !had || !has) return { file, change, starts, scripts: null }
  const { scripts: hadScripts, ...hadFields } = had
  const { scripts: hasScripts, ...hasFields } = has
  const changed = [...listChanged(hadScripts, hasScripts), ...listChanged(hadFields, hasFields)]
  const scripts = [...new Set(changed)]
  return scripts.length === 0 ? null : { file, change, starts, scripts }
}

type Json = Readonly<Record<string, unknown>>

function listChanged(had: Json, has: Json): string[] {
  const names = new Set([...Object.keys(had), ...Object.keys(has)])
  return [...names].filter((name) => JSON.stringify(had[name]) !== JSON.stringify(has[name]))
}

/** Null if it could not be read. */
function parsePackage(stamp: string | undefined): z.infer<typeof PACKAGE> | null {
  if (stamp === undefined) return { scripts: {} }
  return stamp.startsWith(JSON_STAMP) ? JSON.parse(stamp.slice(JSON_STAMP.length)) : null
}

type Fields = Readonly<Record<string, unknown>> | undefined

/** Reads the fields of `runs_later`. */
export function readRunsLater(fields: Fields): RunsLater[] {
  const places = fields?.places
  return Array.isArray(places) ? places.flatMap((each) => readLaterFile(each) ?? []) : []
}

function readLaterFile(value: unknown): RunsLater | null {
  const { file, change, starts, scripts } = (value ?? {}) as Record<string, unknown>
  const known = CHANGES.find((each) => each === change)
  if (typeof file !== 'string' || typeof starts !== 'string' || !known) return null
  const names = Array.isArray(scripts) ? scripts.map(String) : null
  return { file, change: known, starts, scripts: names }
}

/** How many more places there are than are listed. */
export function moreRunsLater(fields: Fields): number {
  return typeof fields?.more === 'number' ? fields.more : 0
}

/** The artifact with all places, where there are more than are listed. */
export function runsLaterArtifact(fields: Fields): string | null {
  return typeof fields?.all === 'string' ? fields.all : null
}

/** A line for each place. */
export function describeAll(places: readonly RunsLater[]): string {
  return places.map((each) => `${visibleText(each.file)}: ${describeTrigger(each)}\n`).join('')
}

/** Such as `direnv or autoenv, when you enter the folder (new)`. */
export function describeTrigger({ change, starts, scripts }: RunsLater): string {
  const what = change === 'mode' ? 'executable bit changed' : change
  const names = scripts ? `: ${scripts.map((name) => visibleText(name)).join(', ')}` : ''
  return `${visibleText(starts)}${names} (${what})`
}

/** Such as `.envrc: direnv or autoenv, when you enter the folder (new); and 3 more`. */
export function describeRunsLater(fields: Fields, most = Number.POSITIVE_INFINITY): string {
  const places = readRunsLater(fields)
  const shown = places.slice(0, most)
  const rest = places.length - shown.length + moreRunsLater(fields)
  const texts = shown.map((each) => `${visibleText(each.file)}: ${describeTrigger(each)}`)
  return [...texts, ...(rest > 0 ? [`and ${rest} more`] : []), describeUnchecked(fields)]
    .filter((text) => text !== '')
    .join('; ')
}

/** How much was not checked; empty if all was. */
export function describeUnchecked(fields: Fields): string {
  const count = fields?.unseen
  return typeof count === 'number' && count > 0
    ? `${counted(count, 'place')} not checked (too many folders, or a read error)`
    : ''
}
