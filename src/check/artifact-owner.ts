import { join } from 'node:path'
import { stampOf } from '../files/safe-read.ts'
import type { Session } from '../model/session.ts'
import { stepsOf } from '../model/trail-steps.ts'
import { artifactsOf } from '../runners/output/artifact-renaming.ts'
import { endOfFile } from '../runners/output/output-log.ts'
import type { Layout } from '../workspace/layout.ts'

const MIB = 1024 * 1024

/**
 * Whether the artifacts with this number belong to a session. Its audit trail has the length and the end of each
 * step's output, which are compared with the files. Null if there is nothing to compare.
 */
export async function isOutputOf(
  layout: Layout,
  caseId: string,
  number: number,
  { trail }: Pick<Session, 'trail'>,
): Promise<boolean | null> {
  const names = new Set(await artifactsOf(layout, caseId, number))
  let compared: boolean | null = null
  for (const { artifacts, finished } of stepsOf(number, trail)) {
    const { log } = artifacts
    if (log === null || !names.has(log) || !finished || finished.fields.truncated) continue
    const path = join(layout.artifacts(caseId), log)
    const size = (await stampOf(path))?.size ?? 0
    const { output_bytes, tail } = finished.fields
    if (size !== output_bytes) return false
    const text = size > MIB ? null : (await endOfFile(path, MIB)).text
    if (text !== null && !text.endsWith(String(tail))) return false
    compared = true
  }
  return compared
}
