import { createKeyedMutex } from '../files/keyed-mutex.ts'
import type { IgnoredChange } from '../model/baseline.ts'
import { type CaseFolder, sessionOf } from '../model/case-folder.ts'
import { isSealed } from '../model/session.ts'
import { type NewTrailLine, numbered, type TrailLine } from '../model/trail.ts'
import type { OpenRun } from '../state/baselines.ts'
import type { Store } from '../workspace/store.ts'
import type { Job } from './jobs.ts'
import { updateWithRetry } from './update-with-retry.ts'

export type GuardedRun = OpenRun & Pick<Job, 'ending'>

/** Records each ignored change once in the audit trails of the executing sessions. */
export interface IgnoredChangeLines {
  name(folder: CaseFolder, runs: readonly GuardedRun[]): void
  /** Treats the present ignored changes as recorded, and forgets earlier ones. */
  begin(folders: Iterable<CaseFolder>): void
  /** The same, from what `words` returned before a restart. */
  resume(words: Iterable<string>): void
  words(): string[]
  idle(): Promise<void>
}

/** A program that creates proofs endlessly must not fill the audit trail. */
const MAX_NAMED = 100

export function createIgnoredChangeLines(deps: {
  store: Pick<Store, 'update'>
  now(): string
  log(line: string): void
}): IgnoredChangeLines {
  const published = new Set<string>()
  const order = createKeyedMutex()
  let named = 0

  async function append(run: GuardedRun, line: NewTrailLine): Promise<void> {
    await updateWithRetry(deps.store, run, (folder) => {
      const session = sessionOf(folder, run.session_id)
      if (isSealed(session) || session.trail.some((each) => isSame(each, line))) return []
      const lines = numbered(session.trail, [line], deps.now())
      return [{ file: 'session', number: session.number, edit: { lines } }]
    })
  }

  return {
    name({ case: { id }, ignored }, runs) {
      for (const each of ignored.filter((one) => !published.has(changeKey(id, one)))) {
        published.add(changeKey(id, each))
        if (++named > MAX_NAMED) continue
        for (const run of runs) {
          const line = lineOf(run, id, each)
          void order
            .run(run.session_id, () => append(run, line))
            .catch((error: unknown) =>
              deps.log(
                `could not record a change in the audit trail of session ${run.number} of case ${run.case_id}: ${String(error)}`,
              ),
            )
        }
      }
    },
    begin(folders) {
      published.clear()
      named = 0
      for (const { case: of, ignored } of folders) {
        for (const each of ignored) published.add(changeKey(of.id, each))
      }
    },
    resume(words) {
      for (const word of words) published.add(word)
    },
    words: () => [...published],
    idle: order.idle,
  }
}

function changeKey(caseId: string, { kind, file, from, to }: IgnoredChange): string {
  return [caseId, kind, file, from, to].join('\n')
}

function lineOf(
  run: OpenRun,
  case_id: string,
  { kind, file, from, to }: IgnoredChange,
): NewTrailLine {
  const of = case_id === run.case_id ? {} : { changed_case: case_id } // an event has a case_id field already
  return { event: 'changed_during_run', fields: { ...of, file, what: kind, from, to } }
}

function isSame(line: TrailLine, { event, fields }: NewTrailLine): boolean {
  return line.event === event && JSON.stringify(line.fields) === JSON.stringify(fields)
}
