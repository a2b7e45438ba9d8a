import { LRUCache } from 'lru-cache'
import { stampOf } from '../../files/safe-read.ts'
import type { HttpDeps } from '../../http/deps.ts'
import { Refusal } from '../../model/refusal.ts'
import type { Candidate, Session } from '../../model/session.ts'
import { type Patch, readPatch } from '../../rendering/diff/patch.ts'
import { artifactPath, isArtifactOf, readArtifact } from '../../runners/output/artifacts.ts'

/** What is kept of a patch keeps its text, too. */
const known = new LRUCache<string, Patch & { characters: number }>({
  max: 20,
  maxSize: 32 * 1024 * 1024,
  sizeCalculation: ({ characters }) => 1 + characters,
})

/** What the session's patch says of the changed files; null where there is none on this machine. */
export async function changesOf(
  { layout }: Pick<HttpDeps, 'layout'>,
  { case_id, number }: Session,
  candidates: readonly Candidate[],
): Promise<Patch | null> {
  const named = candidates.findLast(({ artifact }) => isPatch(artifact, number))
  if (!named) return null
  const stamp = await stampOf(artifactPath(layout, case_id, named.artifact))
  if (stamp === null) return null
  const key = `${case_id}/${named.artifact} ${stamp.size} ${stamp.mtimeMs} ${stamp.ino}`
  const patch = known.get(key) ?? (await read(layout, case_id, named.artifact))
  if (patch) known.set(key, patch)
  return patch
}

async function read(layout: HttpDeps['layout'], caseId: string, artifact: string) {
  try {
    const text = await readArtifact(layout, caseId, artifact, undefined, true)
    return text === null ? null : { ...readPatch(text), characters: text.length }
  } catch (error) {
    if (error instanceof Refusal) return null // not what we put there: a link, or too large
    throw error
  }
}

/** As the service names it, with a number where that name was taken. */
function isPatch(artifact: string, number: number): boolean {
  return isArtifactOf(artifact, number) && /^\d+-changes(-\d+)?\.patch$/.test(artifact)
}
