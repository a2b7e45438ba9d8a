import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createDurable } from '../../files/durable-write.ts'
import { hasCode } from '../../files/errno.ts'
import { decodeUtf8, readRegular } from '../../files/safe-read.ts'
import { AppError } from '../../model/app-error.ts'
import { makeInnerFolder } from '../../workspace/case-making.ts'
import type { Layout } from '../../workspace/layout.ts'

/** Above the limit of an output log. */
export const MAX_REPORT_BYTES = 21 * 1024 * 1024
export const MAX_ARTIFACT_BYTES = 10 * 1024 * 1024
const ARTIFACT = /^[1-9][0-9]{0,5}-[A-Za-z0-9][A-Za-z0-9._-]{0,80}$/

/** The path of a session's raw output, `artifacts/<n>-<name>`, which may become proof. */
export function artifactPath(layout: Layout, id: string, name: string): string {
  if (!ARTIFACT.test(name)) {
    throw new AppError('bad_request', `"${name.slice(0, 120)}" is not an artifact name.`, {
      errors: [
        {
          path: 'artifact',
          message: "expected a name from the session's candidates, such as 2-test.tap",
        },
      ],
    })
  }
  return join(layout.artifacts(id), name)
}

/** Whether an artifact of the session with this number may have this name. */
export function isArtifactOf(name: string, number: number): boolean {
  return ARTIFACT.test(name) && name.startsWith(`${number}-`)
}

export async function makeArtifacts(layout: Layout, id: string): Promise<void> {
  await makeInnerFolder(layout.artifacts(id))
}

/** Writes a whole artifact. Fails if the name is taken. */
export async function createArtifact(
  layout: Layout,
  id: string,
  name: string,
  text: string,
): Promise<void> {
  await makeArtifacts(layout, id)
  const within = layout.caseFolder(id)
  await createDurable(artifactPath(layout, id, name), Buffer.from(text), { within })
}

/** An artifact as text, for proof and for reading test results; null if it does not exist. */
export async function readArtifact(
  layout: Layout,
  id: string,
  name: string,
  maxBytes = MAX_ARTIFACT_BYTES,
  /** Decode invalid UTF-8 as U+FFFD: for reading results, not for proof. */
  lenient = false,
): Promise<string | null> {
  const read = await readRegular(artifactPath(layout, id, name), {
    maxBytes,
    within: layout.caseFolder(id),
  })
  if (read.ok) {
    const text = decodeUtf8(read.bytes)
    if (text.ok) return text.text
    if (lenient) return new TextDecoder().decode(read.bytes)
    throw new AppError(
      'bad_request',
      `The artifact ${name} is not UTF-8 text, so it cannot be used as proof.`,
    )
  }
  if (read.reason === 'missing') return null
  throw new AppError('bad_request', `The artifact ${name} cannot be read (${read.reason}).`)
}

/** Deletes an empty artifact; a folder of that name, which is not ours, stays. */
export async function dropArtifact(layout: Layout, id: string, name: string): Promise<void> {
  try {
    await unlink(artifactPath(layout, id, name))
  } catch (error) {
    // gone with its folder, for example after a branch switch
    if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR', 'EPERM')) throw error
  }
}
