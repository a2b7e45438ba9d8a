/** The files that a step leaves in the artifacts folder of its case, and their names. */

import { hasCode } from '../files/errno.ts'
import { AppError } from '../model/app-error.ts'
import { artifactPath, makeArtifacts } from '../runners/output/artifacts.ts'
import { type OutputLog, openOutputLog } from '../runners/output/output-log.ts'
import type { Layout } from '../workspace/layout.ts'

/** Tried in turn if a name is taken, for example by an earlier step. */
const SUFFIXES = ['', ...Array.from({ length: 98 }, (_, index) => `-${index + 2}`)]

/** The artifact with an agent's original output, next to the readable log made from it. */
export function rawName(log: string): string {
  return log.replace(/\.log$/, '.raw.jsonl')
}

export interface NamedLog {
  name: string
  output: OutputLog
}

/** Opens a new artifact for output, under the first free name. Existing files are not touched. */
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

/** Whether `createArtifact` failed because the name is taken. */
export function isTakenArtifact(error: unknown): boolean {
  return error instanceof AppError && error.code === 'already_exists'
}

/** Creates something under `wanted`, or with a number before its extension. Rejects if 99 names are taken. */
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
  throw new Error(`${wanted} and ${SUFFIXES.length - 1} similar names are taken in artifacts/`)
}
