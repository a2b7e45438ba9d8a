/** Finds files of the record that cannot be read, or whose seal is broken, in a commit. */

import { decodeUtf8 } from '../files/safe-read.ts'
import { readCase } from '../markdown/case-file.ts'
import { readProof } from '../markdown/proof-file.ts'
import { validSession } from '../markdown/valid-session.ts'
import { SESSION_FILE, UUID } from '../model/name-patterns.ts'
import { isBreaking } from '../model/problem.ts'
import type { Blobs, TreeChange } from './trees.ts'

export interface BrokenFile {
  /** From the top of the working tree. */
  file: string
  message: string
}

const RECORD =
  /(?:^|\/)cases\/([0-9a-f-]{36})\/(case\.md|sessions\/\d+\.md|proof\/[0-9a-f-]{36}\.md)$/
const SOME = 500

/** Checks what these changes have written. */
export async function brokenFiles(
  blobs: Blobs,
  changes: readonly TreeChange[],
): Promise<BrokenFile[]> {
  const broken: BrokenFile[] = []
  const records = changes.filter(({ path, after }) => after !== null && RECORD.test(path))
  for (let at = 0; at < records.length; at += SOME) {
    const some = records.slice(at, at + SOME)
    await blobs.load(some.map(({ after }) => after!.id))
    for (const { path, after } of some) {
      const bytes = await blobs.find(after!.id)
      const message = bytes ? await whatIsWrong(path, bytes) : 'it is a git repository'
      if (message !== null) broken.push({ file: path, message })
    }
  }
  return broken
}

async function whatIsWrong(path: string, bytes: Buffer): Promise<string | null> {
  const [, id = '', name = ''] = RECORD.exec(path) ?? []
  const base = name.slice(name.lastIndexOf('/') + 1)
  const number = SESSION_FILE.exec(base)?.[1]
  if (name.startsWith('sessions/') && number === undefined) return null
  const decoded = decodeUtf8(bytes)
  if (!decoded.ok) return 'it is not UTF-8'
  const { text } = decoded
  const created_at = new Date(0).toISOString()
  if (number !== undefined) {
    const session = await validSession(text, id, Number(number))
    const isByHand = 'reason' in session && session.reason === 'it has no id'
    return 'reason' in session && !isByHand ? session.reason : null
  }
  const origin = { id, created_at }
  const proofId = base.slice(0, -3)
  const { value, problems } =
    name === 'case.md'
      ? await readCase(text, origin)
      : UUID.test(proofId)
        ? readProof(text, { id: proofId, case_id: id, created_at })
        : { value: true, problems: [] }
  return value === null ? (problems.find(isBreaking)?.message ?? 'it is unreadable') : null
}
