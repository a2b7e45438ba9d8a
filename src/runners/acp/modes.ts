import { asArray, asRecord, asString } from '../agents/unknown-record.ts'

/** The modes that an agent offers for a session, by either way of the protocol. */
export interface ModeOffer {
  /** The config option for the mode; null if the agent only has the older session modes. */
  option: string | null
  /** Whether the older session modes exist, too. */
  hasModes: boolean
  current: string | null
  modes: readonly Mode[]
}

export interface Mode {
  id: string
  name: string
}

/** The modes offered in an answer to session/new; null if there are none. */
export function offerIn(session: unknown): ModeOffer | null {
  const { configOptions, modes } = asRecord(session)
  const option = modeOption(configOptions)
  const { availableModes, currentModeId } = asRecord(modes)
  const older = asArray(availableModes).flatMap((mode) => readMode(mode, 'id'))
  if (!option && older.length === 0) return null
  return {
    option: option?.id ?? null,
    hasModes: older.length > 0,
    current: option ? option.current : asString(currentModeId),
    modes: option ? option.modes : older,
  }
}

/** The current mode according to an answer's or update's config options; null if they do not say. */
export function modeIn(configOptions: unknown): string | null {
  return modeOption(configOptions)?.current ?? null
}

function modeOption(configOptions: unknown) {
  const options = asArray(configOptions)
    .map(asRecord)
    .filter(({ id, options }) => typeof id === 'string' && Array.isArray(options))
  const found =
    options.find(({ category }) => category === 'mode') ?? options.find(({ id }) => id === 'mode')
  if (!found) return null
  const modes = asArray(found.options).flatMap((entry) => {
    const group = asRecord(entry).options
    return (Array.isArray(group) ? group : [entry]).flatMap((mode) => readMode(mode, 'value'))
  })
  return { id: String(found.id), current: asString(found.currentValue), modes }
}

function readMode(mode: unknown, key: 'id' | 'value'): Mode[] {
  const { [key]: id, name } = asRecord(mode)
  return typeof id === 'string' ? [{ id, name: asString(name) ?? id }] : []
}

/** Modes without questions or limits, or where a model approves actions. Only casefile.md may select one. */
const UNBOUNDED =
  /bypass|yolo|full[-_ ]?access|unrestricted|dangerous|autopilot|allow[-_ ]?all|don['’]?t[-_ ]?ask|(?:^|#)auto(?:[-_ ]?(?:mode|pilot|review|run|approve))?$/i

/** Names of modes in which an agent does not write, best first. */
const PLANNING = [['plan', 'planning', 'planner'], ['readonly'], ['architect'], ['ask']]
/** Words of work modes, as in `Always Ask` and `Auto-accept plan`. */
const WORKING = /^(?:auto|accept|always|skip|no|not|non|without|exit|execute|edits?|act|writes?)$/

/**
 * The mode to plan in: the one the operator names, else one whose id or name says so. Null if it is not offered.
 */
export function planModeOf({ modes }: ModeOffer, named: string | null): string | null {
  if (named !== null) return modes.some(({ id }) => id === named) ? named : null
  for (const words of PLANNING) {
    const found = modes.find(({ id, name }) => isCalled(id, words) || isCalled(name, words))
    if (found) return found.id
  }
  return null
}

export type WorkMode = { set: string } | { is: string | null } | 'none'

/**
 * The mode to work in: the one the operator names, else the present one. Never a mode that only plans, and an unrestricted one only if the operator names it. `is` means it is already in that
 * mode.
 */
export function workModeOf(
  { modes, current }: ModeOffer,
  { named, plan }: { named: string | null; plan: string | null },
): WorkMode {
  const fits = ({ id, name }: Mode) =>
    id !== plan &&
    !isUnbounded(id) &&
    !isUnbounded(name) &&
    !PLANNING.some((words) => isCalled(id, words) || isCalled(name, words))
  if (named !== null) {
    if (named === current) return { is: named }
    return modes.some(({ id }) => id === named) ? { set: named } : 'none'
  }
  const present = modes.find(({ id }) => id === current)
  if (!present || fits(present)) return { is: current }
  const chosen = modes.find(fits)
  return chosen ? { set: chosen.id } : 'none'
}

export function isUnbounded(mode: string): boolean {
  return UNBOUNDED.test(mode)
}

/** Whether a name or id consists of these words. For a URL, only the part after `#` counts. */
function isCalled(name: string, words: readonly string[]): boolean {
  const parts = name
    .slice(name.lastIndexOf('#') + 1)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/\bread[^a-z]*only\b/, 'readonly')
    .split(/[^a-z]+/)
  return parts.some((part) => words.includes(part)) && !parts.some((part) => WORKING.test(part))
}
