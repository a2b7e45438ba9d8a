import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../../files/errno.ts'
import { entriesIn } from '../../files/folder-names.ts'
import { pinFolder } from '../../files/pinned-folder.ts'
import type { Layout } from '../../workspace/layout.ts'

/** The names of the artifacts of one session number on this machine. */
export async function artifactsOf(layout: Layout, id: string, number: number): Promise<string[]> {
  const names = await entriesIn(layout.artifacts(id))
  return names.filter((name) => name.startsWith(`${number}-`)).sort()
}

/**
 * Renames all artifacts of one session number to another. If one of the new names is taken, nothing is renamed.
 * Returns what was renamed.
 */
export async function renameArtifacts(
  layout: Layout,
  id: string,
  from: number,
  to: number,
): Promise<string[]> {
  const names = await artifactsOf(layout, id, from)
  if (names.length === 0 || (await artifactsOf(layout, id, to)).length > 0) return []
  const folder = pinFolder(layout.artifacts(id), layout.caseFolder(id))
  const renamed: string[] = []
  try {
    for (const name of names) {
      const wanted = `${to}${name.slice(String(from).length)}`
      try {
        await rename(join(folder.path, name), join(folder.path, wanted))
        renamed.push(wanted)
      } catch (error) {
        if (!hasCode(error, 'ENOENT')) throw error // deleted meanwhile
      }
    }
    await folder.sync()
  } finally {
    folder.close()
  }
  return renamed
}
