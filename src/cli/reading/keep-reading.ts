import { toldOfCase } from '../../events/told-marks.ts'
import { codeOf } from '../../files/errno.ts'
import { Refusal } from '../../model/refusal.ts'
import { takeOwnership } from '../../state/owner/ownership.ts'
import { openStateFolder } from '../../state/state-folder.ts'
import { openKeptCases } from '../../workspace/kept/kept-cases.ts'
import type { Folders } from '../../workspace/settings/folders.ts'
import type { Files } from './files.ts'

/**
 * Keeps what was read anew where the next command, or a service, finds it, as a service would
 * (decision 12), and owns the memory root for that long. Where it has an owner, or the state folder cannot
 * be written, nothing is kept, and nothing is lost.
 */
export async function keepReading(
  { root, memoryRoot, stateDir }: Folders,
  { catalog }: Files,
  title: string,
  anew: ReadonlyMap<string, Record<string, string>>,
): Promise<void> {
  try {
    const state = await openStateFolder(stateDir, { memoryRoot, workspaceRoot: root })
    const describe = () => ({ short: true })
    const ownership = await takeOwnership({ memoryRoot, stateDir: state.root, describe })
    try {
      const kept = openKeptCases(state.kept, title, () => {})
      for (const [id, texts] of anew) {
        const [entry, folder] = [catalog.entry(id), catalog.folder(id)]
        if (!entry || !folder) continue
        const told = toldOfCase(entry, folder)
        const digest = catalog.digest(id)!
        kept.keep({ entry, digest, told, texts, mayRest: true })
      }
      kept.close()
    } finally {
      await ownership.release()
    }
  } catch (error) {
    if (!(error instanceof Refusal) && codeOf(error) === '') throw error
  }
}
