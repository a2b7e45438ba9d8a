import { hash } from 'node:crypto'
import { join } from 'node:path'
import { readRegular, stampOf } from '../files/safe-read.ts'
import type { Session } from '../model/session.ts'
import { stepsOf } from '../model/trail-steps.ts'
import { artifactsOf } from '../runners/output/artifact-renaming.ts'
import { endOfFile } from '../runners/output/output-log.ts'
import type { Layout } from '../workspace/layout.ts'

const MIB = 1024 * 1024

/**
 * Whether the artifacts with this number belong to a session. Its audit trail has the length and the hash of each
 * step's output, in older files its end, which are compared with the files. Null if there is nothing to compare.
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
    const { output_bytes, log_sha256, tail } = finished.fields
    if (size !== output_bytes) return false
    if (size <= MIB && log_sha256 !== undefined) {
      const read = await readRegular(path, { maxBytes: MIB, within: layout.caseFolder(caseId) })
      if (!read.ok || hash('sha256', read.bytes) !== log_sha256) return false
    } else if (size <= MIB && tail !== undefined) {
      if (!(await endOfFile(path, MIB)).text.endsWith(String(tail))) return false
    }
    compared = true
  }
  return compared
}
