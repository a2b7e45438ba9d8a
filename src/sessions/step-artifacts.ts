import { hasCode } from '../files/errno.ts'
import { AppError } from '../model/app-error.ts'
import type { PlanStep, StepProof } from '../model/plan-step.ts'
import { artifactPath, makeArtifacts } from '../runners/output/artifacts.ts'
import { type OutputLog, openOutputLog } from '../runners/output/output-log.ts'
import type { Layout } from '../workspace/layout.ts'

/** Where a name is taken already, by a step that came before, say. */
const SUFFIXES = ['', ...Array.from({ length: 98 }, (_, index) => `-${index + 2}`)]

/** The names of a step's artifacts: all its output, and the report that it prints, if it is one. */
export interface StepArtifacts {
  log: string | null
  report: string | null
}

/** The names that are used unless they are taken. */
export function stepArtifacts(number: number, step: Pick<PlanStep, 'id' | 'proof'>) {
  const stem = `${number}-${step.id}`
  const ending = step.proof && REPORT_ENDINGS.get(step.proof)
  return { log: `${stem}.log`, report: ending ? stem + ending : null }
}

const REPORT_ENDINGS: ReadonlyMap<StepProof, string> = new Map([
  ['tap', '.tap'],
  ['junit', '.xml'],
  ['go', '.jsonl'],
])

/** The artifact with what an agent itself sent, beside the log that is made from it. */
export function rawName(log: string): string {
  return log.replace(/\.log$/, '.raw.jsonl')
}

export interface NamedLog {
  name: string
  output: OutputLog
}

/** A new artifact for output as it comes, under the first name that is free: what is there stays. */
export async function openNamedLog(
  layout: Layout,
  case_id: string,
  wanted: string,
): Promise<NamedLog> {
  await makeArtifacts(layout, case_id)
  return underFreeName(wanted, isTaken, async (name) => ({
    name,
    output: await openOutputLog(artifactPath(layout, case_id, name)),
  }))
}

function isTaken(error: unknown): boolean {
  return hasCode(error, 'EEXIST')
}

/** As `createArtifact` says it. */
export function isTakenArtifact(error: unknown): boolean {
  return error instanceof AppError && error.code === 'already_exists'
}

/** Makes something under `wanted`, or with a number before its extension; rejects when 99 are taken. */
export async function underFreeName<T>(
  wanted: string,
  isTaken: (error: unknown) => boolean,
  make: (name: string) => Promise<T>,
): Promise<T> {
  const dot = wanted.lastIndexOf('.')
  for (const suffix of SUFFIXES) {
    try {
      return await make(wanted.slice(0, dot) + suffix + wanted.slice(dot))
    } catch (error) {
      if (!isTaken(error)) throw error
    }
  }
  throw new Error(`${wanted} and ${SUFFIXES.length - 1} names like it are taken in artifacts/`)
}
