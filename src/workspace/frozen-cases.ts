/** Stores the frozen values of cases during runs. */

import { createKeyedMutex } from '../files/keyed-mutex.ts'
import type { Edit } from '../model/case-contents.ts'
import { frozenAfter, isEmpty } from '../model/frozen-value-edits.ts'
import { type FrozenValues, type IgnoredChange, NONE_EXISTED } from '../model/frozen-values.ts'
import type { Session } from '../model/session.ts'
import { isActive } from '../model/session-state.ts'
import type { FrozenValuesStore, OpenRun, Watch } from '../state/frozen-values.ts'
import { caseValues } from './build-case-contents.ts'
import type { CaseEntry } from './case-entry.ts'

/**
 * Frozen values of cases, while a session executes whose processes can write the case files: the
 * values at its start keep counting until a request confirms a change. They are in memory, and in the database for
 * the next start.
 */
export interface FrozenCases<Run extends OpenRun = OpenRun> {
  /** The running sessions that can write case files, by id. */
  readonly runs: Map<string, Run>
  /** Processes that a run left behind, as a phrase; null without any. */
  left: string | null
  /** The frozen values of a case; during a run, no frozen values for a case that did not exist before. */
  of(caseId: string): FrozenValues | undefined
  get(caseId: string): FrozenValues | undefined
  ids(): string[]
  all(): Record<string, FrozenValues>
  /** Sets the frozen values of a case. It applies at once; resolves when it is stored. */
  put(caseId: string, frozen: FrozenValues | null): Promise<void>
  /** Sets frozen values in memory only, for all cases at the start of a run; the caller stores them together. */
  keep(caseId: string, frozen: FrozenValues): void
  drop(caseId: string): void
  /**
   * Updates the frozen values after an edit of the service was written. `entry` is the case after it, `ignored` the
   * changes ignored before it.
   */
  written(edit: Edit, entry: CaseEntry, ignored: readonly IgnoredChange[]): Promise<void>
  /** Whether a session runs in this process. */
  isRunningHere(session: Session): boolean
  load(): Watch | null
  idle(): Promise<void>
}

export function createFrozenCases<Run extends OpenRun>(
  store: Pick<FrozenValuesStore, 'read' | 'write' | 'remove'>,
  running: ReadonlySet<string>,
): FrozenCases<Run> {
  const runs = new Map<string, Run>()
  const known = new Map<string, FrozenValues>()
  /** Cases with their own row in the database, which overrides the common row. */
  const stored = new Set<string>()
  const order = createKeyedMutex()
  const isRunningHere = ({ id, state }: Session) => isActive(state) && running.has(id)

  function put(caseId: string, frozen: FrozenValues | null): Promise<void> {
    if (frozen && !isEmpty(frozen)) {
      known.set(caseId, frozen)
      stored.add(caseId)
      return order.run(caseId, () => store.write(caseId, frozen))
    }
    known.delete(caseId)
    if (!stored.delete(caseId)) return Promise.resolve()
    return order.run(caseId, () => store.remove(caseId))
  }

  const frozenCases: FrozenCases<Run> = {
    runs,
    left: null,
    of(caseId) {
      const found = known.get(caseId) ?? (runs.size > 0 ? NONE_EXISTED : undefined)
      const { left } = frozenCases
      return found && left !== null ? { ...found, left } : found
    },
    get: (caseId) => known.get(caseId),
    ids: () => [...known.keys()],
    all: () => Object.fromEntries(known),
    put,
    keep: (caseId, frozen) => void known.set(caseId, frozen),
    drop: (caseId) => void known.delete(caseId),
    async written(edit, entry, ignored) {
      const frozen = known.get(entry.id)
      if (!frozen) return
      const after = frozenAfter(frozen, edit, {
        ignored,
        files: caseValues(entry),
        isRunningHere,
      })
      // the edit is made; the database logs the error, and stores the frozen values later
      if (after !== frozen) await put(entry.id, after).catch(() => {})
    },
    isRunningHere,
    load() {
      const { watch, own } = store.read()
      const all = [...Object.entries(watch?.cases ?? {}), ...own]
      for (const [id, frozen] of all) known.set(id, frozen)
      for (const id of own.keys()) stored.add(id)
      return watch
    },
    idle: order.idle,
  }
  return frozenCases
}
