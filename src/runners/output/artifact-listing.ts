import { constants } from 'node:fs'
import { entriesIn } from '../../files/folder-names.ts'
import { stampOf } from '../../files/safe-read.ts'
import type { Layout } from '../../workspace/layout.ts'
import { artifactPath, isArtifactOf } from './artifacts.ts'

export interface ArtifactFile {
  artifact: string
  size: number
  updated_at: string
}

const { S_IFMT, S_IFREG } = constants

/** The artifacts of a session on this machine, by name. Those of a running step are still growing. */
export async function listArtifacts(
  layout: Layout,
  id: string,
  number: number,
): Promise<ArtifactFile[]> {
  const names = await entriesIn(layout.artifacts(id))
  const files: ArtifactFile[] = []
  for (const artifact of names.filter((name) => isArtifactOf(name, number)).sort()) {
    const stamp = await stampOf(artifactPath(layout, id, artifact))
    // deleted meanwhile (empty logs are), or a link or a pipe
    if (stamp === null || (stamp.mode & S_IFMT) !== S_IFREG) continue
    const updated_at = new Date(stamp.mtimeMs).toISOString()
    files.push({ artifact, size: stamp.size, updated_at })
  }
  return files
}
