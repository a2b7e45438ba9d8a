/** Stores the baselines of cases: values that are frozen during a run. */

import { createKeyedMutex } from '../files/keyed-mutex.ts'
import { type Baseline, EMPTY_BASELINE, type IgnoredChange } from '../model/baseline.ts'
import { baselineAfter, isEmpty } from '../model/baseline-changes.ts'
import type { Edit } from '../model/case-contents.ts'
import type { Session } from '../model/session.ts'
import { isRunning } from '../model/session-state.ts'
import type { BaselineStore, OpenRun, Watch } from '../state/baselines.ts'
import { caseValues } from './build-case-contents.ts'
import type { CaseEntry } from './case-entry.ts'

/**
 * Baselines of cases. They freeze values while a session executes whose processes can write the case files: the
 * values at its start keep counting until a request confirms a change. They are in memory, and in the database for
 * the next start.
 */
export interface Baselines<Run extends OpenRun = OpenRun> {
  /** The running sessions that can write case files, by id. */
  readonly runs: Map<string, Run>
  /** Processes that a run left behind, as a phrase; null without any. */
  left: string | null
  /** The baseline of a case; during a run, an empty baseline for a case that did not exist before. */
  of(caseId: string): Baseline | undefined
  get(caseId: string): Baseline | undefined
  ids(): string[]
  all(): Record<string, Baseline>
  /** Sets the baseline of a case. It applies at once; resolves when it is stored. */
  put(caseId: string, baseline: Baseline | null): Promise<void>
  /** Sets a baseline in memory only, for all cases at the start of a run; the caller stores them together. */
  keep(caseId: string, baseline: Baseline): void
  drop(caseId: string): void
  /**
   * Updates the baseline after an edit of the service was written. `entry` is the case after it, `ignored` the
   * changes ignored before it.
   */
  written(edit: Edit, entry: CaseEntry, ignored: readonly IgnoredChange[]): Promise<void>
  /** Whether a session runs in this process. */
  isLive(session: Session): boolean
  load(): Watch | null
  idle(): Promise<void>
}

export function createBaselines<Run extends OpenRun>(
  store: Pick<BaselineStore, 'read' | 'write' | 'remove'>,
  running: ReadonlySet<string>,
): Baselines<Run> {
  const runs = new Map<string, Run>()
  const known = new Map<string, Baseline>()
  /** Cases with their own row in the database, which overrides the common row. */
  const stored = new Set<string>()
  const order = createKeyedMutex()
  const isLive = ({ id, state }: Session) => isRunning(state) && running.has(id)

  function put(caseId: string, baseline: Baseline | null): Promise<void> {
    if (baseline && !isEmpty(baseline)) {
      known.set(caseId, baseline)
      stored.add(caseId)
      return order.run(caseId, () => store.write(caseId, baseline))
    }
    known.delete(caseId)
    if (!stored.delete(caseId)) return Promise.resolve()
    return order.run(caseId, () => store.remove(caseId))
  }

  const baselines: Baselines<Run> = {
    runs,
    left: null,
    of(caseId) {
      const found = known.get(caseId) ?? (runs.size > 0 ? EMPTY_BASELINE : undefined)
      const { left } = baselines
      return found && left !== null ? { ...found, left } : found
    },
    get: (caseId) => known.get(caseId),
    ids: () => [...known.keys()],
    all: () => Object.fromEntries(known),
    put,
    keep: (caseId, baseline) => void known.set(caseId, baseline),
    drop: (caseId) => void known.delete(caseId),
    async written(edit, entry, ignored) {
      const baseline = known.get(entry.id)
      if (!baseline) return
      const after = baselineAfter(baseline, edit, {
        ignored,
        files: caseValues(entry),
        isLive,
      })
      // the edit is made; the database logs the error, and stores the baseline later
      if (after !== baseline) await put(entry.id, after).catch(() => {})
    },
    isLive,
    load() {
      const { watch, own } = store.read()
      const all = [...Object.entries(watch?.cases ?? {}), ...own]
      for (const [id, baseline] of all) known.set(id, baseline)
      for (const id of own.keys()) stored.add(id)
      return watch
    },
    idle: order.idle,
  }
  return baselines
}
