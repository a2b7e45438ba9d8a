/** What a run left that starts by itself later, outside of its walls. A fact for the operator, not a verdict. */

import { counted } from './amounts.ts'
import { STARTER_ORDER, STARTERS } from './later-table.ts'
import { visibleText } from './visible-text.ts'

/** A place as it was at one moment. */
export interface LaterPlace {
  /** `x` for an executable, else `-`; a blank; what tells one content from another. */
  stamp: string
  starts: string
}

/** By path, for people: from the working folder, or from `~`. A repository ends with a slash. */
export type LaterPlaces = Readonly<Record<string, LaterPlace>>

const CHANGES = ['new', 'changed', 'mode', 'deleted'] as const

export interface RunsLater {
  file: string
  /** `mode`: only whether it is an executable changed. */
  change: (typeof CHANGES)[number]
  starts: string
  /** The scripts of a package.json that changed; else null. */
  scripts: readonly string[] | null
}

const SCRIPTS = 'scripts '

/** The stamp of the only part of a package.json that starts something. */
export function scriptsStamp(scripts: Readonly<Record<string, unknown>>): string {
  return `- ${SCRIPTS}${JSON.stringify(scripts)}`
}

export function runsLater(before: LaterPlaces, after: LaterPlaces): RunsLater[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  const isWhole = (name: string) => name.endsWith('/') && !(before[name] && after[name])
  const whole = names.filter(isWhole)
  return names
    .filter((name) => !whole.some((folder) => folder !== name && name.startsWith(folder)))
    .flatMap((name) => changeOf(name, before[name], after[name]) ?? [])
    .sort((a, b) => STARTER_ORDER.indexOf(a.starts) - STARTER_ORDER.indexOf(b.starts))
}

function changeOf(
  file: string,
  before: LaterPlace | undefined,
  after: LaterPlace | undefined,
): RunsLater | null {
  const [was, is] = [before?.stamp, after?.stamp]
  const { starts } = (after ?? before)!
  if (was === is) return null
  if (starts === STARTERS.program && !was?.startsWith('x') && !is?.startsWith('x')) return null
  const change = !before
    ? 'new'
    : !after
      ? 'deleted'
      : was!.slice(1) === is!.slice(1)
        ? 'mode'
        : 'changed'
  const [had, has] = [scriptsIn(was), scriptsIn(is)]
  if (starts !== STARTERS.scripts || !had || !has) return { file, change, starts, scripts: null }
  const scripts = [...new Set([...Object.keys(had), ...Object.keys(has)])].filter(
    (name) => JSON.stringify(had[name]) !== JSON.stringify(has[name]),
  )
  return scripts.length === 0 ? null : { file, change, starts, scripts }
}

/** Null if they could not be read. */
function scriptsIn(stamp: string | undefined): Record<string, unknown> | null {
  if (stamp === undefined) return {}
  return stamp.startsWith(SCRIPTS, 2) ? JSON.parse(stamp.slice(2 + SCRIPTS.length)) : null
}

type Fields = Readonly<Record<string, unknown>> | undefined

/** Reads the fields of `runs_later`. */
export function readRunsLater(fields: Fields): RunsLater[] {
  const places = fields?.places
  return Array.isArray(places) ? places.flatMap((each) => readPlace(each) ?? []) : []
}

function readPlace(value: unknown): RunsLater | null {
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

/** Such as `direnv or autoenv, when you enter the folder (new)`. */
export function startsText({ change, starts, scripts }: RunsLater): string {
  const what = change === 'mode' ? 'executable bit changed' : change
  const names = scripts ? `: ${scripts.map((name) => visibleText(name)).join(', ')}` : ''
  return `${visibleText(starts)}${names} (${what})`
}

/** Such as `.envrc: direnv or autoenv, when you enter the folder (new); and 3 more`. */
export function laterText(fields: Fields, most = Number.POSITIVE_INFINITY): string {
  const places = readRunsLater(fields)
  const shown = places.slice(0, most)
  const rest = places.length - shown.length + moreRunsLater(fields)
  const texts = shown.map((each) => `${visibleText(each.file)}: ${startsText(each)}`)
  return [...texts, ...(rest > 0 ? [`and ${rest} more`] : []), unseenText(fields)]
    .filter((text) => text !== '')
    .join('; ')
}

/** What was not looked at, as there are too many; empty if all was. */
export function unseenText(fields: Fields): string {
  const unseen = fields?.unseen
  return typeof unseen === 'number' && unseen > 0
    ? `${counted(unseen, 'folder')} not looked at`
    : ''
}
