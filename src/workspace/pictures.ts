/** Reads and writes the pictures of proofs, `artifacts/<proof id>.<extension>`. */

import { hashOf } from '../files/decoded.ts'
import { createDurable } from '../files/durable-write.ts'
import { readNow, stampNow } from '../files/read-now.ts'
import { removeFile } from '../files/remove-file.ts'
import { sameStamp } from '../files/safe-read.ts'
import { MAX_PICTURE_BYTES } from '../model/picture.ts'
import type { Problem } from '../model/problem.ts'
import type { Proof } from '../model/proof.ts'
import { makeInnerFolder } from './case-making.ts'
import { ARTIFACT_RULES, type Layout, OLD_ARTIFACT_RULE } from './layout.ts'
import { isSettled, type PictureState, type RecordFile } from './record-file.ts'
import { updateRootFile } from './root-files.ts'

/**
 * Writes the picture of a new proof. Call before the proof file is written: after a crash a picture may be left without
 * a proof, which `casefile doctor --fix` removes, but no proof is left without its picture.
 */
export async function createPicture(
  layout: Layout,
  id: string,
  name: string,
  bytes: Uint8Array,
): Promise<void> {
  await updateRootFile(layout, '.gitignore', OLD_ARTIFACT_RULE, ARTIFACT_RULES)
  await makeInnerFolder(layout.artifacts(id))
  await createDurable(layout.picture(id, name), bytes, { within: layout.caseFolder(id) })
}

export async function removePicture(layout: Layout, id: string, name: string): Promise<void> {
  await removeFile(layout.picture(id, name))
}

/** The hash and stamp of a picture as it is now. Synchronous, so that nothing else happens before a write. */
export function pictureNow(
  layout: Layout,
  id: string,
  name: string,
): PictureState & { problem: string | null } {
  const read = readNow(layout.picture(id, name), MAX_PICTURE_BYTES, layout.caseFolder(id))
  if (!read.ok) {
    const problem = read.reason === 'missing' ? 'is missing' : `cannot be read (${read.reason})`
    return { stamp: null, hash: '', problem }
  }
  const stamp = isSettled(read.stat) ? read.stat : null
  return { stamp, hash: hashOf(read.bytes), problem: null }
}

/** Whether the picture of a proof, if it has one, is the one last read. */
export function isPictureFresh(
  layout: Layout,
  id: string,
  { value, picture }: RecordFile<Proof | null>,
): boolean {
  if (!value?.image) return true
  const stamp = stampNow(layout.picture(id, value.image.name))
  return picture?.stamp != null && stamp !== null && sameStamp(stamp, picture.stamp)
}

/** Compares the picture of a proof with the hash in its file. The picture is read only if its stamp has changed. */
export function withPicture(
  layout: Layout,
  id: string,
  record: RecordFile<Proof | null>,
): RecordFile<Proof | null> {
  const { value, picture: known } = record
  if (!value?.image || !record.readable) return record
  const file = `artifacts/${value.image.name}`
  const now = isPictureFresh(layout, id, record)
    ? { ...known!, problem: null }
    : pictureNow(layout, id, value.image.name)
  const { problem, ...picture } = now
  const sha256 = value.stamped ? value.sha256 : now.hash
  const intact = now.hash !== '' && now.hash === sha256
  const problems = record.problems.filter((each) => each.file !== file)
  if (!intact) problems.push(changedProblem(file, problem, value.verified))
  const isSameValue = value.sha256 === sha256 && value.intact === intact
  return {
    ...record,
    value: isSameValue ? value : { ...value, sha256, intact },
    picture,
    problems,
  }
}

function changedProblem(file: string, problem: string | null, verified: boolean): Problem {
  const message = problem
    ? `the picture ${problem}, so its proof counts as not verified`
    : verified
      ? 'the picture changed after it was verified, so its proof counts as not verified; verify it again to accept it'
      : 'the picture changed after it was attached: verify its proof only if the present picture is right'
  return {
    code: 'proof_changed',
    file,
    line: null,
    message,
  }
}
